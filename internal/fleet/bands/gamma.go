package bands

import (
	"math"
	"math/rand/v2"
)

// leastShape of a gamma density with a single mode inside its range; below it the density has no
// bound at its edge.
const leastShape = 1.0

// nearlyNormal is the skew from which on a gamma density is no longer told from a Gaussian.
const nearlyNormal = 0.02

// fitGamma fits Pearson's third density, a gamma that may begin anywhere and run in either
// direction: mean, log of the standard deviation, skew. Its long tail is exponential and its short
// one ends at an edge, which sinh-arcsinh follows with the wrong tail on one of the sides.
func fitGamma(sorted []float64) single {
	mean, variance := meanVariance(sorted)
	sd := math.Sqrt(variance)
	third := 0.0
	for _, x := range sorted {
		third += math.Pow((x-mean)/sd, 3) / float64(len(sorted))
	}
	most := 2 / math.Sqrt(leastShape)
	best, least := [4]float64{}, math.Inf(1)
	// The edge must lie outside the values: the skew of the moments may put it inside, less skew
	// does not.
	for _, skew := range []float64{third, third / 2, 0} {
		start := [4]float64{mean, math.Log(sd), min(max(skew, -0.9*most), 0.9*most), 0}
		if math.IsInf(gammaCost(sorted, &start), 1) {
			continue
		}
		best, least = search(start, [4]float64{0.2 * sd, 0.2, 0.2, 0},
			func(p *[4]float64) bool { return math.Abs(p[2]) <= most },
			func(p *[4]float64) float64 { return gammaCost(sorted, p) })
		break
	}
	return single{gammaMode, best, -least, drawGamma}
}

// gammaCost is minus the log-likelihood: with z = (x−μ)/σ, skew γ and k = 4/γ², k + z·√k·sign γ has
// the gamma density of shape k.
func gammaCost(values []float64, p *[4]float64) float64 {
	n, scale := float64(len(values)), math.Exp(-p[1])
	if math.Abs(p[2]) < nearlyNormal {
		squares := 0.0
		for _, x := range values {
			squares += (x - p[0]) * (x - p[0])
		}
		return 0.5*squares*scale*scale + n*(p[1]+0.5*logTwoPi)
	}
	shape := 4 / (p[2] * p[2])
	step := 2 / p[2] * scale // √k·sign γ / σ
	ratios, above := newLogSum(), 0.0
	for _, x := range values {
		moved := step * (x - p[0])
		if !(shape+moved > 0) {
			return math.Inf(1)
		}
		above += moved
		ratios.add(1 + moved/shape)
	}
	logGamma, _ := math.Lgamma(shape)
	// log k is taken out of each term, so that a large shape leaves digits.
	each := (shape-1)*math.Log(shape) - shape - logGamma + math.Log(math.Abs(step))
	return above - (shape-1)*ratios.value() - n*each
}

func drawGamma(p [4]float64, random *rand.Rand) float64 {
	scale := math.Exp(p[1])
	if math.Abs(p[2]) < nearlyNormal {
		return p[0] + scale*random.NormFloat64()
	}
	shape := 4 / (p[2] * p[2])
	return p[0] + scale*p[2]/2*(drawGammaOf(shape, random)-shape)
}

// drawGammaOf draws from the gamma density of a shape of 1 or more (Marsaglia and Tsang, 2000).
func drawGammaOf(shape float64, random *rand.Rand) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := random.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-random.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
