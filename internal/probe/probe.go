// Package probe lists what the recorder can see. Each probe is a folder: its
// BPF program in C, its Go side, its compiled object, its test.
//
//	for _, p := range probe.All() {
//		session, err := p.Start(shared)
//	}
package probe

import "culprit/internal/probe/bpf"

// Probe is one way to see the target.
type Probe struct {
	Name  string
	Sees  string // for doctor: what it shows
	Hides string // for doctor: what stays unseen without it
	// Asked probes run only when they are asked for: they cost, or most targets have nothing for
	// them.
	Asked bool
	// Essential probes make the target's tree; without them nothing can be recorded.
	Essential bool
	// Start loads the probe; nothing is attached yet. An error that wraps
	// bpf.ErrNotSupported says what this host lacks; any other is inconclusive.
	Start func(*bpf.Shared) (Session, error)
}

// Session is a loaded probe. Attach and Detach enclose a window and can be
// repeated; Collect moves what was seen since Attach into the window.
type Session interface {
	Name() string
	Attach() error
	Detach()
	Collect(*bpf.Window) error
	Close() error
}

// Edge is a session that acts at the very edges of a window: attaching and
// detaching take tens of milliseconds, in which a target goes on.
type Edge interface {
	Session
	// Begins comes when all probes are attached and the target is known.
	Begins() error
	// Ends comes before anything is detached; what fails is told by Collect.
	Ends()
}

// Carrier is a session that goes on between two windows of which one follows the other at once:
// what it counts in between is in the second one.
type Carrier interface {
	Session
	// Carry comes in place of the ends of a window, Detach and Attach; Collect, Attach and Begins
	// come as ever.
	Carry()
}

// Tree is the session that makes the target: what it follows, and what those
// start later, is what all probes see.
type Tree interface {
	Session
	// Forget makes nobody a target; a process may outlive the window it was followed in.
	Forget() error
	// Follow makes processes targets, all of their threads (with Options.WholeHost everybody)
	// and returns how many threads there were. Attach comes before, so no child is missed.
	Follow(pids []int) (threads int, err error)
	// Left lists the processes of the target that are there now. It may be asked while a window is
	// open.
	Left() (pids []int, err error)
}
