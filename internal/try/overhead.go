package try

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"culprit/internal/trial"
)

// OverheadSchema names the JSON document of what monitors cost.
const OverheadSchema = "culprit.overhead/1"

// NoMonitor is the level without any.
const NoMonitor = "none"

// Overhead is what monitors cost a workload.
type Overhead struct {
	Schema     string        `json:"schema"`
	Outcome    string        `json:"outcome"` // over, within or undecided
	Allowed    float64       `json:"budget"`  // 0.03 for 3 %
	Monitors   []MonitorCost `json:"monitors"`
	Experiment *Result       `json:"experiment"`
}

// MonitorCost is what one monitor costs.
type MonitorCost struct {
	Monitor  string   `json:"monitor"`
	Verdict  string   `json:"verdict"` // over when it is on any metric
	Effects  []Effect `json:"effects"`
	OwnCPUS  float64  `json:"own_cpu_s"` // CPU time of the monitor itself, a run
	OwnShare float64  `json:"own_share"` // of the workload's CPU time without it
	// SwitchNS is the CPU time more for each context switch of the workload; null with few.
	SwitchNS float64 `json:"per_switch_ns"`
}

// MonitorExperiment compares a workload without any monitor with itself once more, and with each
// monitor.
//
// A running service is watched for periods with and without; metrics are those that its load leaves
// alone but for the monitor: its CPU time where none is given.
func MonitorExperiment(command Command, service *Service, monitors []string, allowed float64) (Experiment, error) {
	if len(monitors) == 0 {
		return Experiment{}, errors.New("no monitor; give --monitor CMD, with {pid} where it wants the workload's process")
	}
	if !(allowed > 0) || allowed > 1 {
		return Experiment{}, fmt.Errorf("budget %v: give what a monitor may cost, above 0 and up to 100%%, for example 3%%",
			allowed)
	}
	factor := Factor{Name: "monitor", Kind: KindMonitor, Levels: []Level{{Name: NoMonitor}}}
	for _, monitor := range monitors {
		if strings.TrimSpace(monitor) == "" {
			return Experiment{}, errors.New("a monitor is empty; give --monitor CMD")
		}
		factor.Levels = append(factor.Levels, Level{Name: monitor, Value: monitor})
	}
	e := Experiment{Command: command, Factors: []Factor{factor}, Design: Blocks, Control: true, Allowed: allowed,
		Metrics: []Metric{Wall, CPU}}
	if service != nil {
		e.Service, e.Design, e.Metrics = service, Switchback, []Metric{CPU}
	}
	return e, nil
}

// switchesLeast is from how many context switches a run a cost for each makes sense.
const switchesLeast = 100

// OverheadOf reads what each monitor costs out of the experiment's result.
func OverheadOf(result *Result) *Overhead {
	o := &Overhead{Schema: OverheadSchema, Outcome: result.Outcome, Allowed: result.Allowed, Experiment: result,
		Monitors: []MonitorCost{}}
	var without Summary
	for _, condition := range result.Conditions {
		if condition.Levels["monitor"] == NoMonitor && !condition.Control {
			without = condition
		}
	}
	for _, condition := range result.Conditions {
		name := condition.Levels["monitor"]
		if name == NoMonitor {
			continue
		}
		cost := MonitorCost{Monitor: name, Effects: []Effect{}, OwnCPUS: condition.Metrics[metricMonitorCPU].Median,
			SwitchNS: math.NaN()}
		cpu := without.Metrics[CPU.Name].Median
		if used := without.Metrics[trial.MetricServerCPU].Median; used > 0 { // the other is of one request
			cost.OwnShare = cost.OwnCPUS / used
			cost.addEffects(result, name)
			o.Monitors = append(o.Monitors, cost)
			continue
		}
		cost.OwnShare = cost.OwnCPUS / cpu
		if switches := without.Metrics["switches"].Median; switches >= switchesLeast {
			cost.SwitchNS = (condition.Metrics[CPU.Name].Median - cpu) / switches * 1e9
		}
		cost.addEffects(result, name)
		o.Monitors = append(o.Monitors, cost)
	}
	return o
}

// addEffects takes over what an experiment says of a monitor.
func (c *MonitorCost) addEffects(result *Result, name string) {
	for _, effect := range result.Effects {
		if effect.Factor == "monitor" && effect.Level == name {
			c.Effects = append(c.Effects, effect)
		}
	}
	c.Verdict = outcome(c.Effects)
}
