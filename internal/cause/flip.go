package cause

// Way says how an intervention is made.
type Way string

// The ways.
const (
	// BySetting flips a setting of the host or of a cgroup: journaled before, read back after, put
	// back at the end.
	BySetting Way = "setting"
	// ByRestart starts the command in another way: without a variable, an option or a wrapper, or
	// with the other side's. Nothing on the host changes.
	ByRestart Way = "restart"
	// ByTree gives the command's own processes another attribute while they run. It ends with them.
	ByTree Way = "tree"
)

// Flip is an intervention that would prove a cause: what it changes, and how.
type Flip struct {
	Way  Way    `json:"way"`
	What string `json:"what"` // a knob, or which parts of a command: "wrapper", "tracer", "variable", "option", "head"
	// Names are the wrappers, or the beginnings of the variables' names; empty: all of them.
	Names []string `json:"names,omitempty"`
	// Exact tells that it takes the cause away whole, so that a flip without an effect refutes the
	// suspect. Others may only prove it. A restart without a setting is not exact: the same may be
	// set elsewhere than at the head of the command, and a collector or an allocator may take
	// longer for another reason than its setting.
	Exact bool   `json:"exact"`
	Text  string `json:"text"` // for people
}

// The parts of a command that a restart can change.
const (
	PartWrapper  = "wrapper"  // taskset, nice …: a program that runs another one under changed settings
	PartTracer   = "tracer"   // strace, perf …: one that watches another
	PartVariable = "variable" // of the environment
	PartOption   = "option"   // of the run time: what stands between the program and its first other word
	PartHead     = "head"     // all of these but tracers
)
