package bands

import "math"

// logSum adds up logarithms of numbers above zero: it multiplies them as long as a float64 holds
// the product, and takes one logarithm of many. A logarithm costs ten times as much as a product,
// and a fit takes millions.
type logSum struct{ logs, product float64 }

// widest bounds the product on both sides, and what is multiplied to it: together they stay within
// a float64.
const widest = 1e140

func newLogSum() logSum { return logSum{product: 1} }

func (s *logSum) add(x float64) {
	if x > widest || x < 1/widest {
		s.logs += math.Log(x)
		return
	}
	if s.product *= x; s.product > widest || s.product < 1/widest {
		s.logs += math.Log(s.product)
		s.product = 1
	}
}

func (s *logSum) value() float64 { return s.logs + math.Log(s.product) }
