package trial

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// quiet makes pairs of runs of two sides with the little disturbance that every host has.
func quiet(pairs int, seed uint64) []Run {
	random := rand.New(rand.NewPCG(seed, 1))
	var runs []Run
	for pair := range pairs {
		for _, side := range []string{"A", "B"} {
			runs = append(runs, Run{Side: side, Pair: pair, Order: len(runs) + 1, Kind: KindMeasure, Valid: true,
				Metrics: map[string]float64{MetricWall: 1 + random.Float64()/10},
				Disturb: Disturbance{OthersS: 0.02 * random.Float64(), RunqueueS: 0.002 * random.ExpFloat64()}})
		}
	}
	return runs
}

func at(runs []Run, side string, pair int) *Run {
	for i := range runs {
		if runs[i].Side == side && runs[i].Pair == pair {
			return &runs[i]
		}
	}
	panic("no such run")
}

func leftOut(runs []Run) []int {
	var pairs []int
	for _, run := range runs {
		if !run.Valid && !slices.Contains(pairs, run.Pair) {
			pairs = append(pairs, run.Pair)
		}
	}
	slices.Sort(pairs)
	return pairs
}

func TestJudgeLeavesQuietRunsIn(t *testing.T) {
	for seed := range uint64(300) {
		v := Judge(quiet(12, seed))
		if v.Excluded != 0 || len(v.OneSided) != 0 || len(v.Warnings) != 0 {
			t.Fatalf("seed %d: %d left out, one-sided %v, warnings %v", seed, v.Excluded, v.OneSided, v.Warnings)
		}
	}
}

func TestJudgeLeavesOutWholePairs(t *testing.T) {
	runs := quiet(12, 1)
	at(runs, "A", 3).Disturb.StealS = 0.4
	at(runs, "B", 7).Disturb.RunqueueS = 0.5
	at(runs, "B", 7).Disturb.OthersS = 0.6
	given := slices.Clone(runs)
	v := Judge(runs)
	if got := leftOut(v.Runs); !slices.Equal(got, []int{3, 7}) || v.Excluded != 2 || len(v.OneSided) != 0 {
		t.Fatalf("left out %v (%d), one-sided %v", got, v.Excluded, v.OneSided)
	}
	if why := at(v.Runs, "A", 3).Why; !strings.Contains(why, "steal time of 0.4 s") {
		t.Errorf("why: %q", why)
	}
	if why := at(v.Runs, "B", 3).Why; !strings.Contains(why, "other run of its pair (A)") {
		t.Errorf("why of the partner: %q", why)
	}
	if at(runs, "A", 3).Valid != at(given, "A", 3).Valid {
		t.Error("Judge has changed the runs that it was given")
	}
	// The judgement of all runs so far is made anew at each look.
	if again := Judge(v.Runs); again.Excluded != 2 {
		t.Errorf("judged again: %d left out", again.Excluded)
	}
}

func TestJudgeIsBlindToTheMetric(t *testing.T) {
	runs := quiet(12, 1)
	for pair := range 12 {
		at(runs, "B", pair).Metrics[MetricWall] = 1
		at(runs, "B", pair).Metrics[MetricCPU] = 1
	}
	at(runs, "B", 5).Metrics[MetricWall] = 50
	at(runs, "B", 5).Metrics[MetricCPU] = 50
	if v := Judge(runs); v.Excluded != 0 {
		t.Errorf("a slow run without any disturbance was left out: %v", leftOut(v.Runs))
	}
}

