package cause

import (
	"math"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
)

// more often, dearer, and both, must be told apart for the same function and call.
func TestCallsApartFromTheirCost(t *testing.T) {
	side := func(calls int64, ms float64) plan {
		return plan{cpu: map[string]float64{work: 300, pyRun + "save;" + toWrite: ms},
			calls: map[string][2]int64{"write": {calls, calls * 20}}}
	}
	for name, c := range map[string]struct {
		a, b plan
		want string
		cost float64 // of one call in B
	}{
		"more often": {side(10_000, 20), side(100_000, 200), "more often, not dearer", 2e-6},
		"mostly":     {side(10_000, 20), side(60_000, 150), "by number", 2.5e-6},
	} {
		suspects := judged(t, "cpu", c.a, c.b, Costs{})
		if len(suspects) == 0 {
			t.Errorf("%s: no suspect", name)
			continue
		}
		found := false
		for _, evidence := range suspects[0].Evidence {
			if strings.HasPrefix(evidence.Text, "each write call") {
				found = strings.Contains(evidence.Text, c.want) && math.Abs(evidence.B-c.cost) < 0.1*c.cost && evidence.Unit == "s"
			}
		}
		if !found {
			t.Errorf("%s: evidence %+v", name, suspects[0].Evidence)
		}
	}
}

// What a call costs is told only where the claim's growth is in that call, and never as a thread's
// time on the critical path over the calls of all threads.
func TestCostOfACallIsOfWhatGrew(t *testing.T) {
	path := func(a, b float64) compare.Path { return compare.Path{A: []float64{a, a}, B: []float64{b, b}} }
	count := func(name string, a, b float64) compare.Count {
		return compare.Count{Name: "syscall.munmap." + name, A: []float64{a, a}, B: []float64{b, b}}
	}
	for name, c := range map[string]struct {
		metric string
		call   compare.Path // the rest of the code grows from 1 s to 2 s
		within float64      // seconds of all threads within the call in B, twice those in A
		cost   float64      // of a call in B; 0: none is told
	}{
		"noise beside code":      {compare.MetricCPU, path(0.34, 0.4), 0.4, 0},
		"less beside code":       {compare.MetricCPU, path(0.4, 0.34), 0.4, 0},
		"much of it":             {compare.MetricCPU, path(0.2, 0.4), 0.9, 0.4 / 1000},
		"side by side":           {compare.MetricWall, path(0.2, 0.4), 1.6, 1.6 / 1000},
		"time within not known":  {compare.MetricWall, path(0.2, 0.4), 0, 0},
		"noise on critical path": {compare.MetricWall, path(0.39, 0.4), 1.6, 0},
	} {
		s := &scene{metric: c.metric, metricA: []float64{2, 2}, metricB: []float64{3, 3}, confidence: 0.95,
			paths: []compare.Path{path(1, 2), c.call}, traits: []trait{{}, {call: "munmap"}},
			counts: []compare.Count{count("count", 1000, 1000), count("seconds", c.within/2, c.within)}}
		found := s.callEvidence(&claim{cause: "code.grew", members: []int{0, 1}})
		switch {
		case (c.cost > 0) != (len(found) > 0):
			t.Errorf("%s: evidence %+v", name, found)
		case c.cost > 0 && math.Abs(found[0].B-c.cost) > 1e-9:
			t.Errorf("%s: a call is said to cost %v, want %v", name, found[0].B, c.cost)
		}
	}
}

