package tail

import (
	"math"
	"path"
	"slices"
	"testing"
	"time"

	"culprit/internal/cause"
	"culprit/recording"
)

// made is a recording of twenty seconds with so many ordinary requests of 1 ms and slow ones, of
// which slow cuts the parts. An ordinary one runs all the time.
func made(ordinary, slow int,
	cut func(i int, request *recording.SlowRequest) []recording.RequestPart) *recording.Recording {
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 20e9}}
	rec.Frames = []recording.Frame{{Name: "main", Kind: recording.KindNative, Module: "store"},
		{Name: "look_up", Kind: recording.KindNative, Module: "store"},
		{Name: "compact", Kind: recording.KindNative, Module: "store"}}
	rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}, {Frames: []int32{0, 2}}}
	rec.Processes = []recording.Process{{Pid: 7, Comm: "store"}}
	add := func(request recording.SlowRequest, parts []recording.RequestPart) {
		request.ID = int64(len(rec.SlowRequests)) + 1
		request.Service, request.Kind, request.Pid, request.Tid, request.WriterTid = "tcp port 1", "GET /", 7, 8, 8
		for _, part := range parts {
			part.Request, part.Tid, part.WakerStack, part.HopStack = request.ID, 8, recording.NoStack, recording.NoStack
			rec.RequestParts = append(rec.RequestParts, part)
		}
		rec.SlowRequests = append(rec.SlowRequests, request)
	}
	row := recording.Request{Side: recording.SideServer, Service: "tcp port 1", Kind: "GET /", Pid: 7, LengthNs: 20e9,
		Buckets: []int32{bucketOf(1e6), bucketOf(30e6)}, Counts: []int64{int64(ordinary) * 10, int64(slow)},
		Count: int64(ordinary)*10 + int64(slow), TotalNs: int64(ordinary)*10*1e6 + int64(slow)*30e6}
	rec.Requests = []recording.Request{row}
	for i := range ordinary {
		at := int64(i) * 20e9 / int64(ordinary)
		add(recording.SlowRequest{TimeNs: at, LatencyNs: 1e6, ServeNs: 1e6, Weight: 10}, []recording.RequestPart{
			{Class: recording.PartCPU, TimeNs: at, LengthNs: 1e6, Stack: 0}})
	}
	for i := range slow {
		request := recording.SlowRequest{TimeNs: int64(i)*20e9/int64(slow) + 5e6, LatencyNs: 30e6, ServeNs: 30e6, Slow: true,
			Weight: 1}
		add(request, cut(i, &request))
	}
	return rec
}

// bucketOf is the bucket of a latency.
func bucketOf(ns int64) int32 {
	for bucket := range int32(recording.LatencyBuckets) {
		if low, high := recording.LatencyOf(bucket); ns >= low && ns < high {
			return bucket
		}
	}
	return 0
}

// On a fast disk most of a sync is work of the kernel's: it is the sync's, with what little the
// thread waits; and so it is of pages that are read. Work in a write is code.
func TestWorkOfASync(t *testing.T) {
	for call, want := range map[string]cause.ID{"vfs_fsync_range": cause.FileSync, "vfs_write": cause.CodeGrew,
		"page_cache_ra_unbounded": cause.MemoryPageIn, "filemap_add_folio": cause.MemoryPageIn} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{
				{Class: recording.PartCPU, TimeNs: request.TimeNs, LengthNs: 25e6, Stack: 2},
				{Class: recording.PartDisk, Syscall: "fsync", TimeNs: request.TimeNs + 25e6, LengthNs: 5e6, Stack: 2}}
		})
		rec.Frames = append(rec.Frames, recording.Frame{Name: call, Kind: recording.KindKernel})
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{0, int32(len(rec.Frames) - 1)}})
		result := Explain(rec, Options{Over: 10 * time.Millisecond})
		if len(result.Suspects) == 0 || result.Suspects[0].Cause != want {
			t.Errorf("%s: %+v, want %s", call, result.Suspects, want)
		}
	}
}

// Short waits for the disk are kept as sums without their call. They are syncs where the process is
// in those for most of the time that its requests wait for files.
func TestShortSyncs(t *testing.T) {
	for synced, want := range map[int64]cause.ID{400e6: cause.FileSync, 200e6: ""} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartDisk, TimeNs: request.TimeNs, LengthNs: 29e6,
				Stack: recording.NoStack}}
		})
		rec.Requests[0].DiskNs = 580e6
		rec.Syscalls = []recording.Syscall{{Pid: 7, Tid: 8, Name: "fdatasync", Count: 400, TotalNs: synced},
			{Pid: 7, Tid: 8, Name: "read", Count: 4000, TotalNs: 20e9}, {Pid: 9, Tid: 9, Name: "fsync", TotalNs: 20e9}}
		result, first := Explain(rec, Options{Over: 10 * time.Millisecond}), cause.ID("")
		if len(result.Suspects) > 0 {
			first = result.Suspects[0].Cause
		}
		if first != want {
			t.Errorf("%d ms in syncs: %q, want %q", synced/1e6, first, want)
		}
	}
}

