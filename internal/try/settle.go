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
	if len(e.Metrics) == 0 {
		var err error
		if e.Metrics, err = e.usualMetrics(); err != nil {
			return e, err
		}
	}
	for i, metric := range e.Metrics {
		if found, err := parseRecorded(metric.Name); e.Service != nil && isRecorded(metric.Name) && err == nil {
			e.Metrics[i].Unit = found.rateUnit()
		}
		if unit, is := rateUnits()[metric.Name]; is && e.Service != nil {
			e.Metrics[i].Unit = unit
		}
	}
	return e, nil
}

// rateUnits are the units of what is counted of a running service.
func rateUnits() map[string]string {
	return map[string]string{"cpu": "CPUs", "switches": "1/s", "faults": "1/s"}
}

// usualMetrics decide where none is named.
func (e Experiment) usualMetrics() ([]Metric, error) {
	switch {
	case e.Latency != nil:
		metric, err := latencyMetric(latencyPrefix+e.Latency.usual(), "")
		if err != nil {
			return nil, err
		}
		return []Metric{metric}, nil
	case e.Service != nil && e.Service.Measure != "":
		metric, err := ParseMetric(fmt.Sprintf(`measured=%s`, lastNumber))
		if err != nil {
			return nil, err
		}
		return []Metric{metric}, nil
	case e.Load != nil:
		return e.loadMetrics(), nil
	case e.Service != nil:
		return []Metric{CPU}, nil
	}
	return []Metric{Wall, CPU}, nil
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
