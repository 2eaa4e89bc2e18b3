package record

import (
	"slices"
	"strings"
	"testing"

	"culprit/recording"
)

// Of short waits at one place not every kernel stack is taken: their time stays exact, its split
// among the kernel's places is near the truth, and the recording says that it is an estimate.
func TestUnseenStays(t *testing.T) {
	needs(t)
	recorder, err := Start(t.Context(), Options{}) // the standing one keeps every long wait whole
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Close)
	mustProbe(t, recorder.Probes)
	program := programs.compile(t, "places.c")
	watchCommand(t, recorder, program, "0.2") // the unwinder gets to know it
	got := watchCommand(t, recorder, program, "2.5")
	truth := numbers(t, got.output)
	waited := truth["pipe"] + truth["event"]
	about(t, "seconds off the CPU in await", got.offCPU("await", got.pid), waited, 0.05, 0.01)
	pipe, event := got.offCPUIn("pipe_read", got.pid), got.offCPUIn("eventfd_read", got.pid)
	about(t, "share of the eventfd", event/(pipe+event), truth["event"]/waited, 0, 0.15)
	// The rest is what was preempted, or waited less than 50 µs: it has no kernel stack of a read.
	if pipe+event < waited/2 {
		t.Errorf("of %.3f s only %.3f and %.3f have a kernel stack", waited, pipe, event)
	}
	at := slices.IndexFunc(got.Manifest.Estimated, func(e recording.Estimate) bool {
		return strings.HasPrefix(e.What, "offcpu: ")
	})
	if at < 0 {
		if truth["calm"] > 200 { // else the host was so busy that no row of short waits came about
			t.Errorf("every stay was looked at, though %.0f came behind many like them", truth["calm"])
		}
		return
	}
	estimate := got.Manifest.Estimated[at]
	if estimate.Count <= 0 || estimate.Of <= estimate.Count {
		t.Errorf("%+v", estimate)
	}
	t.Logf("%d of %d stays unseen, %.0f calm", estimate.Count, estimate.Of, truth["calm"])
}

// offCPUIn adds up the off-CPU seconds of a thread's samples below a function of the kernel,
// whatever its suffixes.
func (s seen) offCPUIn(function string, tid int32) float64 {
	var ns int64
	for _, sample := range s.Samples {
		if sample.Signal == recording.SignalOffCPU && sample.Tid == tid && slices.ContainsFunc(
			s.StackNames(sample.Stack), func(name string) bool { return strings.Contains(name, function) }) {
			ns += sample.ValueNs
		}
	}
	return float64(ns) / 1e9
}
