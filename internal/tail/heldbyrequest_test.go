package tail

import (
	"testing"

	"culprit/internal/cause"
	"culprit/recording"
)

// Who commits waits for the lock that another holds who forces both to disk: the disk is what they
// wait for. The lock of a job that does the same is the job's, and of a request that computes or
// sleeps with it the lock's.
func TestHeldByRequestThatSyncs(t *testing.T) {
	const waiter, other, job = 8, 9, 10
	for name, each := range map[string]struct {
		holder int32
		wait   recording.Wait
		want   cause.ID
	}{
		"another request syncs":  {other, recording.Wait{State: "D", Syscall: "fdatasync", Stack: 1}, cause.FileSync},
		"a job syncs":            {job, recording.Wait{State: "D", Syscall: "fdatasync", Stack: 1}, cause.LockContended},
		"another request sleeps": {other, recording.Wait{State: "S", Syscall: "nanosleep", Stack: 1}, cause.LockContended},
		"another request runs":   {other, recording.Wait{}, cause.LockContended},
	} {
		rec := made(200, 20, func(_ int, _ *recording.SlowRequest) []recording.RequestPart { return nil })
		rec.Threads = []recording.Thread{{Pid: 7, Tid: waiter}, {Pid: 7, Tid: other}, {Pid: 7, Tid: job}}
		rec.SlowRequests[0].Tid = other
		for _, request := range rec.SlowRequests[200:] {
			rec.RequestParts = append(rec.RequestParts, recording.RequestPart{Request: request.ID, Class: recording.PartLock,
				Tid: waiter, Syscall: "futex", TimeNs: request.TimeNs, LengthNs: 30e6, Stack: 0,
				WakerKind: recording.WakerThread, WakerPid: 7, WakerTid: each.holder, WakerComm: "store",
				WakerStack: recording.NoStack, HopStack: recording.NoStack})
			if each.wait.State != "" {
				wait := each.wait
				wait.Pid, wait.Tid, wait.TimeNs, wait.BlockedNs = 7, each.holder, request.TimeNs+1e6, 28e6
				rec.Waits = append(rec.Waits, wait)
			}
		}
		if got := first(t, rec); got.Cause != each.want {
			t.Errorf("%s: %s at %q, want %s", name, got.Cause, got.Where, each.want)
		}
	}
}