// Faults are predicted by their number and what one costs here, and only where both agree with what
// was seen.
func TestFaultsArePredictedByTheirNumber(t *testing.T) {
	for name, c := range map[string]struct {
		cost Cost
		want bool
	}{
		"at what one costs":  {Cost{500, 450, 550}, true},
		"at a tenth of it":   {Cost{50, 45, 55}, false},
		"what was not timed": {Cost{}, false},
	} {
		s := &scene{in: Input{Costs: Costs{Fault: c.cost}}}
		claim := &claim{cause: "memory.faults"}
		claim.predict("first touch of a page", 200_000, c.cost)
		if claim.prediction == nil {
			if c.cost.Ns > 0 {
				t.Errorf("%s: no prediction", name)
			}
			continue
		}
		seen := Suspect{Seconds: compare.Interval{Value: 0.1, Low: 0.09, High: 0.11}}
		got := s.compareWith(*claim.prediction, seen, true)
		if got.Agrees != c.want || got.Observed != seen.Seconds || got.Count != 200_000 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The barest operation of a kind is a floor: what is observed may be far more, and not far less.
func TestFloorsAgreeWithMore(t *testing.T) {
	s := &scene{oneSided: true}
	claim := &claim{cause: "syscall.chatty"}
	claim.predictAtLeast("bare system call", 1e6, Cost{Ns: 100, Low: 90, High: 110})
	for observed, want := range map[float64]bool{0.02: false, 0.09: true, 5: true} {
		// One recording has no interval; the value alone is held against the floor.
		got := s.compareWith(*claim.prediction, Suspect{Seconds: compare.Interval{Value: observed, Low: -9, High: 9}}, false)
		if got.Agrees != want || !got.AtLeast || got.Observed.High != observed {
			t.Errorf("%g s observed: %+v", observed, got)
		}
	}
}

// No suspicion without a cost: of two sides and of one, each suspect has its time, in numbers.
func TestEverySuspectHasItsCost(t *testing.T) {
	t.Parallel()
	for _, one := range situations() {
		for _, suspects := range [][]Suspect{one.suspects(t),
			judged(t, one.metric, one.b, plan{}, one.costs)} {
			for _, suspect := range suspects {
				if suspect.Seconds.Value == 0 || len(suspect.Evidence) == 0 || suspect.Evidence[0].Unit != "s/run" {
					t.Errorf("%s: %s has no cost: %+v", one.name, suspect.Cause, suspect)
				}
			}
		}
	}
}

// Children that close every descriptor up to a limit that was raised: as many children on both
// sides, and their calls are no part of starting more.
func TestCallsOfShortProcessesCountWhereAsManyStart(t *testing.T) {
	count := func(name, key string, a, b float64) compare.Count {
		return compare.Count{Name: name, Key: key, A: []float64{a}, B: []float64{b}}
	}
	calls := []compare.Count{count("syscall.close.count", "", 42000, 2400000),
		count("syscall.close.count", "spawner", 41960, 2399960)}
	for _, c := range []struct{ started, want float64 }{{40, 2400000}, {80, 40}} {
		s := &scene{counts: append(calls, count(counts.Processes, "", 40, c.started)),
			paths: []compare.Path{{Process: "spawner", Short: true}}}
		if b := s.callCount("close").b; b != c.want {
			t.Errorf("%v processes: %v calls, want %v", c.started, b, c.want)
		}
	}
}

// TestPlaceBelowMain: main makes two calls as often, by the C library's functions, which do not
// call each other.
func TestPlaceBelowMain(t *testing.T) {
	entry := ";k:entry_SYSCALL_64_after_hwframe;do_syscall_64;"
	calling := func(reads, writes float64) plan {
		return plan{cpu: map[string]float64{
			"_start;__libc_start_main;main;libc.so.6!read" + entry + "ksys_read":   reads,
			"_start;__libc_start_main;main;libc.so.6!write" + entry + "ksys_write": writes / 2,
			"_start;__libc_start_main;main;libc.so.6!write" + entry + "vfs_write":  writes / 2},
			calls: map[string][2]int64{"read": {int64(reads * 500), 0}, "write": {int64(writes * 500), 0}}}
	}
	for _, test := range []struct {
		reads, writes float64
		want          string
	}{{200, 220, "main;write"}, {300, 100, "main;read"}, {100, 300, "main;write"}} {
		suspects := judged(t, "cpu", calling(70, 70), calling(test.reads, test.writes), Costs{})
		if len(suspects) == 0 || suspects[0].Cause != "syscall.chatty" || suspects[0].Where[0] != test.want {
			t.Errorf("%v reads, %v writes: %s, want %s", test.reads, test.writes, described(suspects), test.want)
		}
	}
}
