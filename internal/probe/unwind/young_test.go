package unwind

import (
	"testing"
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"
)

// A process is looked at again soon, then more and more rarely, and then no more; telling of it
// again meanwhile changes nothing, and no crowd of them is kept.
func TestNursery(t *testing.T) {
	young, now := nursery{}, time.Unix(1_700_000_000, 0)
	if young.wake(now) != nil {
		t.Error("an empty one wakes")
	}
	id := libpf.PIDTID(7<<32 | 8)
	young.takes(id, now, firstVisit)
	if young.wake(now) == nil || len(young.due(now)) != 0 {
		t.Error("not waited for, or due at once")
	}
	visits, last, pause := 0, now, time.Duration(0)
	for at := now; at.Sub(now) < time.Minute; at = at.Add(firstVisit / 2) {
		young.takes(id, now, firstVisit) // begins anew only where it had ended
		ids := young.due(at)
		if len(ids) == 0 {
			continue
		}
		if ids[0] != id || at.Sub(last) < pause {
			t.Fatalf("visit %d of %v, %v after the one before, which was %v", visits, ids, at.Sub(last), pause)
		}
		visits, pause, last = visits+1, at.Sub(last), at
		if len(young) == 0 {
			break
		}
	}
	if visits < 5 || len(young) != 0 {
		t.Errorf("%d visits, %d left", visits, len(young))
	}
	for pid := range 2 * mostYoung {
		young.takes(libpf.PIDTID(uint64(pid+1)<<32), now, firstVisit)
	}
	if len(young) != mostYoung {
		t.Errorf("%d are kept", len(young))
	}
}