func TestJudgeKeepsOneSidedDisturbance(t *testing.T) {
	tests := map[string]struct {
		disturb func(runs []Run)
		what    ExclusionKind
	}{
		"B is always short of CPU": {func(runs []Run) {
			for pair := range 12 {
				at(runs, "B", pair).Disturb.RunqueueS += 0.4 + 0.01*float64(pair)
			}
		}, "run-queue delay"},
		"B starts a competitor now and then": {func(runs []Run) {
			for _, pair := range []int{1, 4, 9} {
				at(runs, "B", pair).Disturb.OthersS += 0.8
			}
		}, "CPU time of other processes"},
		"B much more often than A": {func(runs []Run) {
			at(runs, "A", 0).Disturb.StealS = 0.3
			for pair := range 10 {
				if pair%2 == 0 {
					at(runs, "B", pair).Disturb.StealS = 0.3
				}
				at(runs, "B", pair+14).Disturb.StealS = 0.3
			}
		}, "steal time"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pairs := 12
			if test.what == "steal time" {
				pairs = 40
			}
			runs := quiet(pairs, 2)
			test.disturb(runs)
			v := Judge(runs)
			if v.Excluded != 0 || len(leftOut(v.Runs)) != 0 {
				t.Errorf("left out %v", leftOut(v.Runs))
			}
			if len(v.OneSided) != 1 || v.OneSided[0].What != test.what || v.OneSided[0].Side != "B" {
				t.Fatalf("one-sided: %+v", v.OneSided)
			}
			note := v.OneSided[0]
			t.Log(note.Text)
			if _, both := note.Medians["A"]; !both || !strings.Contains(note.Text, "comes with B") {
				t.Errorf("%+v", note)
			}
		})
	}
	// A longer run gathers more of a steady background: that is no disturbance of its own.
	runs := quiet(12, 3)
	for pair := range 12 {
		for side, scale := range map[string]float64{"A": 1, "B": 3} {
			run := at(runs, side, pair)
			run.Metrics[MetricWall] *= scale
			run.Disturb.OthersS += 0.5 * scale
		}
	}
	if v := Judge(runs); len(v.OneSided) != 0 || v.Excluded != 0 {
		t.Errorf("steady background: %+v", v.OneSided)
	}
}

func TestJudgeLeavesMostIn(t *testing.T) {
	runs := quiet(12, 4)
	for pair := range 5 {
		at(runs, "A", pair).Disturb.StealS = 0.2 + 0.1*float64(pair)
		at(runs, "B", pair).Disturb.StealS = 0.2
	}
	v := Judge(runs)
	if got := leftOut(v.Runs); !slices.Equal(got, []int{2, 3, 4}) {
		t.Errorf("left out %v, want the three worst of twelve pairs", got)
	}
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "5 of 12") {
		t.Errorf("warnings %q", v.Warnings)
	}
	for pairs := range 4 {
		runs := quiet(pairs, 5)
		if pairs > 0 {
			runs[0].Disturb.StealS = 5
		}
		if v := Judge(runs); v.Excluded != 0 {
			t.Errorf("of %d pairs, %d were left out", pairs, v.Excluded)
		}
	}
	if v := Judge(nil); v.Excluded != 0 || len(v.Runs) != 0 {
		t.Errorf("%+v", v)
	}
	single := quiet(8, 6)
	single = slices.DeleteFunc(single, func(run Run) bool { return run.Side == "B" })
	single[2].Disturb.RunqueueS = 0.7
	if v := Judge(single); !slices.Equal(leftOut(v.Runs), []int{2}) {
		t.Errorf("one side only: left out %v", leftOut(v.Runs))
	}
}

// The side that a level comes with has the larger number, also where its runs are the shorter ones
// and gather less.
func TestOneSidedLevelIsToldAsARate(t *testing.T) {
	runs := quiet(12, 4)
	for pair := range 12 {
		a, b := at(runs, "A", pair), at(runs, "B", pair)
		a.Metrics[MetricWall], b.Metrics[MetricWall] = 1, 4
		a.Disturb.RunqueueS, b.Disturb.RunqueueS = 0.8+0.001*float64(pair), 1.6+0.001*float64(pair)
	}
	v := Judge(runs)
	if len(v.OneSided) != 1 || v.OneSided[0].Side != "A" {
		t.Fatalf("one-sided: %+v", v.OneSided)
	}
	const want = "run-queue delay comes with A: median 0.81 s per second of run, 0.4 s with B"
	if v.OneSided[0].Text != want {
		t.Errorf("got %q, want %q", v.OneSided[0].Text, want)
	}
}

// Something comes and goes on the host. The shorter runs mostly miss it, so that it is an outlier
// for them where it is the usual level for the longer ones: it still is not theirs.
func TestBurstsAreNotTheShorterRuns(t *testing.T) {
	runs := quiet(40, 5)
	for pair := range 40 {
		if pair%3 == 0 {
			at(runs, "A", pair).Disturb.OthersS += 0.5
		}
		at(runs, "B", pair).Disturb.OthersS += 0.4
		at(runs, "B", pair).Metrics[MetricWall] *= 3
	}
	for _, one := range Judge(runs).OneSided {
		if one.Side == "A" {
			t.Errorf("%s", one.Text)
		}
	}
}
