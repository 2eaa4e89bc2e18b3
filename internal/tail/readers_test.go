package tail

import (
	"testing"
	"time"

	"culprit/internal/cause"
	"culprit/recording"
)

// Where one of several readers waits for a lock, the requests that it does not read wait for that
// lock, unless who has it serves requests: then they wait for their turn, as behind any work.
func TestUnreadBehindALock(t *testing.T) {
	for _, test := range []struct {
		name     string
		function string // that waits
		serves   bool   // the holder
		want     cause.ID
	}{
		{"a job holds it", "pthread_mutex_lock", false, cause.LockContended},
		{"a request holds it", "pthread_mutex_lock", true, cause.RequestQueued},
		{"a wait for work", "std::condition_variable::wait", false, cause.RequestQueued},
	} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			request.WaitNs = 29e6
			return []recording.RequestPart{
				{Class: recording.PartLock, Before: true, Syscall: "futex", TimeNs: request.TimeNs, LengthNs: 29e6, Stack: 2,
					WakerKind: recording.WakerThread, WakerPid: 7, WakerTid: 9, WakerComm: "job"},
				{Class: recording.PartCPU, TimeNs: request.TimeNs + 29e6, LengthNs: 1e6, Stack: 0}}
		})
		rec.Frames = append(rec.Frames, recording.Frame{Name: test.function, Kind: recording.KindNative, Module: "libc.so.6"})
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{0, 1, 3}})
		if test.serves {
			rec.SlowRequests[0].WriterTid = 9
		}
		result, first := Explain(rec, Options{Over: 10 * time.Millisecond}), cause.ID("")
		if len(result.Suspects) > 0 {
			first = result.Suspects[0].Cause
		}
		if first != test.want {
			t.Errorf("%s: %q, want %q", test.name, first, test.want)
		}
	}
}

// Of a task that slept no stack says where. Its place is where samples met a function that sleeps,
// else what calls most of what is not the program's after the timer; never what only computes.
func TestWhereATaskSlept(t *testing.T) {
	const serve, makePage, backOff, sleep, write = 3, 4, 5, 6, 7
	for _, test := range []struct {
		name          string
		before, after []int32 // frames of a sample
		want          string
	}{
		{"seen when it went to sleep", []int32{serve, backOff, sleep}, []int32{serve, write}, "shop::back_off"},
		{"only what follows", []int32{serve, makePage}, []int32{serve, write}, "shop::serve"},
		{"only work of its own", []int32{serve, makePage}, []int32{makePage}, ""},
	} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{
				{Class: recording.PartCPU, TimeNs: request.TimeNs, LengthNs: 1e6, Stack: 2},
				{Class: recording.PartSleep, TimeNs: request.TimeNs + 1e6, LengthNs: 28e6, Stack: recording.NoStack,
					WakerKind: recording.WakerTimer},
				{Class: recording.PartCPU, TimeNs: request.TimeNs + 29e6, LengthNs: 1e6, Stack: 3}}
		})
		for _, name := range []string{"shop::serve", "shop::make_page", "shop::back_off", "tokio::time::sleep::sleep",
			"write"} {
			rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindNative, Module: "shop"})
		}
		rec.Frames[write].Kind = recording.KindKernel
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: test.before}, recording.Stack{Frames: test.after})
		result := Explain(rec, Options{Over: 10 * time.Millisecond})
		if len(result.Suspects) == 0 || result.Suspects[0].Cause != cause.SleepDeliberate {
			t.Fatalf("%s: %+v", test.name, result)
		}
		got := ""
		if places := result.Suspects[0].Places; len(places) > 0 {
			got = places[0].Name
		}
		if got != test.want {
			t.Errorf("%s: at %q, want %q", test.name, got, test.want)
		}
	}
}

// What a task waited for is not known where its threads had just been woken for others. As long a
// wait as those for timers is one where these are the most of what is known.
func TestAsLongAsATimer(t *testing.T) {
	for _, test := range []struct {
		name    string
		unknown int64 // length of every second request's wait
		class   string
		want    float64 // share of sleep.deliberate
	}{
		{"as long", 26e6, recording.PartSleep, 0.9},
		{"much longer", 70e6, recording.PartSleep, 0},
		{"others wait for locks", 26e6, recording.PartLock, 0},
	} {
		rec := made(200, 20, func(i int, request *recording.SlowRequest) []recording.RequestPart {
			wait := recording.RequestPart{Class: test.class, TimeNs: request.TimeNs, LengthNs: 28e6, Stack: recording.NoStack}
			if test.class == recording.PartSleep {
				wait.WakerKind = recording.WakerTimer
			}
			if i%2 == 0 {
				wait.Class, wait.LengthNs, wait.WakerKind = recording.PartUnknown, test.unknown, ""
			}
			return []recording.RequestPart{wait}
		})
		share := 0.0
		for _, s := range Explain(rec, Options{Over: 10 * time.Millisecond}).Suspects {
			if s.Cause == cause.SleepDeliberate {
				share = s.Share.Value
			}
		}
		if test.want > 0 && share < test.want || test.want == 0 && share > 0.6 {
			t.Errorf("%s: %.2f sleep.deliberate, want %.2f", test.name, share, test.want)
		}
	}
}
