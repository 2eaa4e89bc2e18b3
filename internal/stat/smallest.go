package stat

import (
	"fmt"
	"math"
)

// SmallestDifference returns the smallest difference of means, in the unit of the values, that
// Welch's test at this confidence would have shown with the given power, had it been there:
// (t(1−α/2) + t(power)) standard errors. It is what "nothing was found" is worth. Sides that do not
// vary give 0. It needs and refuses what MeanDifference does.
func SmallestDifference(a, b []float64, confidence, power float64) (float64, error) {
	if err := checkSides(confidence, map[string][]float64{"a": a, "b": b}); err != nil {
		return 0, fmt.Errorf("find smallest difference: %w", err)
	}
	if err := checkOpenUnit("power", power); err != nil {
		return 0, fmt.Errorf("find smallest difference: %w", err)
	}
	_, variance, freedom := welch(momentsOf(a), momentsOf(b))
	if variance == 0 {
		return 0, nil
	}
	// The quantile of the power is one-sided.
	steps := studentQuantile(freedom, confidence) + studentQuantile(freedom, 2*power-1)
	return steps * math.Sqrt(variance), nil
}