// A background thread holds the lock: the lock has all of the extra time, and the place is where
// its holder slept.
func TestLockOfSlowRequests(t *testing.T) {
	rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
		return []recording.RequestPart{
			{Class: recording.PartLock, Syscall: "futex", TimeNs: request.TimeNs, LengthNs: 29e6, Stack: 0,
				WakerPid: 7, WakerTid: 9, WakerComm: "keeper", WakerKind: recording.WakerThread},
			{Class: recording.PartCPU, TimeNs: request.TimeNs + 29e6, LengthNs: 1e6, Stack: 0}}
	})
	for _, request := range rec.SlowRequests {
		if request.Slow {
			rec.Waits = append(rec.Waits, recording.Wait{Tid: 9, Pid: 7, TimeNs: request.TimeNs, BlockedNs: 28e6,
				Syscall: "nanosleep", Stack: 1})
		}
	}
	result := Explain(rec, Options{Over: 10 * time.Millisecond})
	if len(result.Suspects) == 0 {
		t.Fatalf("no suspect: %s", result.Why)
	}
	first := result.Suspects[0]
	if first.Cause != cause.LockContended || math.Abs(first.Share.Value-1) > 0.01 || first.Share.Low < 0.9 {
		t.Errorf("%s with %+v", first.Cause, first.Share)
	}
	if len(first.Where) != 2 || first.Where[0] != "look_up" || first.Where[1] != "held in compact" {
		t.Errorf("where: %q", first.Where)
	}
	if result.Stalls[0] != 20 {
		t.Errorf("%d stalls of 20", result.Stalls[0])
	}
	if len(result.Slowest) != slowestCount || result.Slowest[0].Parts[0].HeldBy != "keeper in compact" {
		t.Errorf("slowest: %+v", result.Slowest)
	}
	if slow := result.Requests[0].Slow; slow.Count != 20 || slow.Kept != 20 || math.Abs(slow.Usual-1e-3) > 1e-6 {
		t.Errorf("%+v", slow)
	}
}

// Slow requests that ran as long again as the others: that is a spread, not a cause.
func TestFlatTail(t *testing.T) {
	rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
		request.LatencyNs = 1_500_000
		return []recording.RequestPart{{Class: recording.PartCPU, TimeNs: request.TimeNs, LengthNs: 1_500_000, Stack: 0}}
	})
	for i := range rec.SlowRequests {
		if rec.SlowRequests[i].Slow {
			rec.SlowRequests[i].LatencyNs = 1_500_000
		}
	}
	rec.Requests[0].Buckets[1] = bucketOf(1_500_000)
	if result := Explain(rec, Options{Over: 1200 * time.Microsecond}); len(result.Suspects) > 0 || result.Why == "" {
		t.Errorf("%+v", result.Suspects)
	}
}

// Where the extra time goes to a different thing each time, none of them is the cause.
func TestScatteredTail(t *testing.T) {
	classes := []string{recording.PartLock, recording.PartSleep, recording.PartCPU, recording.PartDownstream,
		recording.PartQueued, recording.PartOther}
	rec := made(200, 18, func(i int, request *recording.SlowRequest) []recording.RequestPart {
		return []recording.RequestPart{{Class: classes[i%len(classes)], TimeNs: request.TimeNs, LengthNs: 30e6, Stack: 0}}
	})
	if result := Explain(rec, Options{Over: 10 * time.Millisecond}); len(result.Suspects) > 0 {
		t.Errorf("%+v", result.Suspects[0])
	}
}

// A request that waited unread while the only reader ran something for another waited for the loop.
func TestLoopIsBlocked(t *testing.T) {
	rec := made(200, 20, func(i int, request *recording.SlowRequest) []recording.RequestPart {
		return []recording.RequestPart{{Class: recording.PartCPU, Before: true, Behind: 1, TimeNs: request.TimeNs,
			LengthNs: 30e6, Stack: 1}}
	})
	result := Explain(rec, Options{Over: 10 * time.Millisecond})
	if len(result.Suspects) == 0 || result.Suspects[0].Cause != cause.LoopBlocked ||
		result.Suspects[0].Where[0] != "compact" {
		t.Errorf("%+v %s", result.Suspects, result.Why)
	}
}

