package investigate

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"culprit/internal/cause"
	"culprit/internal/host"
	"culprit/internal/knob"
	"culprit/internal/trial"
)

// flip is a planned proof: two levels of one thing, and how to set them.
type flip struct {
	what     string // as the proof calls it
	from, to string
	exact    bool // takes the cause away whole, so that no effect refutes it
	knob     *knob.Knob
	command  string // by restart: what is run at level to
	tree     *treeFlip
	wait     time.Duration // after each flip of a knob
	prices   bool          // its effect is what sharing cache lines costs
	note     string        // for whoever reads the verdict
	pairs    int
}

func (f flip) question() string {
	if f.knob == nil {
		return fmt.Sprintf("Run the command up to %d times more, half of them with %s: %s instead of %s?", 2*f.pairs, f.what,
			f.to, f.from)
	}
	return fmt.Sprintf("Flip %s from %s to %s in up to %d trials to prove it (it is put back)?",
		f.what, f.from, f.to, 2*f.pairs)
}

// errNoFlip says that a flip does not fit this case; the next one may.
var errNoFlip = errors.New("nothing to flip")

// planFlip finds the first flip of a suspect that can be made here. An error that is not errNoFlip
// is worth telling.
func (inv *investigation) planFlip(suspect *cause.Suspect) (flip, error) {
	known, _ := cause.Lookup(cmp.Or(suspect.Tests, suspect.Cause))
	declared := slices.Clone(known.Flips)
	if suspect.Knob != "" { // the matcher knows which setting of the host it is
		declared = []cause.Flip{{Way: cause.BySetting, What: suspect.Knob, Exact: true}}
	}
	var firstErr error = errNoFlip
	for _, each := range declared {
		planned, err := inv.resolve(each, suspect)
		if err == nil {
			planned.exact = each.Exact
			planned.prices = planned.prices && known.ID != cause.CPUContended
			return planned, nil
		}
		if errors.Is(firstErr, errNoFlip) {
			firstErr = err
		}
	}
	return flip{}, firstErr
}

func (inv *investigation) resolve(declared cause.Flip, suspect *cause.Suspect) (flip, error) {
	switch {
	case declared.Way == cause.ByRestart:
		return inv.restartFlip(declared)
	case declared.Way == cause.ByTree:
		return inv.treeFlip(declared, suspect)
	case declared.What == "cgroup.io":
		return inv.throttleFlip()
	case strings.HasPrefix(declared.What, "cgroup."):
		return inv.groupFlip(declared.What)
	}
	return inv.hostFlip(declared.What)
}

// hostFlip flips a setting of the host to the best of its other values.
func (inv *investigation) hostFlip(name string) (flip, error) {
	found, err := knob.Find(name, knob.Target{})
	if err != nil {
		return flip{}, err
	}
	current, err := found.Current()
	if err != nil {
		return flip{}, err
	}
	allowed, err := found.Allowed()
	if err != nil {
		return flip{}, err
	}
	if err := inv.settledByCommands(name); err != nil {
		return flip{}, err
	}
	allowed = slices.DeleteFunc(allowed, func(value string) bool { return value == current })
	if len(allowed) == 0 {
		return flip{}, fmt.Errorf("this host offers no other %s than %s", name, current)
	}
	// The kernel lists clock sources best first.
	return flip{what: name, knob: &found, from: current, to: allowed[0], wait: found.WashOut()}, nil
}

// knobFacts are the facts of settings of the host that have another name than their knob.
var knobFacts = map[string]string{"clocksource": host.FactClockSource}

// settledByCommands refuses a flip that the commands would undo. Both sides ran on one host in
// random order: a setting that differs between them is their own doing.
func (inv *investigation) settledByCommands(name string) error {
	fact, known := knobFacts[name]
	if !known {
		fact = name
	}
	const advice = "so that a flip before they start would be undone; let the commands leave it alone and vary it with " +
		"`culprit try --vary %s=…`"
	a, b := inv.factOf(sideA, fact), inv.factOf(sideB, fact)
	if a != "" && b != "" && a != b {
		return fmt.Errorf("the commands set %s themselves (%s on side A, %s on side B), "+advice, name, a, b, name)
	}
	seen := inv.factOf(inv.suffering(), host.FactClockSourcesSeen)
	if fact == host.FactClockSource && seen != "" {
		return fmt.Errorf("%s changed while the command ran (%s), "+advice, name, strings.Join(strings.Fields(seen), ", "),
			name)
	}
	return nil
}

