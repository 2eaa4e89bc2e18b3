package trial

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Spec is one run to be made: the command and what is wanted from it.
type Spec struct {
	Side  string // "A" or "B"
	Pair  int
	Order int
	Kind  string // one of the Kind* constants
	Level string // proof trials: the knob's level

	Command string        // for /bin/sh -c; handed over as an argument, never pasted into a script
	Direct  string        // the same without a shell that waits for it, to be run in place of Command; "": none
	Dir     string        // working directory, "" for culprit's own
	Env     []string      // NAME=value, added to culprit's own environment
	Timeout time.Duration // 0 for none
	Printed []Printed     // numbers to find in what the command prints

	// Load makes the command a server: it is started, loaded by another command, and stopped. The
	// run's metrics are then those of the server while it was loaded. Nil: the command ends by
	// itself.
	Load *Load

	CaseDir string // outputs go to CaseDir/OutDir
	OutDir  string // relative to CaseDir; "runs" when empty
	// MaxOutputBytes bounds each file, 0 is 1 GiB. A run that prints more fails: a full disk spoils
	// every later run.
	MaxOutputBytes int64

	// Ready is called while the command is held at the gate; pid is the process that will become
	// the command's shell and the leader of its process group. An error ends the run before the
	// command has begun.
	Ready func(pid int) error
	// Done is called after the whole tree is gone, also when the command failed, unless Ready
	// returned an error. It gets the run as it was measured; one that was not released has a Window
	// without times. Of a server it is called after each load, before the server is stopped.
	Done func(Run, Window) error

	what string // what the command is in messages, "" for the command itself
}

// Window is the time in which the command ran.
type Window struct {
	Pid    int
	Opened time.Time // the gate opened
	Ended  time.Time // the command's process ended
}

// Printed is a metric that the command prints: Pattern's first group is the number, the last match
// counts.
type Printed struct {
	Name    string
	Pattern *regexp.Regexp
}

// ownMetrics are the names that a printed metric may not take.
var ownMetrics = []string{MetricWall, MetricCPU, MetricUser, MetricSystem, MetricVoluntary, MetricInvoluntary,
	MetricMinorFaults, MetricMajorFaults, MetricMemory}

// NewPrinted checks and compiles a printed metric. Lines are matched one by one for ^ and $.
func NewPrinted(name, pattern string) (Printed, error) {
	if name == "" || strings.ContainsAny(name, " \t\n=,") {
		return Printed{}, fmt.Errorf("read metric %q: a name has no spaces, commas or equal signs", name)
	}
	if slices.Contains(ownMetrics, name) || slices.Contains(loadMetrics, name) {
		return Printed{}, fmt.Errorf("read metric %q: culprit measures that itself; choose another name", name)
	}
	compiled, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return Printed{}, fmt.Errorf("read metric %s: pattern %q: %s", name, pattern, oneLine(err.Error(), 200))
	}
	if compiled.NumSubexp() < 1 {
		return Printed{}, fmt.Errorf("read metric %s: pattern %q has no group; put the number in parentheses, "+
			"such as %s=(\\d+)", name, pattern, name)
	}
	return Printed{Name: name, Pattern: compiled}, nil
}

// find returns the number of the last match in text.
func (p Printed) find(text string) (float64, error) {
	matches := p.Pattern.FindAllStringSubmatch(text, -1)
	if len(matches) == 0 {
		return 0, notPrinted{fmt.Errorf("find metric %s: nothing printed matches %q", p.Name,
			strings.TrimPrefix(p.Pattern.String(), "(?m)"))}
	}
	group := strings.TrimSpace(matches[len(matches)-1][1])
	value, err := strconv.ParseFloat(group, 64)
	if err != nil || value != value || value > maxPrinted || value < -maxPrinted {
		return 0, notPrinted{fmt.Errorf("find metric %s: %q is not a number", p.Name, oneLine(group, 60))}
	}
	return value, nil
}

// ErrNotPrinted is what a run gives whose command ends well but does not print its metric.
var ErrNotPrinted = errors.New("the command does not print its metric")

type notPrinted struct{ error }

func (notPrinted) Is(target error) bool { return target == ErrNotPrinted }

// maxPrinted keeps infinities and numbers whose ratios would overflow out of the statistics.
const maxPrinted = 1e300

// check refuses what cannot be run, naming the part that is wrong.
func (s Spec) check() error {
	switch {
	case strings.TrimSpace(s.Command) == "":
		return fmt.Errorf("run %s: the command is empty", s.Side)
	case strings.ContainsRune(s.Command, 0):
		return fmt.Errorf("run %s: the command holds a zero byte", s.Side)
	case s.CaseDir == "":
		return errors.New("run command: no case directory given")
	case s.Timeout < 0:
		return fmt.Errorf("run %s: timeout %s is negative", s.Side, s.Timeout)
	}
	if err := s.Load.Check(s.Command); err != nil {
		return fmt.Errorf("run %s: %w", s.Side, err)
	}
	if s.Dir == "" {
		return nil
	}
	info, err := os.Stat(s.Dir)
	if err != nil {
		return fmt.Errorf("enter directory of %s: %w", s.Side, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("enter directory of %s: %s is not a directory", s.Side, s.Dir)
	}
	return nil
}
