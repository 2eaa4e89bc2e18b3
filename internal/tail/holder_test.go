package tail

import (
	"testing"
	"time"

	"culprit/internal/cause"
	"culprit/recording"
)

// lockedBy are slow requests that wait in a stack for a lock which thread 9 gave up.
func lockedBy(stack int32, kind string) *recording.Recording {
	return made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
		return []recording.RequestPart{
			{Class: recording.PartLock, Syscall: "futex", TimeNs: request.TimeNs, LengthNs: 29e6, Stack: stack,
				WakerPid: 7, WakerTid: 9, WakerComm: "keeper", WakerKind: kind},
			{Class: recording.PartCPU, TimeNs: request.TimeNs + 29e6, LengthNs: 1e6, Stack: 0}}
	})
}

// A holder that ran, or was at work beside, is told by what it ran.
func TestHolderThatRan(t *testing.T) {
	for _, kind := range []string{recording.WakerThread, recording.WakerBeside} {
		rec := lockedBy(0, kind)
		for i := range rec.RequestParts {
			if part := &rec.RequestParts[i]; part.Class == recording.PartLock {
				part.WakerStack = 1
			}
		}
		result := Explain(rec, Options{Over: 10 * time.Millisecond})
		if len(result.Suspects) == 0 || result.Suspects[0].Cause != cause.LockContended {
			t.Fatalf("%s: %+v", kind, result.Suspects)
		}
		if where := result.Suspects[0].Where; len(where) != 2 || where[1] != "held in compact" {
			t.Errorf("%s: where %q", kind, where)
		}
		if by := result.Slowest[0].Parts[0].HeldBy; by != "keeper in compact" {
			t.Errorf("%s: held by %q", kind, by)
		}
	}
}

// A thread that sleeps until one of its tasks is ready waits for no lock, and a request that it
// then takes up was not queued for it.
func TestThreadWithoutTasks(t *testing.T) {
	const awaitWork = "int java.util.concurrent.ForkJoinPool.awaitWork(java.util.concurrent.ForkJoinPool$WorkQueue, int)"
	for name, want := range map[string]cause.ID{awaitWork: "", "take_order": cause.LockContended} {
		rec := lockedBy(2, recording.WakerThread)
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindJVM})
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{int32(len(rec.Frames) - 1)}})
		checkFirst(t, name, rec, want)
	}
	for name, want := range map[string]cause.ID{awaitWork: "", "take_order": cause.RequestQueued} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{
				{Class: recording.PartHandover, TimeNs: request.TimeNs, LengthNs: 29e6, Stack: recording.NoStack},
				{Class: recording.PartCPU, TimeNs: request.TimeNs + 29e6, LengthNs: 1e6, Stack: 0}}
		})
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindJVM})
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{int32(len(rec.Frames) - 1)}})
		for _, request := range rec.SlowRequests {
			rec.Waits = append(rec.Waits, recording.Wait{Tid: 8, Pid: 7, TimeNs: request.TimeNs, BlockedNs: 29e6,
				Syscall: "futex", Stack: 2})
		}
		checkFirst(t, name, rec, want)
	}
}

func checkFirst(t *testing.T, name string, rec *recording.Recording, want cause.ID) {
	t.Helper()
	result, first := Explain(rec, Options{Over: 10 * time.Millisecond}), cause.ID("")
	if len(result.Suspects) > 0 {
		first = result.Suspects[0].Cause
	}
	if first != want {
		t.Errorf("%s: %q, want %q", name, first, want)
	}
}
