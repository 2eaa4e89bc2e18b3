package investigate

import (
	"fmt"
	"testing"

	"culprit/internal/trial"
	"culprit/recording"
)

// afterRuns is an investigation whose runs took so many seconds, and recordings of runs of B.
func afterRuns(a, b, recorded []float64) (*investigation, *evidence) {
	inv := &investigation{c: &Case{B: &SideSummary{}, Outcome: Worse, Metric: Metric{Name: trial.MetricWall}}}
	for side, values := range map[string][]float64{sideA: a, sideB: b} {
		for _, value := range values {
			inv.runs = append(inv.runs, trial.Run{Side: side, Kind: trial.KindMeasure, Valid: true,
				Metrics: map[string]float64{trial.MetricWall: value}})
		}
	}
	found := &evidence{}
	for i, value := range recorded {
		rec := &recording.Recording{}
		rec.Manifest.Metrics = map[string]float64{trial.MetricWall: value}
		found.add(sideB, fmt.Sprint("B-", i), rec)
	}
	return inv, found
}

// A connection that is lost in some runs costs a second in those, and is to be in what was
// recorded.
func TestRecordingsShowTheChange(t *testing.T) {
	sometimes := []float64{0.3, 1.3, 1.3, 0.3, 1.3, 0.3, 1.3, 1.3}
	always := []float64{0.6, 0.61, 0.6, 0.59, 0.6, 0.6, 0.61, 0.6}
	before := []float64{0.3, 0.3, 0.3, 0.31, 0.3, 0.3, 0.3, 0.3}
	for _, one := range []struct {
		name     string
		b        []float64
		recorded []float64
		shows    bool
	}{
		{"none of the recorded runs lost one", sometimes, []float64{0.33, 0.32, 0.34, 0.33, 0.32, 0.33}, false},
		{"one did", sometimes, []float64{0.33, 0.32, 0.34, 1.35, 0.32, 0.33}, false},
		{"two did", sometimes, []float64{0.33, 1.32, 0.34, 1.35, 0.32, 0.33}, true},
		{"the only one that there is did", sometimes, []float64{1.35}, true},
		{"each run is slower", always, []float64{0.63, 0.64, 0.62, 0.63, 0.66, 0.63}, true},
		{"nothing is recorded", sometimes, nil, false},
	} {
		inv, found := afterRuns(before, one.b, one.recorded)
		if shows := inv.shows(found); shows != one.shows {
			t.Errorf("%s: shows %v", one.name, shows)
		}
		inv.c.Outcome = Undecided
		if !inv.shows(found) {
			t.Errorf("%s: nothing has changed, and it is looked for", one.name)
		}
	}
}

// A recorded run that took far longer is left out, but not where runs do so again and again.
func TestUnusualRecordings(t *testing.T) {
	before, recorded := []float64{0.3, 0.3, 0.3}, []float64{0.33, 0.32, 0.34, 1.35, 0.32, 0.33}
	for _, one := range []struct {
		name string
		b    []float64
		kept int
	}{
		{"none else did", []float64{0.3, 0.3, 0.31, 0.3, 0.3, 0.3}, 5},
		{"one did, of six", []float64{0.3, 0.3, 1.3, 0.3, 0.3, 0.3}, 5},
		{"two did, of six", []float64{0.3, 0.3, 1.3, 0.3, 1.3, 0.3}, 6},
	} {
		inv, found := afterRuns(before, one.b, recorded)
		if kept := inv.dropUnusual(sideB, found.b); len(kept) != one.kept || (one.kept < 6) != (len(inv.c.Warnings) == 1) {
			t.Errorf("%s: %d kept, %v", one.name, len(kept), inv.c.Warnings)
		}
	}
}
