package stat

import (
	"cmp"
	"fmt"
	"slices"
)

// BenjaminiHochberg marks which of many tests may be called discoveries so that at most a share q
// of them is expected to be false (Benjamini & Hochberg 1995; valid for independent and positively
// dependent tests, Benjamini & Yekutieli 2001). The result is in the order of p; no tests give an
// empty one. It fails when a p-value is NaN or outside 0 … 1, or q not strictly between 0 and 1.
func BenjaminiHochberg(p []float64, q float64) ([]bool, error) {
	if err := checkOpenUnit("q", q); err != nil {
		return nil, fmt.Errorf("choose discoveries: %w", err)
	}
	order := make([]int, len(p))
	for i, value := range p {
		if !(value >= 0 && value <= 1) {
			return nil, fmt.Errorf("choose discoveries: p[%d] is %g, not a probability", i, value)
		}
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	found := make([]bool, len(p))
	for last := len(order) - 1; last >= 0; last-- {
		if p[order[last]] <= q*float64(last+1)/float64(len(p)) {
			for _, i := range order[:last+1] {
				found[i] = true
			}
			break
		}
	}
	return found, nil
}