// errUndone says that a setting was another one after a trial than the one that the trial was
// started with.
var errUndone = errors.New("a command, or somebody else, sets it too")

// now is the setting as it reads, "" where nothing is set or it cannot be read.
func (f flip) now() string {
	if f.knob == nil {
		return ""
	}
	value, err := f.knob.Current()
	if err != nil {
		return "" // the next flip, or putting it back, tells why
	}
	return value
}

// restartFlip starts the suffering side's command with the other side's settings.
func (inv *investigation) restartFlip(declared cause.Flip) (flip, error) {
	suffering := inv.suffering()
	other := ""
	if inv.c.B != nil {
		other = inv.options.command(otherSide(suffering))
	}
	text, from, to, err := restarted(inv.options.command(suffering), other, declared)
	if err != nil {
		return flip{}, err
	}
	planned := flip{what: "restart with another " + declared.What, from: from, to: to, command: text}
	if declared.What == cause.PartHead {
		planned.what = "restart with the other side's settings"
	}
	if strings.Join(strings.Fields(text), " ") == strings.Join(strings.Fields(other), " ") {
		planned.note = "started so it is the other command: this says what is to blame, not how it costs"
	}
	return planned, nil
}

func otherSide(side string) string {
	if side == sideB {
		return sideA
	}
	return sideB
}

// groupFlip lifts a limit of the cgroup that the suffering side ran in, or of one above it.
func (inv *investigation) groupFlip(name string) (flip, error) {
	controller := strings.Split(name, ".")[1]
	folder := inv.groupOf(inv.suffering(), controller)
	if folder == "" || folder == "/" {
		return flip{}, errNoFlip
	}
	for ; folder != "/" && folder != "."; folder = path.Dir(folder) {
		found, err := knob.Find(name, knob.Target{Cgroup: folder})
		if err != nil {
			return flip{}, fmt.Errorf("cgroup %s: %w", folder, err)
		}
		current, err := found.Current()
		if err != nil {
			return flip{}, err
		}
		lifted, limited := inv.lifted(name, current, folder)
		if !limited {
			continue
		}
		if err := found.Check(lifted); err != nil {
			return flip{}, err
		}
		planned := flip{what: name + " of cgroup " + folder, knob: &found, from: current, to: lifted}
		if strings.HasPrefix(name, "cgroup.memory") {
			planned.wait = found.WashOut()
		}
		return planned, nil
	}
	return flip{}, errNoFlip
}

// lifted is a limit out of the way; limited is false where there is none.
func (inv *investigation) lifted(name, current, folder string) (value string, limited bool) {
	switch name {
	case "cgroup.cpu.max":
		quota, period, _ := strings.Cut(current, " ")
		return "max " + period, quota != "max"
	case "cgroup.cpuset.cpus":
		above, err := knob.Find(name, knob.Target{Cgroup: path.Dir(folder)})
		if err != nil {
			return "", false
		}
		all, err := above.Current()
		return all, err == nil && all != "" && all != current
	}
	const noLimitFrom = 1 << 60 // version 1 has a number for no limit
	bytes, err := strconv.ParseFloat(current, 64)
	return "max", err == nil && bytes < noLimitFrom
}

// groupOf is the path of a side's cgroup for a controller, "" when it is not known or culprit is in
// it too.
func (inv *investigation) groupOf(side, controller string) string {
	found := ""
	for name, value := range inv.facts[side] {
		rest, is := strings.CutPrefix(name, "target.cgroup.path")
		if is && rest == "" && found == "" {
			found = value // version 2
		}
		if is && slices.Contains(strings.Split(strings.TrimPrefix(rest, "."), ","), controller) {
			found = value
		}
	}
	for _, fact := range host.Facts("/") {
		if strings.HasPrefix(fact.Name, "cgroup.path") && fact.Value == found {
			if _, ours := strings.CutSuffix(fact.Name, controller); ours || fact.Name == "cgroup.path" {
				return "" // its limits hold for culprit as well
			}
		}
	}
	return found
}

func (inv *investigation) factOf(side, name string) string { return inv.facts[side][name] }

// ready makes a trial of a flip: it changes how the command is started.
func (f flip) ready(level string, spec *trial.Spec) {
	spec.Level = level
	switch {
	case f.tree != nil:
		f.tree.attach(level == f.to, spec)
	case f.command != "" && level == f.to:
		spec.Command = f.command
	}
}
