package stat

import "math"

// correlationMost bounds what a few values may tell of how much neighbours depend on each other.
const correlationMost = 0.9

// Independent returns values with the same mean whose spread is as large as that of independent
// values would have to be for their mean to be known as well: values that follow each other in
// time, such as parts of one recording, tell less than as many from runs of their own. It widens by
// the correlation of neighbours, as for a first-order autoregression (Bartlett 1946); where they do
// not depend on each other, or there are fewer than three, values stay as they are.
func Independent(values []float64) []float64 {
	if len(values) < 3 {
		return values
	}
	mean := Average(values)
	products, squares := 0.0, 0.0
	for i, value := range values {
		squares += (value - mean) * (value - mean)
		if i > 0 {
			products += (value - mean) * (values[i-1] - mean)
		}
	}
	if squares == 0 {
		return values
	}
	// Of n independent values the estimate is -1/n on average (Marriott and Pope 1954).
	correlation := min(products/squares+1/float64(len(values)), correlationMost)
	if !(correlation > 0) {
		return values
	}
	factor := math.Sqrt((1 + correlation) / (1 - correlation))
	wide := make([]float64, len(values))
	for i, value := range values {
		wide[i] = mean + factor*(value-mean)
	}
	return wide
}
