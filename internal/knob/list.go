package knob

import (
	"fmt"
	"path/filepath"
	"strings"
)

// family makes the knob of a name, if it is one of its own. An error means that
// the name is its own and cannot be used here, in one line.
type family func(name string, target Target) (knob Knob, ours bool, err error)

// families are asked in order.
//
// To add a knob: a file of its own (clocksource.go is the pattern: a file below
// the root, its values, what is known of it), one line here, and a test on a
// fixture tree that refuses a value and sees the original come back. A setting
// that cannot be set back (audit, a one-way switch) must not become a knob.
func families() []family {
	return []family{
		refuseOneWay,
		findClockSource,
		findHugePages,
		findCPU,
		findInterrupt,
		findBlock,
		findBacking,
		findGroup,
		findMount,
		findAttribute,
		findTogether,
		findSysctl,
	}
}

// Find returns the knob of a name as users type it: "clocksource", "thp",
// "vm.dirty_expire_centisecs", "affinity". Knobs of processes need a target with
// a pid, those of cgroups one with a cgroup or a pid.
func Find(name string, target Target) (Knob, error) {
	knob, err := lookup(name, target)
	if err != nil {
		return Knob{}, err
	}
	if _, err := knob.Current(); err != nil {
		return Knob{}, fmt.Errorf("find knob %s: it cannot be read here: %w", name, err)
	}
	return knob, nil
}

// lookup finds a knob without reading it: what it changed may be gone.
func lookup(name string, target Target) (Knob, error) {
	target = target.rooted()
	if len(name) > nameLimit || strings.ContainsAny(name, "\x00\n") {
		return Knob{}, fmt.Errorf("find knob %.60q: %w", name, ErrUnknown)
	}
	for _, ask := range families() {
		knob, ours, err := ask(name, target)
		if err != nil {
			return Knob{}, fmt.Errorf("find knob %s: %w", name, err)
		}
		if ours {
			return knob, nil
		}
	}
	return Knob{}, fmt.Errorf("find knob %q: %w: see `culprit try --help` or docs/reference/knobs.md, such as %s", name,
		ErrUnknown, "clocksource thp vm.swappiness")
}

// nameLimit is the longest name of a knob: a mount point may be part of it.
const nameLimit = 512

// rooted fills in what the zero value means.
func (target Target) rooted() Target {
	if target.Root == "" {
		target.Root = "/"
	}
	if absolute, err := filepath.Abs(target.Root); err == nil {
		target.Root = absolute
	}
	return target
}
