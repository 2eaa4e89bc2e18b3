package record

import (
	"slices"
	"testing"
)

// Requests are what was asked for: they are never given up, but watched for less of the time, at
// once where they alone take more than the budget.
func TestThinRequests(t *testing.T) {
	for _, test := range []struct {
		what string
		took load
		now  given
		want []string
	}{
		{"alone too dear", load{BPF: map[string]float64{"requests": 0.05, "syscalls": 0.08, "block": 0.001}}, given{hz: 24},
			[]string{"requests watched 10 % of the time", "syscalls detached", "oncpu 12 instead of 24 samples a second"}},
		{"the dearest", load{CPU: 0.005, BPF: map[string]float64{"requests": 0.008, "syscalls": 0.001}}, given{hz: 24},
			[]string{"requests watched 56 % of the time"}},
		{"not the dearest", load{BPF: map[string]float64{"requests": 0.004, "syscalls": 0.009}}, given{hz: 24},
			[]string{"syscalls detached", "requests watched 80 % of the time"}},
		{"watched for less already", load{BPF: map[string]float64{"requests": 0.02}}, given{hz: 12, share: 0.3},
			[]string{"requests watched 14 % of the time", "requests watched 10 % of the time"}},
		{"as little as may be", load{BPF: map[string]float64{"requests": 0.02}}, given{hz: 12, share: leastShare}, nil},
	} {
		var steps []string
		for range max(1, len(test.want)) {
			next, probe, did, ok := thin(test.took, 0.01, test.now)
			if !ok {
				break
			}
			steps = append(steps, probe+" "+did)
			if slices.Contains(next.without, probe) {
				delete(test.took.BPF, probe)
			}
			test.now = next
		}
		if !slices.Equal(steps, test.want) {
			t.Errorf("%s: thinned by %q, want %q", test.what, steps, test.want)
		}
	}
}

// The dearest probe goes first, what keeps the recording meaningful never, and the rate of samples
// last.
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
