package investigate

import "testing"

// Recorded runs of two kinds are told apart where the one is as the other side's and the other one
// has the change that the trials measured; those that scatter, or that something else held up, are
// not.
func TestHalved(t *testing.T) {
	for _, one := range []struct {
		name             string
		suffering, other []float64
		ratio            float64
		showing          int // 0: not halved
	}{
		{"a page is written back in half of the runs", []float64{0.434, 0.522, 0.438, 0.497, 0.433, 0.519},
			[]float64{0.432, 0.433, 0.435, 0.435, 0.429, 0.43}, 1.24, 3},
		{"a connection is lost in half of them", []float64{1.194, 1.169, 0.169, 1.151, 0.15, 0.132},
			[]float64{0.182, 0.205, 0.154, 0.15, 0.138, 0.14}, 5.1, 3},
		{"B is better: the ratio is below 1", []float64{0.522, 0.438, 0.497, 0.433}, []float64{0.43, 0.435}, 1 / 1.24, 2},
		{"all show it", []float64{0.51, 0.522, 0.508, 0.497}, []float64{0.432, 0.433}, 1.2, 0},
		{"none does", []float64{0.434, 0.432, 0.433, 0.431}, []float64{0.432, 0.433}, 1.2, 0},
		{"one does", []float64{0.434, 0.432, 0.522, 0.433}, []float64{0.432, 0.433}, 1.2, 0},
		{"a small change, and two runs that were held up", []float64{0.42, 0.421, 0.6, 0.61, 0.419},
			[]float64{0.4, 0.4}, 1.05, 0},
		{"they scatter", []float64{0.44, 0.46, 0.48, 0.5, 0.52}, []float64{0.43, 0.435}, 1.15, 0},
		{"the quiet ones are slower than the other side as well", []float64{0.47, 0.472, 0.55, 0.552},
			[]float64{0.43, 0.43}, 1.2, 0},
		{"nothing of the other side", []float64{0.43, 0.52, 0.52}, nil, 1.2, 0},
		{"nothing", nil, nil, 1.2, 0},
	} {
		limit, showing, ok := halved(one.suffering, one.other, one.ratio)
		if !ok {
			showing = 0
		}
		if showing != one.showing || ok && !(limit > one.other[0]) {
			t.Errorf("%s: %d show it, from %v on (%v)", one.name, showing, limit, ok)
		}
	}
}
