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
	// Findable is the least cost on the metric that decides that would have been told as over, 0.12
	// for 12 %; of one that is undecided, where it can be said.
	Findable float64 `json:"findable,omitempty"`
}

// MonitorExperiment compares a workload without any monitor with itself once more, and with each
// monitor.
//
// A running service is watched for periods with and without; the metric is its CPU time for each
// read and write call where it makes enough of them, else its CPU time in a second, which says
// nothing of one that answers less meanwhile.
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
		if service.CountsCalls() {
			e.Metrics = []Metric{CPUPerCall}
		}
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
			cost.SwitchNS = (cpuForTheSame(&without, &condition) - cpu) / switches * 1e9
		}
		cost.addEffects(result, name)
		o.Monitors = append(o.Monitors, cost)
	}
	return o
}

// cpuForTheSame is the CPU time of a condition for as much work as was done without a monitor.
func cpuForTheSame(without, condition *Summary) float64 {
	calls, counted := without.Metrics[trial.MetricCalls]
	each, has := condition.Metrics[CPUPerCall.Name]
	if counted && has {
		return each.Median * calls.Median
	}
	return condition.Metrics[CPU.Name].Median
}

// addEffects takes over what an experiment says of a monitor.
func (c *MonitorCost) addEffects(result *Result, name string) {
	for _, effect := range result.Effects {
		if effect.Factor == "monitor" && effect.Level == name {
			c.Effects = append(c.Effects, effect)
		}
	}
	if c.Verdict = outcome(c.Effects); c.Verdict == Undecided && len(c.Effects) > 0 {
		c.Findable = findable(&c.Effects[0], result.Allowed)
	}
}

// TooFew tells that an interval lies beyond the budget and is still no verdict: too few blocks
// count.
func (o *Overhead) TooFew(effect Effect) bool {
	return effect.Verdict == Undecided && effect.Low > 1+o.Allowed
}

// findable is the least cost that would have been told as over the budget with an interval as wide
// as this; 0 where no interval is known, or too few blocks count to tell anything.
func findable(effect *Effect, allowed float64) float64 {
	if !(effect.Low > 0) || effect.Low > 1+allowed || !(effect.Ratio > 0) || math.IsInf(effect.Ratio, 0) {
		return 0
	}
	return (1+allowed)*effect.Ratio/effect.Low - 1
}
