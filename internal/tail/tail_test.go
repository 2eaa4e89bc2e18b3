package tail

import (
	"math"
	"testing"
	"time"

	"culprit/internal/cause"
	"culprit/recording"
)

// made is a recording of twenty seconds with so many ordinary requests of 1 ms and slow ones, of which slow cuts the
// parts. An ordinary one runs all the time.
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

// A background thread holds the lock: the lock has all of the extra time, and the place is where its holder slept.
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
