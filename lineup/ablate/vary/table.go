package vary

// The tables of the variants; a build of an ablation has others in their place.
var (
	floats   []float64
	integers []int64
	variants []variant
)
