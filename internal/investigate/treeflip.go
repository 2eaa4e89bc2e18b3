package investigate

import (
	"fmt"
	"os"
	"slices"
	"strings"
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
// begin.
const treeInterval = 20 * time.Millisecond

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
	ticker := time.NewTicker(treeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		seen := 0
		for queue := []int{top}; len(queue) > 0 && seen < mostOfTree; queue = queue[1:] {
			seen++
			queue = append(queue, host.Children(queue[0])...)
			if on && f.concerns(queue[0], top) {
				_ = launch.Apply(queue[0]) // it may have ended just now
			}
		}
	}
}

func (f *treeFlip) concerns(pid, top int) bool {
	if f.comm == "" {
		return true
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && pid != top && strings.TrimSuffix(string(name), "\n") == f.comm
}
