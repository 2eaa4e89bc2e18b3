package record

import (
	"slices"
	"testing"
)

// The dearest probe goes first, what keeps the recording meaningful never, and the rate of samples last.
func TestThin(t *testing.T) {
	now := given{hz: 99}
	took := load{CPU: 0.004, BPF: map[string]float64{"processes": 0.5, "oncpu": 0.003, "offcpu": 0.05, "syscalls": 0.08,
		"block": 0.00001}}
	var steps []string
	for {
		next, probe, did, ok := thin(took, 0.01, now)
		if !ok {
			break
		}
		steps = append(steps, probe+" "+did)
		delete(took.BPF, probe)
		now = next
	}
	want := []string{"syscalls detached", "offcpu detached", "oncpu 49 instead of 99 samples a second",
		"oncpu 24 instead of 49 samples a second", "oncpu 12 instead of 24 samples a second"}
	if !slices.Equal(steps, want) {
		t.Errorf("thinned by %q", steps)
	}
	if slices.Contains(now.without, "processes") || slices.Contains(now.without, "block") {
		t.Errorf("gave up %v", now.without)
	}
}
