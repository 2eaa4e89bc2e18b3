package cause

import (
	"fmt"
	"slices"
	"strings"
)

// Rule names what gave, moved or ordered something; `explain --why` prints it.
//
// Thresholds of rules whose comments name no source are chosen: no verdict of the pairs judged in
// docs/ablation.md changes between three quarters and five quarters of them, but for those listed
// there.
type Rule string

// recogniser is a rule that recognises a cause in a scene. It does not see who owns what: which of
// two recognisers that both claim a second gets it is stated by defersTo.
type recogniser struct {
	rule     Rule
	find     func(*scene) []finding
	defersTo []deference
}

// deference states that where both recognise a second, the other rule has it, and why.
type deference struct {
	to      []Rule
	because string
}

// What many rules defer to.
var (
	noCPU = deference{[]Rule{ruleQuota, ruleAffinity, ruleCompetitor, ruleHelper},
		"who waits for a CPU does nothing meanwhile: that is whoever keeps the CPU away"}
	watched = deference{[]Rule{ruleTracer, ruleMonitor, rulePermission},
		"what a tracer or a monitor adds to a call, a fork or a switch is its own"}
	child = deference{[]Rule{ruleShortLived, ruleForks},
		"all that a short-lived process does is the cost of having it"}
	device = deference{[]Rule{ruleIOLimit, ruleSlowDisk},
		"a device that is slow, or not asked in time, makes every wait for it longer"}
	inKernel = deference{[]Rule{ruleReclaim, ruleDirty, ruleJournal, ruleWriteback, ruleInode, rulePageIn, ruleMapLock,
		ruleIOLimit, ruleSlowDisk, ruleFileServer, ruleAnswer, ruleForeign},
		"what a call waits for in the kernel is no cost of making it, whoever makes it"}
	kernelTimer = deference{[]Rule{ruleLoss, ruleDelayed, ruleCork, ruleIOLimit, ruleDirty, rulePageIn},
		"a timer that the kernel set ends no sleep of the program's"}
	timed = deference{[]Rule{ruleTicker, ruleAlarm}, "what a timer has run, runs and takes its locks for the timer"}
)

// rulesOf are the rules of causes, each with all that it defers to: by its own record, or by that
// of a cause that is told before it.
func rulesOf(causes []Cause) (all []recogniser) {
	for _, known := range causes {
		all = append(all, known.Recognise...)
	}
	for _, known := range causes {
		for _, reason := range known.Before {
			var own []Rule
			for _, one := range known.Recognise {
				own = append(own, one.rule)
			}
			for i := range all {
				if slices.Contains(reason.to, all[i].rule) {
					all[i].defersTo = append(slices.Clone(all[i].defersTo), deference{own, reason.because})
				}
			}
		}
	}
	return all
}

// finding is what a recogniser makes out: which paths, and what there is to tell of those that it
// gets.
type finding struct {
	cause ID
	match func(path int) bool
	// stands looks at what the finding got, after those it defers to. It says why it is none after
	// all, "" where it is.
	stands func(*claim) string
	tell   func(*claim)
}

// inOrder sorts recognisers so that each comes after those it defers to. Those without a stated
// relation keep the catalogue's order, which decides nothing: a test of the corpus fails where two
// such recognise the same second. Rules that defer to each other in a circle contradict each other:
// an error.
func inOrder(all []recogniser) ([]recogniser, error) {
	known := map[Rule]int{}
	for i := range all {
		if _, twice := known[all[i].rule]; twice {
			return nil, fmt.Errorf("two recognisers are called %q", all[i].rule)
		}
		known[all[i].rule] = i
	}
	const (
		unseen = iota
		open
		placed
	)
	state, sorted := make([]int, len(all)), make([]recogniser, 0, len(all))
	var way []string
	var place func(i int) error
	place = func(i int) error {
		way = append(way, string(all[i].rule))
		defer func() { way = way[:len(way)-1] }()
		switch state[i] {
		case placed:
			return nil
		case open:
			return fmt.Errorf("rules defer to each other in a circle: %s", strings.Join(way, " → "))
		}
		state[i] = open
		var before []int
		for _, reason := range all[i].defersTo {
			for _, rule := range reason.to {
				other, there := known[rule]
				if !there {
					return fmt.Errorf("%q defers to %q, which no recogniser is called", all[i].rule, rule)
				}
				before = append(before, other)
			}
		}
		slices.Sort(before)
		for _, other := range before {
			if err := place(other); err != nil {
				return err
			}
		}
		state[i], sorted = placed, append(sorted, all[i])
		return nil
	}
	for i := range all {
		if err := place(i); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}
