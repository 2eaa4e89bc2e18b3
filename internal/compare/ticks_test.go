package compare

import (
	"testing"

	"culprit/recording"
)

// On a busy host a ticker's thread waits for a CPU at each tick: it is not at work then.
func TestTickerOnABusyHost(t *testing.T) {
	const tickNs, ticks = 1e6, 500
	r := &run{startNs: 0, endNs: tickNs * ticks}
	waits := func(queueNs int64) []*recording.Wait {
		var list []*recording.Wait
		for i := range int64(ticks) {
			list = append(list, &recording.Wait{TimeNs: i * tickNs, BlockedNs: 0.4 * tickNs, RunqueueNs: queueNs,
				WakerKind: recording.WakerTimer})
		}
		return list
	}
	if ticking, got := r.ticks(waits(0.55*tickNs), threadAsleep); !ticking || got != tickNs {
		t.Errorf("waits for a CPU at each tick: ticking %v every %d ns", ticking, got)
	}
	if ticking, _ := r.ticks(waits(0), threadAsleep); ticking {
		t.Error("works for more than half of the time, and is called a ticker")
	}
}
