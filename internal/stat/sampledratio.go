package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// LeastSampled is how many samples each part of a SampledRatio takes: of ten the error of each is a
// third. Chosen.
const LeastSampled = 10

// SampledRatio is above / below where both are sums that samples stand for: an event every so many.
// The interval is that of the numbers of samples, each a Poisson count, on a log scale (Katz et
// al., Biometrics 34, 1978). false where there are too few of them.
func SampledRatio(above, below, samplesAbove, samplesBelow, confidence float64) (Interval, bool) {
	if samplesAbove < LeastSampled || samplesBelow < LeastSampled || above <= 0 || below <= 0 {
		return Interval{}, false
	}
	z := distuv.UnitNormal.Quantile((1 + confidence) / 2)
	width := math.Exp(z * math.Sqrt(1/samplesAbove+1/samplesBelow))
	ratio := above / below
	return Interval{Value: ratio, Low: ratio / width, High: ratio * width}, true
}
