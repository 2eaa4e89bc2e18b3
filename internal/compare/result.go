package compare

import "culprit/recording"

// Side names one of the two things compared.
type Side string

// The two sides. With one side only, everything is on A.
const (
	A Side = "A"
	B Side = "B"
)

// Result is the difference between two groups of recordings, per unit of work (the run).
// All per-run vectors hold one value per recording, in the order given.
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
	// Profile is the merged call tree of CPU time, for the differential flame graph.
	Profile Profile
	// Unseen says what could have hidden a difference: losses, broken stacks, probes that were off.
	Unseen   []string
	OneSided bool // only A was given: "changes" are then A's own amounts
}

// FactVaries is a setting of a host, a cgroup or a process that changed between the runs of one side.
type FactVaries struct {
	Name   string   // "clocksource.current"
	Called string   // "clock source"
	Side   Side     // whose runs
	Values []string // the most frequent first
}

// PathKind says what the time of a path was spent on.
type PathKind string

// The kinds of time. For the CPU metric all paths are Running; for the wall
// metric they are the pieces of the critical path and add up to the wall time.
const (
	Running  PathKind = "running"
	Runnable PathKind = "runnable" // woken or preempted, waiting for a CPU
	Blocked  PathKind = "blocked"
)

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
	// Turn marks a wait for another thread of the same program that slept meanwhile, and waits there itself at times.
	Turn bool
	// Nap marks a wait of Go's run time's own, of some microseconds before it looks for work again or at its threads
	// (runtime.usleep, the only caller of nanosleep there): however regular, no timer and no act of the program's.
	Nap bool
	// Around leads to the function that a sleep without a telling stack lies in.
	Around []recording.Frame
	// For is set on what the holder of a lock did while the thread with this stack waited for it.
	For  []recording.Frame
	A, B []float64
}

// Wait is one way to wait, over all threads: A and B are seconds per run, the counts are stays per run.
type Wait struct {
	Path
	CountA, CountB []float64
}

// Count is a number of events per run ("syscall.write.count", "process.started", …).
type Count struct {
	Name string // dotted; see Counts in counts.go for the list
	Key  string // process name, or "" for the whole tree
	Unit string
	A, B []float64
}

// FactChange is a setting that differs between the sides.
type FactChange struct {
	Name   string `json:"name"`
	A      string `json:"a"`
	B      string `json:"b"`
	Source string `json:"source"`
}

// Profile is a call tree in preorder with both sides' seconds per run.
type Profile struct {
	Nodes []ProfileNode `json:"nodes"`
}

// ProfileNode is one node: Depth 0 is the root "all".
type ProfileNode struct {
	Name  string              `json:"name"`
	Kind  recording.FrameKind `json:"kind"`
	Depth int                 `json:"depth"`
	SelfA float64             `json:"self_a"` // mean seconds per run
	SelfB float64             `json:"self_b"`
	// Change of inclusive time, B − A, with its interval from the spread between runs;
	// Decided is false where the data cannot tell it from zero.
	Change  float64 `json:"change"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Decided bool    `json:"decided"`
}

// Interval is a value with the interval that the spread between runs allows.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}