// What the recorder itself brought about is left out, and said.
func TestRecorderIsNoCause(t *testing.T) {
	rec := made(200, 20, func(i int, request *recording.SlowRequest) []recording.RequestPart {
		return []recording.RequestPart{{Class: recording.PartQueued, TimeNs: request.TimeNs, LengthNs: 30e6, Stack: 0,
			RunnerComm: recording.RecorderComm}}
	})
	result := Explain(rec, Options{Over: 10 * time.Millisecond})
	if len(result.Suspects) > 0 || result.Unseen.Requests < 20 {
		t.Errorf("%+v, unseen %+v", result.Suspects, result.Unseen)
	}
}

func TestNothingRecorded(t *testing.T) {
	if result := Explain(&recording.Recording{}, Options{}); result.Why == "" || len(result.Requests) > 0 {
		t.Errorf("%+v", result)
	}
}

// first judges requests of which the slow ones had these parts, over the whole of their 30 ms.
func first(t *testing.T, rec *recording.Recording) cause.Suspect {
	t.Helper()
	result := Explain(rec, Options{Over: 10 * time.Millisecond})
	if len(result.Suspects) == 0 {
		return cause.Suspect{}
	}
	return result.Suspects[0]
}

// A thread asleep in flock waits for a lock; one that reads the same file from a pipe's other end
// does not.
func TestLockOfFile(t *testing.T) {
	for call, want := range map[string]cause.ID{"flock": cause.LockContended, "fcntl": cause.LockContended,
		"inotify_add_watch": ""} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartOther, Syscall: call, Where: "/srv/session",
				TimeNs: request.TimeNs, LengthNs: 30e6, Stack: 0}}
		})
		if got := first(t, rec); got.Cause != want {
			t.Errorf("%s: %q, want %q", call, got.Cause, want)
		}
	}
}

// A backend asleep at its latch below the functions of a lock waits for the lock; without them for
// its client.
func TestLockOfDatabase(t *testing.T) {
	for name, want := range map[string]cause.ID{"ProcSleep": cause.LockContended, "secure_read": ""} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartNet, Syscall: "epoll_wait", TimeNs: request.TimeNs,
				LengthNs: 30e6, Stack: 2}}
		})
		for _, frame := range []string{"heap_update", "XactLockTableWait", "LockAcquireExtended", "postgres+0x45d95c",
			name, "WaitEventSetWait"} {
			rec.Frames = append(rec.Frames, recording.Frame{Name: frame, Kind: recording.KindNative, Module: "postgres"})
		}
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{3, 4, 5, 6, 7, 8}})
		got := first(t, rec)
		if got.Cause != want || want != "" && got.Where[0] != "XactLockTableWait" {
			t.Errorf("%s: %q at %q, want %q", name, got.Cause, got.Where, want)
		}
	}
}

// SQLite looks again after a sleep while another has its lock, which is no pause of the program's.
func TestSleepForALockOfSQLite(t *testing.T) {
	for module, want := range map[string]cause.ID{"/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6": cause.LockContended,
		"/usr/lib/shop/libshop.so": cause.SleepDeliberate} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartSleep, Syscall: "clock_nanosleep", TimeNs: request.TimeNs,
				LengthNs: 30e6, Stack: 2}}
		})
		rec.Frames = append(rec.Frames,
			recording.Frame{Name: path.Base(module) + "+0x1c0d2()", Kind: recording.KindNative, Module: module},
			recording.Frame{Name: "clock_nanosleep", Kind: recording.KindNative, Module: "/usr/lib/x86_64-linux-gnu/libc.so.6"})
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{0, 1, 3, 4}})
		if got := first(t, rec); got.Cause != want || want == cause.LockContended && !slices.Contains(got.Where, "look_up") {
			t.Errorf("%s: %q at %q, want %q", module, got.Cause, got.Where, want)
		}
	}
}

