package try

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"culprit/internal/trial"
)

// Design says which conditions are compared and in what order.
type Design string

// The designs. In all of them each block holds its conditions once, in random order.
const (
	// Blocks tries the baseline, and each other level with everything else at its baseline.
	Blocks     Design = "blocks"
	One        Design = "one"        // the same conditions, but one factor after the other
	Factorial  Design = "factorial"  // all combinations of all levels
	Switchback Design = "switchback" // on a running service: a period for each level
)

// Experiment is what to try, resolved. It stands in the case directory, so that a killed one can be
// resumed.
type Experiment struct {
	Schema  string   `json:"schema"`
	Program string   `json:"program,omitempty"` // name and version of culprit
	Command Command  `json:"command"`
	Factors []Factor `json:"factors"`
	Design  Design   `json:"design"`
	// Control runs the baseline once more under another name: what differs is chance.
	Control bool `json:"control"`
	// Trials bounds those of each condition; 0: as many as the budget holds.
	Trials  int           `json:"trials"`
	Budget  time.Duration `json:"budget_ns"`
	Timeout time.Duration `json:"timeout_ns"` // of one run; 0: the budget
	Seed    int64         `json:"seed"`
	Metrics []Metric      `json:"metrics"` // these decide
	Latency *Latency      `json:"latency,omitempty"`
	// Smallest is the smallest difference that counts, 0.02 for 2 %.
	Smallest float64 `json:"smallest"`
	// Allowed is what a monitor may cost, 0.03 for 3 %; 0: a comparison.
	Allowed float64  `json:"allowed,omitempty"`
	Service *Service `json:"service,omitempty"`
	// Load makes the command a server, on which this is put in each trial.
	Load *trial.Load `json:"load,omitempty"`
	// WashOut is how long to wait after a setting was flipped before a command starts; nil: what
	// the setting needs.
	WashOut *time.Duration `json:"wash_out_ns,omitempty"`
	// Planned is for each stage the most blocks that its looks were laid out for; set once the time
	// of a block is known.
	Planned []int `json:"planned,omitempty"`
}

// designSchema names the file experiment.json of a case directory.
const designSchema = "culprit.design/1"

// Service is a process or cgroup that runs already.
type Service struct {
	Pid int `json:"pid,omitempty"`
	// Born is the start of the process in ticks since boot: its number may be used again.
	Born   string `json:"born,omitempty"`
	Cgroup string `json:"cgroup,omitempty"`
	// Measure is a command that is run in each period; "": only what the kernel counts.
	Measure string `json:"measure,omitempty"`
	// Counter says that Measure prints a number that only grows: its rate counts.
	Counter bool          `json:"counter,omitempty"`
	Period  time.Duration `json:"period_ns"`
	WashOut time.Duration `json:"wash_out_ns"` // dropped at the start of each period
}

// The limits of an experiment: each further comparison takes from the certainty of all.
const (
	maxConditions  = 64
	maxComparisons = 128
	maxFactors     = 16
)

// Check names what makes no sense before anything is done.
func (e Experiment) Check() error {
	switch {
	case len(e.Factors) == 0:
		return errors.New("nothing to vary; give --vary NAME=V1,V2")
	case len(e.Factors) > maxFactors:
		return fmt.Errorf("%d factors are too many; give at most %d", len(e.Factors), maxFactors)
	case e.Budget <= 0:
		return fmt.Errorf("budget %v is not positive; give for example --budget 60s", e.Budget)
	case e.Timeout < 0:
		return fmt.Errorf("timeout %v is negative", e.Timeout)
	case e.WashOut != nil && (*e.WashOut < 0 || *e.WashOut > time.Hour):
		return fmt.Errorf("wash-out %v: give 0s to 1h", *e.WashOut)
	case e.Trials < 0 || e.Trials == 1:
		return fmt.Errorf("%d trials of each level cannot be compared; give 2 or more, 7 or more to decide", e.Trials)
	case !(e.Smallest > 0) || e.Smallest > 1 || math.IsNaN(e.Smallest):
		return fmt.Errorf("smallest difference %v: give a part above 0 and up to 1, for example 2%%", e.Smallest)
	case len(e.Metrics) == 0:
		return errors.New("no metric; give for example --metric wall")
	}
	for _, check := range []func() error{e.checkDesign, e.checkFactors, e.checkMetrics, e.checkCommand, e.checkLoad} {
		if err := check(); err != nil {
			return err
		}
	}
	layout, err := layOut(e)
	if err != nil {
		return err
	}
	if len(layout.conditions) > maxConditions {
		return fmt.Errorf("%d conditions are too many; vary fewer levels, at most %d conditions", len(layout.conditions),
			maxConditions)
	}
	if count := layout.comparisons() * len(e.Metrics); count > maxComparisons {
		return fmt.Errorf("%d comparisons are too many; vary fewer levels or give fewer metrics, at most %d together",
			count, maxComparisons)
	}
	return nil
}

func (e Experiment) checkDesign() error {
	switch e.Design {
	case Blocks, One, Factorial:
		if e.Service != nil {
			return fmt.Errorf("design %s runs a command of its own; a running service takes --design switchback", e.Design)
		}
		return nil
	case Switchback:
		return e.checkService()
	}
	return fmt.Errorf("design %q: give one, factorial, blocks or switchback", e.Design)
}

