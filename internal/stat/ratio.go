package stat

import (
	"fmt"
	"math"
)

// RatioOfMeans returns mean(x)/mean(y) for values that were observed in pairs, with Fieller's
// interval (1954). This is the share of a change: x the change of one item, y the change of the
// metric, one value for each pair of evidence trials. What x and y have in common cancels, so a
// share near 1 of a noisy metric still has a narrow interval.
//
// When y's mean cannot be told from zero at this confidence the interval is not finite: the
// estimate is returned with Low −Inf, High +Inf and an error that wraps ErrUnbounded; when it is
// exactly zero the estimate is 0. It assumes roughly normal values, needs two pairs, and fails on
// different lengths, NaN and infinities.
func RatioOfMeans(x, y []float64, confidence float64) (Interval, error) {
	if err := checkSides(confidence, map[string][]float64{"x": x, "y": y}); err != nil {
		return Interval{}, fmt.Errorf("take ratio of means: %w", err)
	}
	if len(x) != len(y) {
		return Interval{}, fmt.Errorf("take ratio of means: %d values of x but %d of y", len(x), len(y))
	}
	joint := jointOf(x, y)
	freedom := func(float64) float64 { return joint.count - 1 }
	return fieller(joint.x, joint.y, joint.variances(), freedom, confidence)
}

// RatioOfDifferences returns (mean(xB)−mean(xA)) / (mean(yB)−mean(yA)) with Fieller's interval
// (1954): the share of a change for two sides whose runs are not paired. xA[i] and yA[i] come from
// the same run, as do xB[i] and yB[i]; the sides may have different numbers of runs, two or more.
// The degrees of freedom are Welch's. Everything else is as for RatioOfMeans; for 3 to 8 runs a
// side this one has the narrower interval.
func RatioOfDifferences(xA, xB, yA, yB []float64, confidence float64) (Interval, error) {
	sides := map[string][]float64{"xA": xA, "xB": xB, "yA": yA, "yB": yB}
	if err := checkSides(confidence, sides); err != nil {
		return Interval{}, fmt.Errorf("take ratio of differences: %w", err)
	}
	if len(xA) != len(yA) || len(xB) != len(yB) {
		return Interval{}, fmt.Errorf("take ratio of differences: x has %d and %d runs but y %d and %d",
			len(xA), len(xB), len(yA), len(yB))
	}
	a, b := jointOf(xA, yA), jointOf(xB, yB)
	varianceA, varianceB := a.variances(), b.variances()
	sum := covariance{varianceA.xx + varianceB.xx, varianceA.xy + varianceB.xy, varianceA.yy + varianceB.yy}
	freedom := func(ratio float64) float64 {
		return satterthwaite(a.count, varianceA.residual(ratio), b.count, varianceB.residual(ratio))
	}
	return fieller(b.x-a.x, b.y-a.y, sum, freedom, confidence)
}

// covariance is that of two means.
type covariance struct {
	xx, xy, yy float64
}

// residual is the variance of mean(x) − ratio·mean(y); an infinite ratio stands for mean(y) alone.
func (c covariance) residual(ratio float64) float64 {
	if math.IsInf(ratio, 0) {
		return c.yy
	}
	return max(0, c.xx-2*ratio*c.xy+ratio*ratio*c.yy)
}

// joint are the means of paired values and their sums of squared and crossed deviations.
type joint struct {
	count, x, y, xx, xy, yy float64
}

func jointOf(x, y []float64) joint {
	ofX, ofY := momentsOf(x), momentsOf(y)
	j := joint{count: ofX.count, x: ofX.mean, y: ofY.mean, xx: ofX.squares, yy: ofY.squares}
	for i := range x {
		j.xy += (x[i] - j.x) * (y[i] - j.y)
	}
	return j
}

func (j joint) variances() covariance {
	scale := 1 / (j.count - 1) / j.count
	return covariance{j.xx * scale, j.xy * scale, j.yy * scale}
}

// fieller solves (x − θy)² ≤ t²·var(x − θy) for θ. The set is an interval exactly when y differs
// from zero at the same confidence. The degrees of freedom, which depend on θ, are the fewer of
// those at the estimate and those of y.
func fieller(x, y float64, c covariance, freedom func(ratio float64) float64, confidence float64) (Interval, error) {
	unbounded := Interval{Value: 0, Low: math.Inf(-1), High: math.Inf(1)}
	if y == 0 {
		return unbounded, fmt.Errorf("take ratio: %w", ErrUnbounded)
	}
	ratio := x / y
	if math.IsInf(ratio, 0) || math.IsNaN(ratio) || math.IsInf(c.xx, 0) || math.IsInf(c.yy, 0) {
		return unbounded, fmt.Errorf("take ratio of %g and %g: %w", x, y, ErrUnbounded)
	}
	unbounded.Value = ratio
	t := studentQuantile(freedomOf(c, ratio, freedom), confidence)
	// In units of y, so that neither squares nor products leave the range of a float.
	xx, xy, yy := t*t*c.xx/y/y, t*t*c.xy/y/y, t*t*c.yy/y/y
	a, b := 1-yy, ratio-xy
	if !(a > 0) {
		return unbounded, fmt.Errorf("take ratio of %g and %g: %w", x, y, ErrUnbounded)
	}
	root := math.Sqrt(max(0, b*b-a*(ratio*ratio-xx)))
	low, high := (b-root)/a, (b+root)/a
	if math.IsNaN(root) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return unbounded, fmt.Errorf("take ratio of %g and %g: %w", x, y, ErrUnbounded)
	}
	// The estimate solves the equation with 0, so only rounding can put it outside.
	return Interval{Value: ratio, Low: min(low, ratio), High: max(high, ratio)}, nil
}

// freedomOf is the fewer of the degrees of freedom at the estimate and at the denominator, of those
// that vary at all.
func freedomOf(c covariance, ratio float64, freedom func(ratio float64) float64) float64 {
	atRatio, atY := freedom(ratio), freedom(math.Inf(1))
	if c.yy == 0 {
		return atRatio
	}
	if c.residual(ratio) == 0 {
		return atY
	}
	return min(atRatio, atY)
}
