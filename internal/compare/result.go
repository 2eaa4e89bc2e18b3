package compare

import (
	"culprit/internal/compare/counts"
	"culprit/internal/compare/lines"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/settings"
	"culprit/internal/compare/spent"
	"culprit/internal/stat"
	"culprit/recording"
)

// What a result is made of, as its readers call it.
type (
	Side       = perrun.Side
	Interval   = stat.Interval // a value with the interval that the spread between runs allows
	FactChange = settings.FactChange
	FactVaries = settings.FactVaries
	Count      = counts.Count
	SharedLine = lines.Line
	PathKind   = spent.Kind
)

// The two sides, and what the time of a path was spent on.
const (
	A        = perrun.A
	B        = perrun.B
	Running  = spent.Running
	Runnable = spent.Runnable
	Blocked  = spent.Blocked
)

// Result is the difference between two groups of recordings, per unit of work (the run). All
// per-run vectors hold one value per recording, in the order given.
type Result struct {
	Metric string    // "wall" or "cpu": what the paths add up to
	Unit   string    // "s"
	A, B   []float64 // the metric of each run, without what recording it cost
	Paths  []Path
	Counts []Count
	Facts  []FactChange
	// Varying are settings that were not the same in all runs of a side.
	Varying []FactVaries
	// Waits are all stays off the CPU of all threads, not only those that held up the end.
	Waits []Wait
	// Hops are what stood behind the wakers of waits.
	Hops []Hop
	// Lines are cache lines that several threads share, where the recordings have the table.
	Lines []SharedLine
	// Retired are cycles and instructions by stack, where all recordings were sampled by both.
	Retired []Retired
	// Profile is the merged call tree of CPU time, for the differential flame graph.
	Profile Profile
	// Unseen says what could have hidden a difference: losses, broken stacks, probes that were off.
	Unseen   []recording.BlindSpot
	OneSided bool // only A was given: "changes" are then A's own amounts
}

// Path is one way to spend time, the same on both sides, in seconds per run.
type Path struct {
	Kind       PathKind
	Frames     []recording.Frame // root first, normalised names
	Comm       string            // of the thread
	Process    string            // name of the process
	Syscall    string            // Blocked: the call it waited in
	WakerKind  string            // Blocked: see recording.Waker*
	WakerComm  string            // Blocked, Runnable: who woke it; who ran meanwhile
	WakerOwn   bool              // the waker belongs to the target
	WakerStack []recording.Frame // kernel frames of the waker, root first
	Object     string            // futex address or descriptor, "" when none
	// Parent is the name of the process that started Process, "" for the one that the trial ran.
	Parent string
	// Short marks one of many processes of this name that each lived for a small part of the run.
	Short bool
	// Ticking marks a thread that a timer wakes at a fixed rate and that mostly sleeps.
	Ticking bool
	// Lock marks a wait for a user-space lock; Holder is what its holder was seen doing meanwhile.
	Lock   bool
	Holder []recording.Frame
	// Turn marks a wait for a thread of the program that slept meanwhile, and waits there itself at
	// times.
	Turn bool
	// Nap marks a wait of Go's run time's own, before it looks for work or at its threads again:
	// however regular, no timer and no act of the program's.
	Nap bool
	// Around leads to the function that a sleep without a telling stack lies in.
	Around []recording.Frame
	// For is set on what the holder of a lock did while the thread with this stack waited for it.
	For  []recording.Frame
	A, B []float64
}

// Wait is one way to wait, over all threads: A and B are seconds, the counts stays, per run.
type Wait struct {
	Path
	CountA, CountB []float64
}

// Profile is a call tree in preorder with both sides' seconds per run.
type Profile struct {
	Nodes []ProfileNode `json:"nodes"`
	// Threads are who spent the time, the largest first, and ByThread which part of a node's own
	// time each has, by node. Both are empty where all of it is one thread's.
	Threads  []ProfileThread `json:"threads,omitempty"`
	ByThread []ThreadShare   `json:"by_thread,omitempty"`
}

// ProfileNode is one node: Depth 0 is the root "all".
type ProfileNode struct {
	Name  string              `json:"name"`
	Kind  recording.FrameKind `json:"kind"`
	Depth int                 `json:"depth"`
	SelfA float64             `json:"self_a"` // mean seconds per run
	SelfB float64             `json:"self_b"`
	// Change of inclusive time, B − A, with its interval from the spread between runs; Decided is
	// false where the data cannot tell it from zero.
	Change  float64 `json:"change"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Decided bool    `json:"decided"`
	// CPIA and CPIB are cycles per instruction of each side, inclusive, where enough samples by
	// both counters lie at or below the node.
	CPIA *Interval `json:"cpi_a,omitempty"`
	CPIB *Interval `json:"cpi_b,omitempty"`
}
