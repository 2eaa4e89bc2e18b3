package cause

// ID names a cause for ever: it stands in JSON, in reports and in the lineup's truths. Ids never
// change their meaning.
type ID string

// Cause is all that is known of one cause, in one place: what is told of it, what would prove it,
// and the rules that recognise it in recordings.
type Cause struct {
	ID ID
	// Claim says the cause in one sentence. {dearer} and {cheaper} stand for the sides.
	Claim string
	// Alone is the claim of one recording, where Claim speaks of another side; "" where Claim will
	// do.
	Alone      string
	Example    string // one that was met, with its measured effect
	Evidence   string // what raises it
	Proof      string // what would prove it, attributionOnly where nothing can be flipped
	Flips      []Flip // the interventions that investigate can make, best first
	Remedy     string
	Gain       string // B is the cheaper side: what B's gain hangs on
	MistakenAs string // how it is mistaken for something else, and how to tell
	// Settings begin the names of the facts that bear on it.
	Settings []string
	Nature   nature
	// Recognise are the rules that recognise it; none where nothing on this host can show it.
	Recognise []recogniser
	// Before are rules of other causes that defer to those of this one, and why: a new cause states
	// its place among the others in its own record.
	Before []deference
}

const attributionOnly = "none: attribution only"

// nature is what kind of statement a cause makes. Rules of attribution and of rank go by it, never
// by single causes.
type nature uint8

const (
	// isCode: a function that grew or was added.
	isCode nature = 1 << iota
	// ofCode: brought about by what a function does, so that the function may be named for it.
	ofCode
	// doneMore: more of something is done, and the cause does not say why.
	doneMore
	// unspecific: says less than a function that grew, or is what a busy host brings by itself.
	unspecific
	// amongThreads: what the program's threads do to each other.
	amongThreads
	// waitsForCPU: without a CPU; no system call is at fault.
	waitsForCPU
)

// is reports whether a cause has a nature.
func (id ID) is(kind nature) bool {
	known, found := Lookup(id)
	return found && known.Nature&kind != 0
}

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
