// Package compare tells two groups of hosts apart: versions, zones, kernels, before and after.
//
// The unit is what was assigned: a host, or a zone where a change was rolled out by zone. Each host
// gives one value for the whole time; a minute more of the same host is no further proof. The cost
// after the change is fitted on the group, the same host's cost before and the requests that it was
// offered, each also within the group (Lin 2013), with standard errors that allow the groups
// different spreads (HC2).
//
//	effect, err := compare.Groups(hosts, compare.Options{})
//	fmt.Println(effect.Change.Value, effect.P, effect.Smallest)
//
// It refuses groups of fewer than two hosts. Load is requests a second, never the use of the CPU:
// that contains the effect, and adjusting by it hides a fifth of it or more.
package compare

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"culprit/internal/fleet/regress"
	"culprit/internal/stat"
)

// ErrTooFew is returned for groups that cannot be compared.
var ErrTooFew = errors.New("too few hosts")

// Host is one host with its means over the time that is compared.
type Host struct {
	Name string `json:"host"`
	// Unit is what was assigned as a whole, "" for the host itself: hosts of one unit count once.
	Unit  string  `json:"unit,omitempty"`
	B     bool    `json:"b"`
	Value float64 `json:"value"`
	// Before is the same host's value before the change, 0 or NaN where there is none.
	Before float64 `json:"before,omitempty"`
	// Load and LoadBefore are requests a second, 0 or NaN where not known.
	Load       float64 `json:"load,omitempty"`
	LoadBefore float64 `json:"load_before,omitempty"`
}

// Options say how values are compared.
type Options struct {
	Confidence float64 // of the interval; 0.95
	// Linear compares differences in the value's own unit, for values that may be zero: a frame's
	// part of the cost. Otherwise logarithms are compared, and values have to be above zero.
	Linear bool
}

// Effect is how much dearer B is than A.
type Effect struct {
	// Change is B/A − 1; the difference where Options.Linear was set.
	Change stat.Interval `json:"change"`
	P      float64       `json:"p"`
	A      int           `json:"a"` // units
	B      int           `json:"b"`
	// Adjusted names what the values were adjusted by: "before", "load"; Units what was counted.
	Adjusted []string `json:"adjusted"`
	Units    string   `json:"units"`
	// Smallest is the least change that four of five such comparisons find.
	Smallest float64 `json:"smallest"`
	// Residual is the standard deviation between units of what was compared.
	Residual float64 `json:"residual"`
}

// Groups compares the hosts of B with those of A.
func Groups(hosts []Host, options Options) (*Effect, error) {
	options = options.withDefaults()
	rows, units, err := unitsOf(hosts, options)
	if err != nil {
		return nil, err
	}
	a, b := count(rows)
	if a < 2 || b < 2 {
		return nil, fmt.Errorf("compare: %w: %d %s of A and %d of B, at least 2 each", ErrTooFew, a, units, b)
	}
	var last error
	for _, model := range models(rows) {
		if min(a, b) < model.least() {
			continue
		}
		fit, err := regress.Fit(model.design(rows), values(rows))
		if errors.Is(err, regress.ErrDependent) {
			last = err
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		effect := effectOf(fit, 1, options)
		effect.A, effect.B, effect.Units, effect.Adjusted = a, b, units, model.names()
		effect.Residual = spread(fit)
		return effect, nil
	}
	return nil, fmt.Errorf("compare: %w: %d and %d %s: %w", ErrTooFew, a, b, units, last)
}

// Paired compares the same hosts before and after, adjusted by the change of their load. Everything
// else that changed in time is in it too: a group of hosts where nothing was changed is the better
// proof.
func Paired(hosts []Host, options Options) (*Effect, error) {
	options = options.withDefaults()
	var design [][]float64
	var differences []float64
	adjusted := []string{"before"}
	loads := true
	for _, host := range hosts {
		loads = loads && known(host.Load) && known(host.LoadBefore)
	}
	for _, host := range hosts {
		after, err := host.transformed(host.Value, options)
		if err != nil {
			return nil, err
		}
		before, err := host.transformed(host.Before, options)
		if err != nil {
			return nil, err
		}
		row := []float64{1}
		if loads {
			row = append(row, math.Log(host.Load/host.LoadBefore))
		}
		design, differences = append(design, row), append(differences, after-before)
	}
	if len(differences) < 3 {
		return nil, fmt.Errorf("compare: %w: %d that were seen before and after, at least 3", ErrTooFew, len(differences))
	}
	fit, err := regress.Fit(design, differences)
	if loads && err == nil {
		adjusted = append(adjusted, "load")
	}
	if errors.Is(err, regress.ErrDependent) && loads {
		for i := range design { // no host's load has changed
			design[i] = design[i][:1]
		}
		fit, err = regress.Fit(design, differences)
	}
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	effect := effectOf(fit, 0, options)
	effect.A, effect.B, effect.Units, effect.Adjusted = len(hosts), len(hosts), "hosts", adjusted
	effect.Residual = spread(fit)
	return effect, nil
}

func (o Options) withDefaults() Options {
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	return o
}

// powerOfFour is how many standard errors an effect has to be for 80 % power at 5 %: 1.960 + 0.842.
const powerOfFour = 2.8

func effectOf(fit *regress.Result, coefficient int, options Options) *Effect {
	value, half := fit.Coefficient[coefficient], fit.Half(coefficient, options.Confidence)
	effect := &Effect{Change: stat.Interval{Value: value, Low: value - half, High: value + half},
		P: fit.P(coefficient), Smallest: powerOfFour * fit.Error[coefficient]}
	if !options.Linear {
		effect.Change = stat.Interval{Value: math.Expm1(value), Low: math.Expm1(value - half),
			High: math.Expm1(value + half)}
		effect.Smallest = math.Expm1(effect.Smallest)
	}
	return effect
}

func spread(fit *regress.Result) float64 {
	squares := 0.0
	for _, r := range fit.Residual {
		squares += r * r
	}
	return math.Sqrt(squares / fit.Freedom)
}

func known(value float64) bool { return value > 0 && !math.IsInf(value, 0) }

// transformed is a value as it is compared.
func (h *Host) transformed(value float64, options Options) (float64, error) {
	if options.Linear {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return 0, fmt.Errorf("compare: host %s has the value %g", h.Name, value)
		}
		return value, nil
	}
	if !known(value) {
		return 0, fmt.Errorf("compare: host %s has the value %g: above 0 is needed", h.Name, value)
	}
	return math.Log(value), nil
}

// Words say what was adjusted by.
func (e *Effect) Words() string {
	if len(e.Adjusted) == 0 {
		return "not adjusted"
	}
	return "adjusted by " + strings.Join(e.Adjusted, " and ")
}
