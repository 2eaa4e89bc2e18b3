package investigate

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"culprit/internal/load"
	"culprit/internal/record"
	"culprit/internal/trial"
)

// Prove says whether a knob of the host may be flipped to prove a suspect.
type Prove string

// The three choices: ask before each flip, flip, never flip.
const (
	ProveAsk  Prove = "ask"
	ProveAuto Prove = "auto"
	ProveNone Prove = "none"
)

// UsualBudget is enough for commands that take up to two seconds, MostBudget, to which it may grow,
// for those that take a quarter of a minute. See docs/decisions/0025-the-budget-grows.md.
const (
	UsualBudget = time.Minute
	MostBudget  = 6 * time.Minute
)

// Options are what a user asks for, resolved.
type Options struct {
	A, B   string        // shell commands; B empty: one-sided
	Budget time.Duration // of the whole investigation
	// MayGrow allows a Budget that nobody asked for to grow to MostBudget where runs take long.
	MayGrow  bool
	Timeout  time.Duration // of one run; 0: what is left of the budget
	Metric   MetricChoice
	Smallest float64 // smallest difference that counts, 0.02 for 2 %
	Case     string  // directory to make
	Seed     int64
	Prove    Prove
	Program  string // name and version of culprit
	// Confirm has debug registers watch the cache lines that threads of recorded runs seem to
	// share.
	Confirm bool
	// Allocations remembers where heap blocks of recorded runs are allocated, for words of shared
	// cache lines.
	Allocations bool
	// Counters are events to count in recorded runs, as record.Options has them; CPI samples these
	// by cycles and by instructions.
	Counters string
	CPI      bool
	// Load makes the commands servers: this is put on each of them. Nil: they end by themselves.
	Load *trial.Load
	// Target is what runs already, instead of commands; zero: none.
	Target record.Target
	// TargetB is the other side where both run already.
	TargetB record.Target
	// Earlier is the other side where one runs already and the other was recorded before; nil:
	// none.
	Earlier *Earlier

	// Ask puts a question to the user when Prove is ProveAsk; nil means no.
	Ask func(question string) bool
	// Progress is told what is being done and how far the budget is used.
	Progress func(stage string)
	// Found is told what the case holds by now and how many pairs count: after each look at the
	// trials, and whenever suspects are named or proven. It must not keep or change the case. Nil
	// is allowed.
	Found func(c *Case, pairs int)
	// Grown is told what the budget has grown to, and why; more than once. Nil is allowed.
	Grown func(budget time.Duration, why string)
	// Blind is told why nothing can be recorded, where that is so: once the commands are known to
	// run. Nil is allowed.
	Blind func(why error)
	// Write puts what people and machines read into the finished case directory.
	Write func(dir string, c *Case) error
}

// MetricChoice is what to test: wall and CPU time, one of them, or a number that the command
// prints.
type MetricChoice struct {
	Auto    bool
	Name    string
	Higher  bool // higher is better
	Printed *trial.Printed
}

// ParseMetric reads auto, wall, cpu or NAME=REGEX[,higher|,lower].
func ParseMetric(text string) (MetricChoice, error) {
	switch text {
	case "auto":
		return MetricChoice{Auto: true}, nil
	case trial.MetricWall, trial.MetricCPU:
		return MetricChoice{Name: text}, nil
	}
	if load.IsMetric(text) {
		return MetricChoice{Name: text, Higher: text == trial.MetricThroughput}, nil
	}
	name, pattern, found := strings.Cut(text, "=")
	if !found {
		return MetricChoice{}, fmt.Errorf("metric %q: give auto, wall, cpu or NAME=REGEX; of a load also latency, "+
			"throughput, p50, p99, p99.9 …", text)
	}
	choice := MetricChoice{Name: name}
	if rest, ok := strings.CutSuffix(pattern, ",higher"); ok {
		pattern, choice.Higher = rest, true
	} else {
		pattern = strings.TrimSuffix(pattern, ",lower")
	}
	printed, err := trial.NewPrinted(name, pattern)
	if err != nil {
		return MetricChoice{}, err
	}
	choice.Printed = &printed
	return choice, nil
}

// higherIsBetter is the direction of a metric such as a throughput.
const higherIsBetter = "higher"

// Names are the metrics to test.
func (m MetricChoice) Names() []string {
	if m.Auto {
		return []string{trial.MetricWall, trial.MetricCPU}
	}
	return []string{m.Name}
}

// Of describes one of them.
func (m MetricChoice) Of(name string) Metric {
	switch {
	case name == trial.MetricThroughput && m.Printed == nil:
		return Metric{Name: name, Unit: "/s", Better: higherIsBetter}
	case m.Printed == nil:
		return Metric{Name: name, Unit: "s", Better: "lower"}
	case m.Higher:
		return Metric{Name: name, Better: higherIsBetter}
	}
	return Metric{Name: name, Better: "lower"}
}

// check names what makes no sense before anything is done.
func (o Options) check() error {
	if err := o.checkTarget(); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(o.A) == "" && o.Target.Kind == "":
		return errors.New("no command A; give --a CMD --b CMD, or one command after --")
	case o.Load != nil && o.Target.Kind != "":
		return errors.New("a load is put on servers that culprit starts; give --a and --b, or one command after --")
	case o.Load == nil && load.IsMetric(o.Metric.Name) && !o.livePair():
		return fmt.Errorf("metric %s is one of a load; give --load CMD", o.Metric.Name)
	case o.Budget <= 0:
		return fmt.Errorf("budget %v is not positive; give for example --budget 60s", o.Budget)
	case o.Timeout < 0:
		return fmt.Errorf("timeout %v is negative", o.Timeout)
	case !(o.Smallest > 0) || o.Smallest > 1 || math.IsNaN(o.Smallest):
		return fmt.Errorf("smallest difference %v: give a part above 0 and up to 1, for example 0.02", o.Smallest)
	case o.Case == "":
		return errors.New("no case directory; give --case DIR")
	}
	switch o.Prove {
	case ProveAsk, ProveAuto, ProveNone:
		return nil
	}
	return fmt.Errorf("prove %q: give ask, auto or none", o.Prove)
}

// sides are the labels and commands in order.
func (o Options) sides() []string {
	if o.B == "" && !o.livePair() {
		return []string{sideA}
	}
	return []string{sideA, sideB}
}

func (o Options) command(side string) string {
	if side == sideB {
		return o.B
	}
	return o.A
}

const (
	sideA = "A"
	sideB = "B"
)

// partial is where a case grows: the case directory itself appears only when it is complete.
func (o Options) partial() string { return filepath.Clean(o.Case) + ".partial" }
