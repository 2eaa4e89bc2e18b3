package investigate

import (
	"slices"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/explain"
	"culprit/internal/trial"
	"culprit/recording"
)

// What recordings count is not counted twice when they are judged again, and what a case says in
// words alone is not said twice either.
func TestToldAgain(t *testing.T) {
	stacks := recording.BlindSpot{Kind: recording.BlindStacks, Count: 5, Of: 25, Recordings: 2,
		Reasons: []recording.BlindReason{{Why: "no rules", Count: 5}}}
	off := recording.BlindSpot{Kind: recording.BlindInterrupts}
	orphans := recording.BlindSpot{Kind: recording.BlindOrphans, Why: "no cgroup"}
	judged := &explain.Judgement{Metric: compare.MetricCPU, Result: &compare.Result{},
		Unseen: []recording.BlindSpot{off, stacks}}
	before := &Case{BlindSpots: recording.Words([]recording.BlindSpot{off, stacks, orphans})}
	before.FromWords()
	today := &Case{}
	today.see(off, stacks, orphans)
	for name, c := range map[string]*Case{"of before": before, "of today": today} {
		c.B = &SideSummary{}
		c.TellAgain(judged, nil)
		want := []string{orphans.String(), off.String(), stacks.String()}
		slices.Sort(want)
		if got := slices.Sorted(slices.Values(c.BlindSpots)); !slices.Equal(got, want) {
			t.Errorf("%s: told again %q\nwant %q", name, got, want)
		}
	}
}

func TestTrialsOfBefore(t *testing.T) {
	c := &Case{Trials: []trial.Run{{Valid: true}, {Why: "steal time of 0.1 s"}}}
	c.FromWords()
	out := c.Trials[1].LeftOut
	if c.Trials[0].LeftOut != nil || out == nil || out.Kind != trial.ExcludedOther ||
		out.String() != "steal time of 0.1 s" {
		t.Errorf("left out: %+v", c.Trials)
	}
}
