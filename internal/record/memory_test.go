package record

import (
	"runtime"
	"testing"
)

// A limit below what is alive would keep the collector running without end.
func TestMemoryLimitLeavesRoom(t *testing.T) {
	for _, live := range []int64{0, 10 << 20, memoryLimit, 900 << 20} {
		limit := limitFor(live)
		if limit < memoryLimit || float64(limit) < float64(live)*roomPerLive-1 {
			t.Errorf("%d bytes alive: a limit of %d leaves no room", live, limit)
		}
	}
	if limitFor(10<<20) != memoryLimit {
		t.Error("what fits under the limit raises it")
	}
	runtime.GC()
	before := liveHeap()
	if before <= 0 {
		t.Errorf("%d bytes of this test are said to be alive", before)
	}
}
