package bands

import "math"

// mixture is two Gaussians with one spread: the lower band has the weight, around low.
type mixture struct {
	weight, low, high, sd float64
	logLikelihood         float64
	gain                  float64 // twice the log-likelihood above that of one Gaussian
}

// The lower bands that EM starts from, as parts of the sorted values: a start in the middle does
// not lead to a small band on either side.
var startingShares = []float64{0.05, 0.12, 0.25, 0.5, 0.75, 0.88, 0.95}

const (
	emFirst     = 12   // steps of every start; the best two go on
	emSteps     = 300  // at most
	emEnough    = 1e-5 // of the log-likelihood
	logTwoPi    = 1.8378770664093454835606594728112
	leastSpread = 1e-6 // of the variance: a band of equal values has no density
	surely      = 300  // logarithm of the odds from which on a value is of the upper band; a float64 ends at 709
)

// fitMixture fits sorted values by EM; neither band is lighter than leastWeight.
func fitMixture(sorted []float64, leastWeight float64) mixture {
	n := float64(len(sorted))
	mean, variance := meanVariance(sorted)
	one := -0.5 * n * (math.Log(2*math.Pi*variance) + 1)
	first, second := mixture{logLikelihood: math.Inf(-1)}, mixture{logLikelihood: math.Inf(-1)}
	for _, share := range startingShares {
		cut := int(share * n)
		if cut < 1 || cut >= len(sorted) {
			continue
		}
		m := em(sorted, startAt(sorted, cut, variance), leastWeight, leastSpread*variance, emFirst)
		switch {
		case m.logLikelihood > first.logLikelihood:
			first, second = m, first
		case m.logLikelihood > second.logLikelihood:
			second = m
		}
	}
	best := mixture{weight: 0.5, low: mean, high: mean, sd: math.Sqrt(variance), logLikelihood: one}
	for _, m := range []mixture{first, second} {
		if math.IsInf(m.logLikelihood, -1) {
			continue
		}
		if m = em(sorted, m, leastWeight, leastSpread*variance, emSteps); m.logLikelihood > best.logLikelihood {
			best = m
		}
	}
	if best.low > best.high {
		best.low, best.high, best.weight = best.high, best.low, 1-best.weight
	}
	best.gain = 2 * (best.logLikelihood - one)
	return best
}

// startAt cuts the sorted values in two bands.
func startAt(sorted []float64, cut int, variance float64) mixture {
	n := float64(len(sorted))
	low, lowVariance := meanVariance(sorted[:cut])
	high, highVariance := meanVariance(sorted[cut:])
	within := (lowVariance*float64(cut)+highVariance*(n-float64(cut)))/n + 1e-4*variance
	return mixture{weight: float64(cut) / n, low: low, high: high, sd: math.Sqrt(within)}
}

// em takes steps until the log-likelihood stands still.
func em(values []float64, m mixture, leastWeight, leastVariance float64, steps int) mixture {
	n := float64(len(values))
	last := math.Inf(-1)
	sum, total := sums(values)
	for range steps {
		variance := m.sd * m.sd
		// ln(w₂φ₂/w₁φ₁) is linear in the value, since the spreads are equal.
		slope := (m.high - m.low) / variance
		offset := math.Log((1-m.weight)/m.weight) - (m.high*m.high-m.low*m.low)/(2*variance)
		var lowWeight, lowSum, squares float64
		logs := newLogSum()
		for _, x := range values {
			squares += (x - m.low) * (x - m.low)
			odds := offset + slope*x
			if odds > surely {
				logs.logs += odds
				continue
			}
			parts := 1 + math.Exp(odds) // of which the lower band has one
			p := 1 / parts
			lowWeight += p
			lowSum += p * x
			logs.add(parts)
		}
		logLikelihood := logs.value() + n*math.Log(m.weight) - squares/(2*variance) - 0.5*n*(logTwoPi+math.Log(variance))
		m.logLikelihood = logLikelihood
		if logLikelihood-last < emEnough {
			break
		}
		last = logLikelihood
		m = maximise(n, m, lowWeight, lowSum, sum, total, leastWeight, leastVariance)
		m.logLikelihood = logLikelihood
	}
	return m
}

// sums are those of the values and of their squares.
func sums(values []float64) (sum, squares float64) {
	for _, x := range values {
		sum += x
		squares += x * x
	}
	return sum, squares
}

// maximise is EM's second half: weights, means and the common spread from the memberships of m, of
// n values with that sum and sum of squares.
func maximise(n float64, m mixture, lowWeight, lowSum, sum, squares, leastWeight, leastVariance float64) mixture {
	next := m
	next.weight = min(max(lowWeight/n, leastWeight), 1-leastWeight)
	next.low = lowSum / max(lowWeight, 1e-9)
	next.high = (sum - lowSum) / max(n-lowWeight, 1e-9)
	// Σ p(x−a)² + (1−p)(x−b)², of which only the sums are needed.
	variance := (squares - lowWeight*next.low*next.low - (n-lowWeight)*next.high*next.high) / n
	next.sd = math.Sqrt(max(variance, 0) + leastVariance)
	return next
}

// membership is the posterior probability that a value is of the lower band.
func (m mixture) membership(x float64) float64 {
	variance := m.sd * m.sd
	odds := math.Log((1-m.weight)/m.weight) + ((x-m.low)*(x-m.low)-(x-m.high)*(x-m.high))/(2*variance)
	return 1 / (1 + math.Exp(min(odds, 700)))
}

// separation is the distance of the bands in spreads within one.
func (m mixture) separation() float64 { return (m.high - m.low) / m.sd }

// meanVariance divides by n, as maximum likelihood does.
func meanVariance(values []float64) (mean, variance float64) {
	n := float64(len(values))
	for _, x := range values {
		mean += x / n
	}
	for _, x := range values {
		variance += (x - mean) * (x - mean) / n
	}
	return mean, variance
}