// Who sleeps in poll below a function that connects waits for a connection; below one that looks up
// a name for the name server, also where another thread asks it; below others it is not known for
// what.
func TestConnectionOrNameIsAwaited(t *testing.T) {
	for name, want := range map[string]struct {
		call, class string
		cause       cause.ID
		place       string
	}{
		"rsock_connect":                      {"ppoll", recording.PartNet, cause.NetReconnect, "rsock_connect"},
		"getaddrinfo":                        {"poll", recording.PartNet, cause.DownstreamSlow, "peer udp 10.0.0.2:53"},
		"java.net.InetAddress.getAllByName0": {"futex", recording.PartLock, cause.DownstreamSlow, "peer udp 10.0.0.2:53"},
		"rb_io_wait":                         {"ppoll", recording.PartNet, "", ""},
	} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: want.class, Syscall: want.call, TimeNs: request.TimeNs,
				LengthNs: 30e6, Stack: 2}}
		})
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindNative, Module: "socket.so"})
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{0, 3}})
		rec.Services = []recording.Service{{Side: recording.SideClient, Service: "udp 10.0.0.3:8125"},
			{Side: recording.SideClient, Service: "udp 10.0.0.2:53"}}
		if got := first(t, rec); got.Cause != want.cause || want.cause != "" && got.Where[0] != want.place {
			t.Errorf("%s: %q at %q, want %q at %q", name, got.Cause, got.Where, want.cause, want.place)
		}
	}
}

// A service that the target is itself tells by its own requests why it is slow; that of another
// host does not.
func TestDownstreamWithinTarget(t *testing.T) {
	for asked, want := range map[string]cause.ID{
		"tcp 127.0.0.1:9": cause.SleepDeliberate,
		"tcp [::1]:9":     cause.SleepDeliberate,
		"tcp 10.1.2.3:9":  cause.DownstreamSlow,
	} {
		rec := made(200, 20, func(i int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{
				{Class: recording.PartDownstream, Where: asked, TimeNs: request.TimeNs, LengthNs: 20e6, Stack: 0},
				{Class: recording.PartSleep, Syscall: "nanosleep", TimeNs: request.TimeNs + 20e6, LengthNs: 10e6, Stack: 1}}
		})
		rec.Services = []recording.Service{{Side: recording.SideServer, Service: "tcp port 9"},
			{Side: recording.SideClient, Service: asked}}
		if got := first(t, rec); got.Cause != want {
			t.Errorf("%s: %q, want %q", asked, got.Cause, want)
		}
	}
}

// A loop that was at one turn for as long as at any other is not blocked: that requests meet there
// is chance.
func TestTurnsOfLoop(t *testing.T) {
	for _, turn := range []struct {
		ns   int64
		want cause.ID
	}{{2_500_000, ""}, {25e6, cause.LoopBlocked}} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			request.LatencyNs, request.WaitNs = turn.ns+1e6, turn.ns
			return []recording.RequestPart{
				{Class: recording.PartCPU, Before: true, Behind: 1, TimeNs: request.TimeNs, LengthNs: turn.ns, Stack: 1},
				{Class: recording.PartCPU, TimeNs: request.TimeNs + turn.ns, LengthNs: 1e6, Stack: 0}}
		})
		rec.Requests[0].Buckets[1] = bucketOf(turn.ns + 1e6)
		for i := range rec.SlowRequests { // made copies the request before it is cut
			if row := &rec.SlowRequests[i]; row.Slow {
				row.LatencyNs, row.WaitNs = turn.ns+1e6, turn.ns
			}
		}
		result := Explain(rec, Options{Over: 2 * time.Millisecond})
		got := cause.ID("")
		if len(result.Suspects) > 0 {
			got = result.Suspects[0].Cause
		}
		if got != turn.want {
			t.Errorf("behind a turn of %d ns: %q, want %q", turn.ns, got, turn.want)
		}
	}
}

// What another thread had begun before is what a request waited behind; what it began later may be
// the request's own.
func TestWorkBeside(t *testing.T) {
	for beside, want := range map[bool]cause.ID{true: cause.RequestQueued, false: cause.FileSync} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartDisk, Syscall: "fsync", Beside: beside,
				TimeNs: request.TimeNs, LengthNs: 30e6, Stack: 0}}
		})
		if got := first(t, rec); got.Cause != want || got.Where[0] != "look_up" {
			t.Errorf("beside %v: %q at %q, want %q", beside, got.Cause, got.Where, want)
		}
	}
}

// Short waits of which only the class is known are for what the long ones of the request are, where
// these are a third.
func TestShortWaitsAreNamed(t *testing.T) {
	for long, want := range map[int64]cause.ID{15e6: cause.FileSync, 3e6: ""} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{
				{Class: recording.PartDisk, Syscall: "fsync", TimeNs: request.TimeNs, LengthNs: long, Stack: 0},
				{Class: recording.PartDisk, TimeNs: request.TimeNs, LengthNs: 30e6 - long, Stack: recording.NoStack}}
		})
		if got := first(t, rec); got.Cause != want {
			t.Errorf("%d ns of 30 ms: %q, want %q", long, got.Cause, want)
		}
	}
}
