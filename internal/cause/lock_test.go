package cause

import (
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// sleeping is the result of two sides that sleep 0.1 and 0.4 s on the way, and over all threads 0.4
// and slept seconds, while all threads wait for locks for locked seconds on side B.
func sleeping(slept, locked float64) *compare.Result {
	frames := func(names ...string) []recording.Frame {
		var list []recording.Frame
		for _, name := range names {
			list = append(list, recording.Frame{Name: name, Kind: recording.KindNative, Module: "prog"})
		}
		return list
	}
	sleep := compare.Path{Kind: compare.Blocked, Process: "prog", Syscall: "clock_nanosleep",
		WakerKind: recording.WakerTimer, Frames: frames("main", "touch", "backend"), A: three(0.1), B: three(0.4)}
	asleep, waiting := sleep, sleep
	asleep.A, asleep.B = three(0.4), three(slept)
	waiting.Syscall, waiting.WakerKind, waiting.Lock = "futex", recording.WakerThread, true
	waiting.Frames = frames("main", "touch", "pthread_mutex_lock")
	waiting.Frames[2].Module = "libc.so.6"
	waiting.Holder = frames("main", "touch") // where it was seen to be given up
	waiting.A, waiting.B = three(0), three(locked)
	return &compare.Result{Metric: compare.MetricWall, Unit: "s", A: three(0.12), B: three(0.42),
		Paths: []compare.Path{sleep}, Waits: []compare.Wait{{Path: asleep, CountA: three(200), CountB: three(200)},
			{Path: waiting, CountA: three(0), CountB: three(190)}}}
}

// TestSleepsUnderALock tells threads that sleep by turns, for a lock, from threads that sleep
// longer.
func TestSleepsUnderALock(t *testing.T) {
	for _, test := range []struct {
		name          string
		slept, locked float64
		cause         ID
		place         string
	}{
		{"by turns", 0.4, 1, "lock.contended", "main;touch"},
		{"longer, and by turns", 1.6, 1, "sleep.deliberate", "main;touch;backend"},
		{"by turns, for no lock", 0.4, 0, "sleep.deliberate", "main;touch;backend"},
		{"longer", 1.6, 0, "sleep.deliberate", "main;touch;backend"},
	} {
		suspects := Judge(Input{Result: sleeping(test.slept, test.locked)}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != test.cause || suspects[0].Where[0] != test.place {
			t.Errorf("%s: %s, want %s at %s", test.name, described(suspects), test.cause, test.place)
			continue
		}
		if where := strings.Join(suspects[0].Where, " "); !strings.Contains(where, "main;touch;backend") {
			t.Errorf("%s: where is %s, want what sleeps in it", test.name, where)
		}
		turns := len(suspects[0].Against) > 0 && suspects[0].Against[0] == sleptByTurns
		if want := test.slept == 0.4 && test.locked == 0; turns != want {
			t.Errorf("%s: against %q, told that they take turns: want %v", test.name, suspects[0].Against, want)
		}
		if turns != (suspects[0].Remedy == byTurnsRemedy) {
			t.Errorf("%s: remedy %q, told that they take turns: %v", test.name, suspects[0].Remedy, turns)
		}
	}
}

// Of one side, a sleep for which others waited with a lock is the lock's; one that nobody waited
// for is not.
func TestOneSidedSleepUnderALock(t *testing.T) {
	for _, test := range []struct {
		name   string
		held   bool
		slept  float64 // over all threads; the run takes 0.42 s
		locked float64
		cause  ID
	}{
		{"held", true, 1.6, 1, "lock.contended"},
		{"side by side", false, 1.6, 1, "sleep.deliberate"},
		{"one after the other, in the function that takes the lock", false, 0.4, 1, "lock.contended"},
		{"hardly waited for", true, 0.4, 0.01, "sleep.deliberate"},
	} {
		result := sleeping(test.slept, test.locked)
		for i := range result.Paths {
			if test.held {
				result.Paths[i].For = result.Waits[1].Frames
			}
		}
		result = alone(result)
		suspects := Judge(Input{Result: result}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != test.cause {
			t.Errorf("%s: %s, want %s", test.name, described(suspects), test.cause)
			continue
		}
		if where := strings.Join(suspects[0].Where, " "); !strings.Contains(where, "main;touch;backend") {
			t.Errorf("%s: where is %s, want what sleeps in it", test.name, where)
		}
	}
}

// Threads that sleep by turns and wait for each other in no known lock: one where never two sleep
// at once, else a pool.
func TestSleepsByTurns(t *testing.T) {
	for _, test := range []struct {
		name  string
		slept float64 // over all threads, of the 0.42 s that a run of B takes
		turn  bool
		cause ID
	}{
		{"one at a time", 0.4, true, "lock.contended"},
		{"two at a time", 0.8, true, "sleep.deliberate"},
		{"nobody waits for a turn", 0.4, false, "sleep.deliberate"},
	} {
		for _, oneSided := range []bool{false, true} {
			result := sleeping(test.slept, 1)
			asleep, waiting := &result.Waits[0], &result.Waits[1]
			asleep.A = asleep.B
			waiting.Lock, waiting.Turn, waiting.Syscall = false, test.turn, "read"
			waiting.Frames = waiting.Frames[:2]
			if oneSided {
				result = alone(result)
			}
			suspects := Judge(Input{Result: result}).Suspects
			if len(suspects) == 0 || suspects[0].Cause != test.cause {
				t.Errorf("%s, one side %v: %s, want %s", test.name, oneSided, described(suspects), test.cause)
				continue
			}
			if told := slices.Contains(suspects[0].Against, lockUnnamed); told != (test.cause == "lock.contended") {
				t.Errorf("%s, one side %v: against %q", test.name, oneSided, suspects[0].Against)
			}
		}
	}
}

// alone is a result of its dearer side only.
func alone(result *compare.Result) *compare.Result {
	result.OneSided, result.A, result.B = true, result.B, nil
	for i := range result.Paths {
		result.Paths[i].A, result.Paths[i].B = result.Paths[i].B, nil
	}
	for i := range result.Waits {
		wait := &result.Waits[i]
		wait.A, wait.B, wait.CountA, wait.CountB = wait.B, nil, wait.CountB, nil
	}
	return result
}

// Of one side, a sleep that the way meets now for a waiter and now by itself is in the lock where
// never two sleep so.
func TestOneSidedSleepOfTheLastHolder(t *testing.T) {
	for slept, want := range map[float64]ID{0.4: "lock.contended", 1.6: "sleep.deliberate"} {
		result := sleeping(slept, 1)
		waiting := &result.Waits[1]
		waiting.Frames[1].Name = "lock" // not the function that sleeps
		awaited := result.Paths[0]
		awaited.For = waiting.Frames
		result.Paths[0].B, awaited.B = []float64{0.24, 0.24, 0.24}, []float64{0.16, 0.16, 0.16}
		result.Paths = append(result.Paths, awaited)
		suspects := Judge(Input{Result: alone(result)}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != want {
			t.Errorf("%g s of sleeps: %s, want %s", slept, described(suspects), want)
		}
	}
}

func goFrames(names ...string) []recording.Frame {
	var frames []recording.Frame
	for _, name := range names {
		frames = append(frames, recording.Frame{Name: name, Kind: recording.KindGo})
	}
	return frames
}

func TestOnTheWay(t *testing.T) {
	place := goFrames("runtime.goexit", "main.main.func1", "main.(*cache).store", "main.(*cache).store.deferwrap1")
	for _, test := range []struct {
		stack []recording.Frame
		want  bool
	}{
		{goFrames("runtime.goexit", "main.main.func1", "main.(*cache).store", "main.shrink"), true},
		{goFrames("runtime.goexit", "main.main.func1", "main.shrink"), false}, // only the far root in common
		{goFrames("runtime.goexit"), false},
		{nil, false},
	} {
		if got := (&scene{}).onTheWay(place, test.stack); got != test.want {
			t.Errorf("onTheWay(%v) = %v", test.stack, got)
		}
	}
}
