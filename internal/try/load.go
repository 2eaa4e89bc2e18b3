package try

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"culprit/internal/load"
	"culprit/internal/trial"
)

// checkLoad refuses a load where it makes no sense.
func (e Experiment) checkLoad() error {
	ofLoad := slices.IndexFunc(e.Metrics, func(metric Metric) bool {
		return metric.Pattern == "" && load.IsMetric(metric.Name)
	})
	switch {
	case e.Load == nil && ofLoad >= 0:
		return fmt.Errorf("metric %s is one of a load; give --load CMD", e.Metrics[ofLoad].Name)
	case e.Load == nil:
		return nil
	case e.Service != nil:
		return errors.New("a load is put on servers that culprit starts; one that runs already has --measure CMD")
	case e.Latency != nil:
		return errors.New("what the load prints is read by itself; leave --latency away, and ask for --metric p99")
	case e.Load.Keep && e.monitors():
		return errors.New("a monitor is attached to a fresh server in each trial; leave --keep away")
	case slices.ContainsFunc(e.Metrics, func(metric Metric) bool { return isRecorded(metric.Name) }):
		return errors.New("metrics out of recordings are not known of a load; `culprit investigate --load` records")
	}
	for _, command := range e.commands() {
		if err := e.Load.Check(command); err != nil {
			return err
		}
	}
	return nil
}

// commands are the texts of all commands that are run.
func (e Experiment) commands() []string {
	for _, factor := range e.Factors {
		if factor.Kind != KindVariant {
			continue
		}
		var texts []string
		for _, level := range factor.Levels {
			texts = append(texts, level.Value)
		}
		return texts
	}
	return []string{e.Command.with(nil)}
}

// loadMetrics decide of a server where none is named: what its tool prints, where that is known.
func (e Experiment) loadMetrics() []Metric {
	if load.Known(e.Load.Command) == "" {
		return []Metric{Wall, CPU}
	}
	return []Metric{{Name: trial.MetricThroughput, Unit: "1/s", Higher: true}, CPU}
}

// toldByLoad says which of the metrics that decide a load did not print.
func (e Experiment) toldByLoad(metrics map[string]float64) error {
	if e.Load == nil {
		return nil
	}
	for _, metric := range e.Metrics {
		if _, told := metrics[metric.Name]; !told && metric.Pattern == "" && load.IsMetric(metric.Name) {
			return fmt.Errorf("metric %s: the load does not print it; known are %s, and NAME=REGEX takes any other number",
				metric.Name, strings.Join(load.Names(), ", "))
		}
	}
	return nil
}
