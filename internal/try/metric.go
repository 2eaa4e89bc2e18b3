package try

import (
	"fmt"
	"strings"

	"culprit/internal/load"
	"culprit/internal/trial"
)

// Metric is a number that each trial has and that decides.
type Metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit,omitempty"`
	Higher bool   `json:"higher,omitempty"` // higher is better
	// Pattern finds the number in what the command prints: its first group.
	Pattern string `json:"pattern,omitempty"`
	// Add makes a ratio of a count that may be zero: (b+Add)/(a+Add). It is the same for both sides
	// and fixed before any trial, so that it cannot favour one.
	Add float64 `json:"add,omitempty"`
}

// The metrics of every command that the kernel counts exactly.
var (
	Wall = Metric{Name: trial.MetricWall, Unit: "s"}
	CPU  = Metric{Name: trial.MetricCPU, Unit: "s"}
	// CPUPerCall is the CPU time of a running service for each of its read and write calls: the
	// only work of it that the kernel counts for everybody, so that a service that answers less
	// because it got slower is not taken for a cheaper one.
	CPUPerCall = Metric{Name: trial.MetricCPUPerCall, Unit: "s"}
)

// half is the usual continuity correction of a count (Haldane 1956, Anscombe 1956).
const half = 0.5

// builtin are the metrics that need no pattern.
func builtin() []Metric {
	return []Metric{Wall, CPU, {Name: "user", Unit: "s"}, {Name: "system", Unit: "s"},
		{Name: "switches", Add: half}, {Name: "faults", Add: half}, {Name: trial.MetricMajorFaults, Add: half},
		{Name: trial.MetricMemory, Unit: "bytes"}, CPUPerCall}
}

// serviceMetric tells which metrics a running service has without a command that measures it: rates
// per second.
func serviceMetric(name string) bool {
	return name == "cpu" || name == "switches" || name == "faults" || name == CPUPerCall.Name
}

// ParseMetric reads wall, cpu, switches, faults, memory …, latency.p99 …, recording:runqueue …, or
// NAME=REGEX[,higher|,lower].
func ParseMetric(text string) (Metric, error) {
	name, direction, _ := strings.Cut(text, ",")
	for _, metric := range builtin() {
		if metric.Name == text {
			return metric, nil
		}
	}
	if strings.HasPrefix(name, latencyPrefix) && !strings.Contains(name, "=") {
		return latencyMetric(name, direction)
	}
	if load.IsMetric(name) && (name == text || direction == "higher" || direction == "lower") {
		metric := Metric{Name: name, Unit: "s", Higher: direction == "higher"}
		if name == trial.MetricThroughput {
			metric.Unit, metric.Higher = "1/s", direction != "lower"
		}
		return metric, nil
	}
	if isRecorded(name) {
		return recordedMetric(name, direction)
	}
	name, pattern, found := strings.Cut(text, "=")
	if !found {
		return Metric{}, fmt.Errorf("metric %q: give wall, cpu, switches, faults, memory, latency.p99, recording:runqueue "+
			"or NAME=REGEX", text)
	}
	metric := Metric{Name: name}
	if rest, ok := strings.CutSuffix(pattern, ",higher"); ok {
		metric.Pattern, metric.Higher = rest, true
	} else {
		metric.Pattern = strings.TrimSuffix(pattern, ",lower")
	}
	if _, err := metric.printed(); err != nil {
		return Metric{}, err
	}
	if metric.Pattern == "" {
		return Metric{}, fmt.Errorf("metric %s has no pattern; write %s=REGEX with the number in parentheses", name, name)
	}
	for _, other := range builtin() {
		if other.Name == name {
			return Metric{}, fmt.Errorf("metric %s is measured by culprit itself; choose another name", name)
		}
	}
	return metric, nil
}

// printed is what to find in a run's output; nil for a metric that is not printed.
func (m Metric) printed() (*trial.Printed, error) {
	if m.Pattern == "" {
		return nil, nil
	}
	printed, err := trial.NewPrinted(m.Name, m.Pattern)
	if err != nil {
		return nil, err
	}
	return &printed, nil
}

// derived adds the metrics that are sums of others.
func derived(metrics map[string]float64) {
	for name, parts := range map[string][2]string{"switches": {trial.MetricVoluntary, trial.MetricInvoluntary},
		"faults": {trial.MetricMinorFaults, trial.MetricMajorFaults}} {
		if value, counted := metrics[parts[0]]; counted {
			metrics[name] = value + metrics[parts[1]]
		}
	}
}
