package trial

import (
	"culprit/internal/stat"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestPlanIsReproducibleAndBalanced(t *testing.T) {
	first := map[string]int{}
	different := 0
	for seed := range int64(400) {
		plan := Plan{Seed: seed, Sides: []string{"A", "B"}}
		for pair := 9; pair >= 0; pair-- { // in any order of asking
			slots := plan.Pair(KindMeasure, pair)
			if again := (Plan{Seed: seed, Sides: []string{"A", "B"}}).Pair(KindMeasure, pair); !reflect.DeepEqual(slots,
				again) {
				t.Fatalf("seed %d pair %d: %v, then %v", seed, pair, slots, again)
			}
			if slots[0].Side == slots[1].Side || slots[0].Pair != pair || slots[0].Kind != KindMeasure {
				t.Fatalf("%v", slots)
			}
			first[slots[0].Side]++
			if pair%2 == 0 && slots[0].Side == plan.Pair(KindMeasure, pair+1)[0].Side {
				t.Errorf("seed %d: pairs %d and %d have the same order", seed, pair, pair+1)
			}
			if slots[0].Side != plan.Pair(KindEvidence, pair)[0].Side {
				different++
			}
		}
	}
	if first["A"] != first["B"] {
		t.Errorf("A came first %d times, B %d times", first["A"], first["B"])
	}
	if different < 1800 || different > 2200 {
		t.Errorf("evidence and measure differ in %d of 4000 orders, want about half", different)
	}
	// Which order a block begins with is a fair coin over seeds, and over the blocks of one seed.
	for name, begins := range map[string]func(i int) string{
		"seeds":  func(i int) string { return (Plan{int64(i), []string{"A", "B"}}).Pair(KindMeasure, 0)[0].Side },
		"blocks": func(i int) string { return (Plan{7, []string{"A", "B"}}).Pair(KindMeasure, 2*i)[0].Side },
	} {
		count, runs, last := 0, 0, ""
		for i := range 2000 {
			side := begins(i)
			if side == "A" {
				count++
			}
			if side != last {
				runs++
			}
			last = side
		}
		if math.Abs(float64(count)-1000) > 100 || math.Abs(float64(runs)-1000) > 100 {
			t.Errorf("%s: A begins %d of 2000, %d runs of equal ones", name, count, runs)
		}
	}
	if slots := (Plan{1, []string{"A"}}).Warmups(2); len(slots) != 2 || slots[1].Pair != 1 ||
		slots[0].Kind != KindWarmup {
		t.Errorf("%v", slots)
	}
	counts := map[string]int{}
	for round := range 600 {
		counts[strings.Join(Plan{Seed: 3}.Order(KindProof, round, []string{"x", "y", "z"}), "")]++
	}
	for order, count := range counts {
		if len(counts) != 6 || count < 60 || count > 140 {
			t.Errorf("order %s of three labels: %d of 600, %d orders", order, count, len(counts))
		}
	}
}

func TestJournalLosesNothing(t *testing.T) {
	directory := t.TempDir()
	journal, err := CreateJournal(directory)
	if err != nil {
		t.Fatal(err)
	}
	var want []Run
	for i := range 3 {
		run := Run{Side: "A", Pair: i, Order: i + 1, Kind: KindMeasure, Start: time.Unix(1e9, int64(i)).UTC(), Valid: true,
			Metrics: map[string]float64{MetricWall: float64(i)}, Disturb: Disturbance{StealS: 0.5}}
		if err := journal.Append(run); err != nil {
			t.Fatal(err)
		}
		want = append(want, run)
		if got, err := ReadJournal(directory); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("after run %d: %v %v", i, got, err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateJournal(directory); err == nil || !strings.Contains(err.Error(), "another case directory") {
		t.Errorf("%v", err)
	}
	path := filepath.Join(directory, JournalName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range text { // killed while it wrote
		if err := os.WriteFile(path, text[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := ReadJournal(directory)
		if lines := strings.Count(string(text[:cut]), "\n"); err != nil || len(got) != lines {
			t.Fatalf("cut at %d: %d runs, %v", cut, len(got), err)
		}
	}
	for _, bad := range []string{"{\n", "[1]\n", strings.Repeat("x", maxLine+1) + "\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadJournal(directory); err == nil || len(got) != 0 {
			t.Errorf("%.10q gives %v", bad, got)
		}
	}
}

func TestLogRatiosAndRecordingCost(t *testing.T) {
	var runs []Run
	for pair := range 6 {
		drift := math.Pow(1.1, float64(pair))
		for _, kind := range []string{KindMeasure, KindEvidence} {
			slower := map[string]float64{KindMeasure: 1, KindEvidence: 1.05}[kind]
			runs = append(runs,
				Run{Side: "A", Pair: pair, Kind: kind, Valid: true, Metrics: map[string]float64{"wall": drift * slower}},
				Run{Side: "B", Pair: pair, Kind: kind, Valid: pair != 2, Metrics: map[string]float64{"wall": 2 * drift * slower}})
		}
	}
	var measure []Run
	for _, run := range runs {
		if run.Kind == KindMeasure {
			measure = append(measure, run)
		}
	}
	ratios, err := LogRatios(measure, "wall", [2]string{"A", "B"})
	if err != nil || len(ratios) != 5 {
		t.Fatalf("%v %v: want the five pairs whose runs are both valid", ratios, err)
	}
	for _, ratio := range ratios {
		if math.Abs(ratio-math.Ln2) > 1e-12 {
			t.Errorf("ratio %v, want ln 2", ratio)
		}
	}
	cost, err := RecordingCost(runs, "wall")
	if err != nil || len(cost.With) != 11 || len(cost.Without) != 11 {
		t.Fatalf("%+v %v", cost, err)
	}
	if got := math.Exp(stat.Middle(cost.With) - stat.Middle(cost.Without)); math.Abs(got-1.05) > 1e-9 {
		t.Errorf("recording costs a factor of %v, want 1.05", got)
	}
	if got := Values(measure, "wall", "B"); len(got) != 5 {
		t.Errorf("values of B: %v", got)
	}
	if a, b := Paired(measure, "wall", [2]string{"A", "B"}); len(a) != 5 || len(b) != 5 ||
		math.Abs(b[0]/a[0]-2) > 1e-12 {
		t.Errorf("pairs %v and %v: want the values of the five pairs", a, b)
	}
	measure[0].Metrics = map[string]float64{"wall": 0}
	if _, err := LogRatios(measure, "wall", [2]string{"A", "B"}); err == nil ||
		!strings.Contains(err.Error(), "above zero") {
		t.Errorf("%v", err)
	}
	_, err = LogRatios(measure, "rate", [2]string{"A", "B"})
	if err == nil || !strings.Contains(err.Error(), "metric rate") {
		t.Errorf("%v", err)
	}
}
