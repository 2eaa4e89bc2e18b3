package try

import (
	"fmt"
	"time"
)

// The values of what is not given.
const (
	UsualBudget   = time.Minute
	UsualSmallest = 0.02
	UsualPeriod   = 2 * time.Second
	usualWashOut  = 4 // a part in so many of a period is dropped
)

// Settle fills in what was not given: the kinds of the factors, the design, the metrics.
func (e Experiment) Settle() (Experiment, error) {
	for f := range e.Factors {
		e.Factors[f] = e.Factors[f].Resolve(e.Command)
	}
	if e.Design == "" {
		e.Design = Blocks
		if e.Service != nil {
			e.Design = Switchback
		}
	}
	if e.Budget == 0 {
		e.Budget = UsualBudget
	}
	if e.Smallest == 0 {
		e.Smallest = UsualSmallest
	}
	if e.Service != nil {
		if e.Service.Period == 0 {
			e.Service.Period = UsualPeriod
		}
		if e.Service.WashOut < 0 {
			e.Service.WashOut = e.Service.Period / usualWashOut
		}
	}
	if len(e.Metrics) > 0 {
		return e, nil
	}
	switch {
	case e.Latency != nil:
		metric, err := latencyMetric(latencyPrefix+e.Latency.usual(), "")
		if err != nil {
			return e, err
		}
		e.Metrics = []Metric{metric}
	case e.Service != nil && e.Service.Measure != "":
		metric, err := ParseMetric(fmt.Sprintf(`measured=%s`, lastNumber))
		if err != nil {
			return e, err
		}
		e.Metrics = []Metric{metric}
	case e.Service != nil:
		e.Metrics = []Metric{CPU}
	default:
		e.Metrics = []Metric{Wall, CPU}
	}
	return e, nil
}

// lastNumber finds the last line that is nothing but a number.
const lastNumber = `^\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*$`

// usual is the percentile that decides where none is named: 99, or else the highest there is.
func (l *Latency) usual() string {
	for _, percentile := range l.Percentiles {
		if percentile == 99 {
			return "p99"
		}
	}
	return "p" + percentileText(l.Percentiles[len(l.Percentiles)-1])
}