func (e Experiment) checkService() error {
	service := e.Service
	switch {
	case service == nil || service.Pid == 0 && service.Cgroup == "":
		return errors.New("design switchback watches a running service; give -p PID or --cgroup PATH")
	case service.Pid != 0 && service.Cgroup != "":
		return errors.New("give only one of -p PID and --cgroup PATH")
	case !e.Command.empty():
		return errors.New("design switchback starts no command; what measures it goes to --measure CMD")
	case service.Period < 50*time.Millisecond || service.Period > time.Hour:
		return fmt.Errorf("period %v: give 50ms to 1h, for example --period 2s", service.Period)
	case service.WashOut < 0 || service.WashOut >= service.Period:
		return fmt.Errorf("wash-out %v does not fit into the period of %v", service.WashOut, service.Period)
	}
	if service.Pid != 0 {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", service.Pid)); err != nil || service.Pid < 0 {
			return fmt.Errorf("no process %d; give the number of one that runs", service.Pid)
		}
		if service.Born != "" && service.Born != born(service.Pid) {
			return fmt.Errorf("process %d is not the one that was watched: that has ended; begin a new experiment", service.Pid)
		}
		return nil
	}
	if _, err := os.Stat(filepath.Join(service.Cgroup, "cgroup.procs")); err != nil {
		return fmt.Errorf("%s is no cgroup; give its folder below /sys/fs/cgroup", service.Cgroup)
	}
	return nil
}

func (e Experiment) checkFactors() error {
	seen := map[string]bool{}
	if !slices.ContainsFunc(e.Factors, func(factor Factor) bool { return !factor.held() }) {
		return fmt.Errorf("%s has 1 level; give two or more, the baseline first: with one each nothing is compared",
			e.Factors[0].Name)
	}
	for _, factor := range e.Factors {
		if seen[factor.Name] {
			return fmt.Errorf("%s is varied twice; give all its levels at once", factor.Name)
		}
		seen[factor.Name] = true
		if err := factor.check(); err != nil {
			return err
		}
		if e.Service != nil && factor.Kind != KindKnob && factor.Kind != KindMonitor {
			return fmt.Errorf("%s cannot be varied on a running service: only settings of the host can", factor.Name)
		}
	}
	return nil
}

func (e Experiment) checkMetrics() error {
	seen := map[string]bool{}
	for _, metric := range e.Metrics {
		if seen[metric.Name] {
			return fmt.Errorf("metric %s is given twice", metric.Name)
		}
		seen[metric.Name] = true
		if strings.HasPrefix(metric.Name, latencyPrefix) && e.Latency == nil {
			return fmt.Errorf("metric %s needs to know where latencies come from; give --latency", metric.Name)
		}
		if _, err := metric.printed(); err != nil {
			return err
		}
		if isRecorded(metric.Name) {
			if _, err := parseRecorded(metric.Name); err != nil {
				return err
			}
			continue
		}
		if err := e.checkServiceMetric(metric); err != nil {
			return err
		}
	}
	if e.Latency != nil {
		return e.Latency.check(e.Metrics)
	}
	return nil
}

func (e Experiment) checkServiceMetric(metric Metric) error {
	printed := metric.Pattern != "" || strings.HasPrefix(metric.Name, latencyPrefix)
	switch {
	case e.Service == nil && metric.Name == CPUPerCall.Name:
		return fmt.Errorf("metric %s is of a running service; give cpu", metric.Name)
	case e.Service == nil:
	case printed && e.Service.Measure == "":
		return fmt.Errorf("metric %s is printed by nothing; give --measure CMD", metric.Name)
	case !printed && e.Service.Cgroup != "" && metric.Name != CPU.Name:
		return fmt.Errorf("metric %s is not counted of a cgroup; give cpu, recording:%s, or NAME=REGEX with "+
			"--measure CMD", metric.Name, metric.Name)
	case !printed && !serviceMetric(metric.Name):
		return fmt.Errorf("metric %s is not known of a running service; give cpu, cpu_per_call, switches or faults, "+
			"recording:runqueue …, or NAME=REGEX with --measure CMD", metric.Name)
	}
	return nil
}

func (e Experiment) checkCommand() error {
	if e.Service != nil {
		return nil
	}
	if e.Command.empty() && e.variant() == nil {
		return errors.New("no command; give it after --")
	}
	if !e.Command.empty() && e.variant() != nil {
		return errors.New("factor variant holds whole commands; give none after --, or use a {placeholder} in it")
	}
	for _, factor := range e.Factors {
		if factor.Kind == KindPlaceholder && !e.Command.has(factor.Name) {
			return fmt.Errorf("the command has no {%s}", factor.Name)
		}
	}
	return nil
}

// variant is the factor whose levels are whole commands, nil when there is none.
func (e Experiment) variant() *Factor {
	for i := range e.Factors {
		if e.Factors[i].Kind == KindVariant {
			return &e.Factors[i]
		}
	}
	return nil
}
