package perrun

import "testing"

// Six pairs changed the same way, one of them six times as much as the others: their mean cannot be
// told from zero, the share that an item has in each pair can. Pairs that changed in both
// directions, few pairs, and an item that had a part in half of them, say nothing.
func TestShareInEachPair(t *testing.T) {
	same := []float64{0.84, 0.98, 0.79, 0.85, 0.86, 0.80}
	dear := []float64{1.20, 1.14, 1.10, 1.32, 1.32, 2.82}
	item := func(parts ...float64) (a, b []float64) {
		for i, part := range parts {
			a, b = append(a, 0.5), append(b, 0.5+part*(dear[i]-same[i]))
		}
		return a, b
	}
	for name, test := range map[string]struct {
		parts         []float64
		same, dear    []float64
		known, isItem bool
	}{
		"most of each": {[]float64{0.9, 1, 0.95, 0.9, 1, 0.97}, same, dear, true, true},
		"one pair got cheaper": {[]float64{0.9, 1, 0.95, 0.9, 1, 0.97}, same, append([]float64{0.8}, dear[1:]...),
			false, false},
		"five pairs":     {[]float64{0.9, 1, 0.95, 0.9, 1}, same[:5], append([]float64{9}, dear[1:5]...), false, false},
		"a part in half": {[]float64{0, 1, 0, 0.9, 0, 1.1}, same, dear, true, false},
		"nothing":        {[]float64{0.01, -0.02, 0, 0.02, -0.01, 0.01}, same, dear, true, false},
	} {
		a, b := item(test.parts...)
		share, known := Share(a, b, test.same, test.dear, 0.95)
		if known != test.known || known && (share.Low > 0) != test.isItem {
			t.Errorf("%s: %+v, known %v", name, share, known)
		}
	}
}
