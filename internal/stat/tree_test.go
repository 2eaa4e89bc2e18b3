package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTreeDiscoveries(t *testing.T) {
	// 0 ─ 1 ─ 3, 4 with changes that cancel in 1; 0 ─ 2 quiet with a child that only chance marks.
	parent := []int{-1, 0, 0, 1, 1, 2}
	p := []float64{0.6, 0.7, 0.8, 1e-6, 1e-6, 0.03}
	found, err := TreeDiscoveries(parent, p, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, false, false, true, true, false} {
		if found[i] != want {
			t.Errorf("node %d: %v, want %v", i, found[i], want)
		}
	}
	for _, bad := range [][]int{{0}, {5}, {-2}, {-1, -1}} {
		if _, err := TreeDiscoveries(bad, []float64{0.5}, 0.05); err == nil {
			t.Errorf("parents %v: no error", bad)
		}
	}
	if _, err := TreeDiscoveries([]int{-1}, []float64{math.NaN()}, 0.05); err == nil {
		t.Error("NaN: no error")
	}
	if found, err := TreeDiscoveries(nil, nil, 0.05); err != nil || len(found) != 0 {
		t.Errorf("no tests: %v, %v", found, err)
	}
}

// Where nothing differs, trees with any discovery must be as rare as q; where one leaf of a
// thousand does, its path must be found, and false ones among the found stay few.
func TestTreeDiscoveriesBySimulation(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	const trees, wide = 400, 30
	parent := []int{-1}
	for range wide {
		top := len(parent)
		parent = append(parent, 0)
		for range wide {
			parent = append(parent, top)
		}
	}
	alarms, hits, falseParts := 0, 0, 0.0
	p := make([]float64, len(parent))
	for range trees {
		for i := range p {
			p[i] = random.Float64()
		}
		if count(t, parent, p) > 0 {
			alarms++
		}
		p[0], p[1], p[2] = 1e-7, 1e-7, 1e-7
		found, err := TreeDiscoveries(parent, p, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if found[0] && found[1] && found[2] {
			hits++
		}
		all := 0
		for _, yes := range found {
			if yes {
				all++
			}
		}
		falseParts += float64(all-3) / float64(max(1, all)) / trees
	}
	if alarms > trees/10 || hits < trees || falseParts > 0.10 {
		t.Errorf("%d alarms of %d, %d hits, false part %.3f", alarms, trees, hits, falseParts)
	}
}

func count(t *testing.T, parent []int, p []float64) int {
	t.Helper()
	found, err := TreeDiscoveries(parent, p, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, yes := range found {
		if yes {
			n++
		}
	}
	return n
}

// A difference of the size named must be found about as often as the power says.
func TestSmallestDifferenceHasItsPower(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	draw := func(n int, shift float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = shift + random.NormFloat64()
		}
		return values
	}
	const rounds = 2000
	mean := 0.0
	for range rounds {
		smallest, err := SmallestDifference(draw(6, 0), draw(6, 0), 0.95, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		mean += smallest / rounds
	}
	found := 0
	for range rounds {
		if p, err := DifferenceP(draw(6, 0), draw(6, mean)); err == nil && p <= 0.05 {
			found++
		}
	}
	if part := float64(found) / rounds; part < 0.72 || part > 0.88 {
		t.Errorf("a difference of %.2f is found in %.2f of the cases", mean, part)
	}
	if _, err := SmallestDifference([]float64{1}, []float64{1, 2}, 0.95, 0.8); err == nil {
		t.Error("one value: no error")
	}
	if zero, err := SmallestDifference([]float64{1, 1}, []float64{2, 2}, 0.95, 0.8); err != nil || zero != 0 {
		t.Errorf("no spread: %v, %v", zero, err)
	}
}
