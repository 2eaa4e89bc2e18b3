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
