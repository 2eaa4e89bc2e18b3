// Package knob holds the settings of a host and of a process tree that an
// experiment can flip, and makes sure that nothing stays flipped: every change
// is journaled to disk before it is written, verified by reading it back, and
// restored in reverse order by its owner, by a guardian process when the owner
// is killed, or by `culprit restore` and the next start after anything else.
// What an experiment makes (mounts, loop devices, cgroups: see Thing) is
// journaled and undone in the same way.
//
// It refuses values that the kernel does not offer, settings that cannot be put
// back, a host that another culprit is changing, journals that others could have
// written, and to overwrite what somebody else changed meanwhile (see
// Change.Restore for the rule).
//
//	clock, err := knob.Find("clocksource", knob.Target{})
//	change, err := knob.Begin(ctx, clock)
//	if err != nil {
//		return err
//	}
//	defer change.Restore()
//	err = change.Set("clocksource", "kvm-clock")
package knob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Target says whose knobs are meant. The zero value is the host itself.
type Target struct {
	Root   string `json:"root,omitempty"`   // of the machine's files, "" for "/"; tests give a fixture's
	Pid    int    `json:"pid,omitempty"`    // the top of a process tree, for knobs of processes
	Cgroup string `json:"cgroup,omitempty"` // a cgroup as in /proc/PID/cgroup or its folder, for knobs of cgroups
	// Born keeps a pid from meaning another process later: ticks since boot. Find fills it in.
	Born uint64 `json:"born,omitempty"`
}

// Effect says when a value that was set is in force.
type Effect string

// The effects.
const (
	AtOnce       Effect = "at once"
	NewProcesses Effect = "new processes" // those that run keep what they have
	Remount      Effect = "remount"       // at once, and the file system is remounted for it
)

// About is what is known of a knob beside its values.
type About struct {
	Text    string        // what it is, in a few words
	Effect  Effect        // when a value is in force
	WashOut time.Duration // how long after a flip the old value's traces still count
	Place   Place
	Numeric bool // values are numbers: more or less of it has a meaning
}

// Place is where a setting lives.
type Place struct {
	Root         string // the root that the knob was made with, "/" for the running machine
	Path         string // of the file that is written, below Root; for processes what stands for it
	SurvivesBoot bool   // false: a reboot sets it back by itself
}

// Knob is one setting that can be read and written at run time. It may be made of
// several parts (a file per CPU, a thread of a tree), which are journaled, read
// back and restored each for itself. Find makes them.
type Knob struct {
	name   string
	target Target
	about  About
	// offers lists the values of a closed set; nil for an open-ended knob.
	offers func() ([]string, error)
	// check returns a value in the spelling that reading it gives, or says what is wrong with it.
	check func(value string) (string, error)
	// parts are found anew each time: threads come and go.
	parts func() ([]part, error)
	// join makes one value out of those of the parts; nil when all are the same value.
	join func(values []string) string
	// byID finds a part that parts may no longer list; nil where it lists them all. Parts of such a
	// knob may appear while it is changed, and have inherited a value of ours.
	byID func(id string) (part, error)
}

// part is one place that a knob writes. Values of a part need not be those of its
// knob: want translates.
type part struct {
	id    string                       // what the journal calls it
	path  string                       // for messages
	read  func() (string, error)       // errGone when the thread or device is no more
	write func(value string) error     // what read returned before must be accepted
	want  func(value string) string    // nil: the knob's value as it is
	canon func(value string) string    // nil: compared as they are
	fix   func(original string) string // a command that puts it back by hand
	// follows: the kernel changes it along with another part. It is never set, and put back
	// whatever it is.
	follows bool
	// rounds: reading gives another value than was written. It is not compared, and put back
	// whatever it is.
	rounds bool
	// view: it shows what another part holds exactly and moves by itself. It is set, and never put
	// back.
	view bool
}

// loose parts have values that cannot be foretold.
func (p part) loose() bool { return p.follows || p.rounds || p.view }

func (p part) wanted(value string) string {
	if p.want == nil {
		return value
	}
	return p.want(value)
}

// same compares two values of a part, spelling apart.
func (p part) same(a, b string) bool {
	return a == b || p.canon != nil && p.canon(a) == p.canon(b)
}

// by tells how to put a value back by hand.
func (p part) by(original string) string {
	if p.fix == nil {
		return fmt.Sprintf("echo %s > %s", original, p.path)
	}
	return p.fix(original)
}

// errGone marks a part whose thread, process or device has ended: nothing is left to put back.
var errGone = errors.New("it is gone")

// ErrRefused marks a value that is not offered; its message lists those that are.
var ErrRefused = errors.New("not offered by this host")

// ErrUnknown marks a name that no knob has, or one that must not be a knob.
var ErrUnknown = errors.New("no such knob")

// Name is what users type.
func (k Knob) Name() string { return k.name }

// About tells what is known of the knob.
func (k Knob) About() About { return k.about }

// Place says where the setting lives.
func (k Knob) Place() Place { return k.about.Place }

// Effect says when a value is in force.
func (k Knob) Effect() Effect { return k.about.Effect }

// WashOut is how long after a flip the old value's traces still count.
func (k Knob) WashOut() time.Duration { return k.about.WashOut }

// Current reads the setting. Where its parts differ it is "mixed:" and the values.
func (k Knob) Current() (string, error) {
	parts, err := k.parts()
	if err != nil {
		return "", err
	}
	var values []string
	for _, each := range parts {
		if each.follows {
			continue
		}
		value, err := each.read()
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return "", err
		}
		values = append(values, value)
	}
	if len(values) == 0 {
		return "", fmt.Errorf("read %s: %w", k.name, errGone)
	}
	return k.joined(values), nil
}

// mixed begins the value of a knob whose parts differ.
const mixed = "mixed:"

// joined makes one value out of those of the parts.
func (k Knob) joined(values []string) string {
	if k.join != nil {
		return k.join(values)
	}
	if values = distinct(values); len(values) != 1 {
		return mixed + strings.Join(values, " ")
	}
	return values[0]
}

// distinct keeps the first of equal values.
func distinct(values []string) []string {
	var kept []string
	for _, value := range values {
		if !slices.Contains(kept, value) {
			kept = append(kept, value)
		}
	}
	return kept
}

// Allowed lists the values that can be set here and now. It is empty for an
// open-ended knob: then Check decides.
func (k Knob) Allowed() ([]string, error) {
	if k.offers == nil {
		return nil, nil
	}
	return k.offers()
}

// Check says what is wrong with a value, and nothing where it can be set.
func (k Knob) Check(value string) error {
	_, err := k.spelled(value)
	return err
}

// spelled returns a value as reading it would, or why it cannot be set.
func (k Knob) spelled(value string) (string, error) {
	if len(value) > valueLimit || strings.ContainsAny(value, "\x00\n") {
		return "", fmt.Errorf("set %s: a value of one line and at most %d bytes is needed", k.name, valueLimit)
	}
	if k.offers != nil {
		values, err := k.offers()
		if err != nil {
			return "", err
		}
		if !slices.Contains(values, value) {
			return "", fmt.Errorf("set %s to %q: %w (available: %s)", k.name, value, ErrRefused, strings.Join(values, " "))
		}
	}
	if k.check == nil {
		return value, nil
	}
	spelled, err := k.check(value)
	if err != nil {
		return "", fmt.Errorf("set %s to %q: %w", k.name, value, err)
	}
	return spelled, nil
}

// both joins two errors, either of which may be nil, in one line: errors.Join
// makes several lines, and an error of ours is printed as one.
func both(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return fmt.Errorf("%w; %w", first, second)
}
