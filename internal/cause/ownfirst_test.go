package cause

import (
	"testing"

	"culprit/internal/compare"
)

// Of one recording, waiting for CPUs that strangers had is about the host: what the program does
// itself goes first.
func TestOwnCausesBeforeABusyHost(t *testing.T) {
	suspect := func(id ID, share float64) Suspect {
		return Suspect{Cause: id, Share: compare.Interval{Value: share, Low: share, High: share}}
	}
	for _, test := range []struct {
		name          string
		sync          float64 // share of the program's own cause; 0: it has none
		own, twoSided bool
		first         ID
	}{
		{name: "larger than a fifth of the rest", sync: 0.1, first: "file.sync"},
		{name: "too small to be a suspect", sync: 0.05, first: "cpu.starved"},
		{name: "nothing of its own", first: "cpu.starved"},
		{name: "its own processes compete", sync: 0.1, own: true, first: "cpu.starved"},
		{name: "two sides", sync: 0.1, twoSided: true, first: "cpu.starved"},
	} {
		s := &scene{oneSided: !test.twoSided, paths: []compare.Path{{Kind: compare.Runnable, WakerComm: "other",
			WakerOwn: test.own, B: []float64{1}}}}
		suspects := []Suspect{suspect("cpu.starved", 0.6)}
		if test.sync > 0 {
			suspects = append(suspects, suspect("file.sync", test.sync))
		}
		suspects = append(suspects, suspect("runtime.cold", 0.06))
		r := &ranking{ledger: newLedger(s), told: rankedAs(suspects, make([]rank, len(suspects)))}
		r.told[0].members = []int{0}
		r.preferProgram(rankRule{})
		got := r.suspects()
		if got[0].Cause != test.first || len(got) != len(suspects) || got[len(got)-1].Cause != "runtime.cold" {
			t.Errorf("%s: %s first of %d, want %s", test.name, got[0].Cause, len(got), test.first)
		}
	}
}

// A thread that works long each time a timer wakes it does not cost by being woken.
func TestWorkPerTick(t *testing.T) {
	const ticks = 100
	s := &scene{oneSided: true, cpu: []compare.Path{{Kind: compare.Running, Process: "prog", Ticking: true}}}
	for _, test := range []struct {
		seconds float64
		want    bool
	}{{ticks * 50e-6, false}, {ticks * 1.45e-3, true}} {
		s.cpu[0].B = []float64{test.seconds}
		if got := s.worksPerTick("prog", ticks); got != test.want {
			t.Errorf("%g s in %d ticks: dwarfs the wake-ups: %v", test.seconds, ticks, got)
		}
	}
	if s.oneSided = false; s.worksPerTick("prog", ticks) {
		t.Error("of two sides the timer that only one has is the reason for its work")
	}
}
