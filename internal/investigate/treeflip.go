package investigate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"culprit/internal/cause"
	"culprit/internal/host"
	"culprit/internal/knob"
	"culprit/internal/trial"
)

// treeFlip gives processes of the running command another attribute, as soon as they are there.
// Nothing needs to be put back: it is the trial's own tree, and ends with it.
type treeFlip struct {
	level knob.Level
	comm  string // only processes of this name, and not the command itself; "": all
}

// treeInterval is how often the tree is looked through: a program confines itself once, at its
// begin. The first time is as soon as the program has divided its work, among threads or processes,
// for until then no line is shared, and the program has read how many CPUs it may use: it shall
// start as many at both levels.
const (
	treeInterval  = 20 * time.Millisecond
	firstInterval = time.Millisecond
)

// mostOfTree bounds how many processes are looked at.
const mostOfTree = 10_000

// treeFlip plans one: a wider affinity, or a competitor of the command's own that steps back.
func (inv *investigation) treeFlip(declared cause.Flip, suspect *cause.Suspect) (flip, error) {
	side := inv.suffering()
	all := inv.allCPUs()
	switch declared.What {
	case "affinity":
		narrow := inv.factOf(side, "target.affinity")
		if narrow == "" || all == "" || narrow == all || narrow == inv.factOf(otherSide(side), "target.affinity") {
			return flip{}, errNoFlip
		}
		return flip{what: "affinity of its running threads", from: narrow, to: all,
			tree: &treeFlip{level: knob.Level{Name: "affinity", Value: all}}}, nil
	case "affinity one":
		if inv.explained() != trial.MetricCPU {
			return flip{}, errNoFlip // on one CPU they also wait for each other
		}
		return flip{what: "affinity of its running threads", from: all, to: "0", prices: true,
			tree: &treeFlip{level: knob.Level{Name: "affinity", Value: "0"}}}, nil
	case "policy":
		for _, place := range suspect.Places {
			if place.Role == cause.Competitor && slices.Contains(inv.comms, place.Name) {
				return flip{what: "scheduling class of its own " + place.Name, from: "other", to: "idle",
					tree: &treeFlip{level: knob.Level{Name: "policy", Value: "idle"}, comm: place.Name}}, nil
			}
		}
	}
	return flip{}, errNoFlip
}

// allCPUs is what culprit itself may use, and so what a command of its own may be given.
func (inv *investigation) allCPUs() string {
	own, err := knob.Find("affinity", knob.Target{Pid: os.Getpid()})
	if err != nil {
		return ""
	}
	value, err := own.Current()
	if err != nil || strings.Contains(value, ":") {
		return "" // its threads differ
	}
	return value
}

// attach looks through the tree of a run until it ends, at both levels alike; on sets the
// attribute.
func (f *treeFlip) attach(on bool, spec *trial.Spec) {
	stop := make(chan struct{})
	spec.Ready = func(pid int) error {
		launch, err := knob.NewLaunch(f.level)
		if err != nil {
			return err
		}
		go f.keep(pid, launch, on, stop)
		return nil
	}
	spec.Done = func(trial.Run, trial.Window) error {
		close(stop)
		return nil
	}
}

func (f *treeFlip) keep(top int, launch *knob.Launch, on bool, stop <-chan struct{}) {
	begun := time.Now()
	interval, work := firstInterval, division{}
	for {
		select {
		case <-stop:
			return
		case <-time.After(interval):
		}
		tree := host.Tree(top, mostOfTree)
		if interval == firstInterval && time.Since(begun) < treeInterval && !work.seen(tree) {
			continue
		}
		interval = treeInterval
		for _, pid := range tree {
			if on && f.concerns(pid, top) {
				_ = launch.Apply(pid) // it may have ended just now
			}
		}
	}
}

// division tells from look to look whether a program has divided its work: a process has a second
// thread, or two of them run one program, in two looks in a row, for a child that is about to
// execute another one runs its parent's until it does.
type division struct{ twins bool }

func (d *division) seen(tree []int) bool {
	running, twins := map[string]bool{}, false
	for _, pid := range tree {
		if threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)); err == nil && len(threads) > 1 {
			return true
		}
		program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if err != nil || program == shellPath() {
			continue
		}
		twins = twins || running[program]
		running[program] = true
	}
	before := d.twins
	d.twins = twins
	return twins && before
}

// shellPath is the program that commands are handed to, which divides no work itself.
var shellPath = sync.OnceValue(func() string {
	path, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		return "/bin/sh"
	}
	return path
})

func (f *treeFlip) concerns(pid, top int) bool {
	if f.comm == "" {
		return true
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && pid != top && strings.TrimSuffix(string(name), "\n") == f.comm
}
