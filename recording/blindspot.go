package recording

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// BlindKind says what could not be seen.
type BlindKind string

// The kinds of blind spots: of one recording, of recordings that are compared, of runs.
const (
	BlindInterrupts BlindKind = "interrupts off"        // the sampling clock stands still meanwhile
	BlindProbe      BlindKind = "probe off"             // What: the probe; Why
	BlindUnwinder   BlindKind = "late unwinder"         // What: the run time
	BlindStacks     BlindKind = "broken stacks"         // Count of Of, Reasons
	BlindShort      BlindKind = "short-lived processes" // Count of Of: that have no stacks
	BlindURing      BlindKind = "io_uring"              // Count of requests, 0: not counted
	BlindLost       BlindKind = "lost"                  // What; Count
	BlindChecked    BlindKind = "self-check"            // What: what recording did to its target
	BlindSliced     BlindKind = "requests in slices"    // What: how they were watched
	BlindCalls      BlindKind = "requests by calls"     // Why: they were followed by system calls
	BlindPrograms   BlindKind = "programs of others"    // What: who runs BPF programs, and where
	BlindRestart    BlindKind = "service restarted"     // Count; What: which processes, and when
	BlindKilled     BlindKind = "recording killed"      // its end is missing
	BlindImport     BlindKind = "import"                // What: what another tool's file does not hold
	BlindOther      BlindKind = "other"                 // What: words that an earlier culprit wrote

	BlindCut        BlindKind = "cut"            // What: the part that is left
	BlindGivenUp    BlindKind = "probe given up" // What: the probe
	BlindVaries     BlindKind = "setting varies" // What: which one, on which side, between what
	BlindPerl       BlindKind = "perl subs"      // subs of package main have no frames
	BlindNoSamples  BlindKind = "no samples"     // of CPU time, in some runs
	BlindNoStacks   BlindKind = "no stacks"      // of more than a tenth of the samples
	BlindFewSamples BlindKind = "few samples"    // fewer than half of those expected
	BlindNoWaits    BlindKind = "no waits"       // none were recorded

	BlindNothing   BlindKind = "nothing recorded"     // Why
	BlindCounters  BlindKind = "no hardware counters" // none were read
	BlindOrphans   BlindKind = "orphans"              // CPU time of processes nobody waits for; Why
	BlindExits     BlindKind = "exits"                // accounts of threads that ended; Why
	BlindManyExits BlindKind = "many exits"           // more threads ended than could be followed
)

// BlindSpot is something that a recording, or a comparison, could not show. Which fields are set
// goes by the kind.
type BlindSpot struct {
	Kind    BlindKind     `json:"kind"`
	What    string        `json:"what,omitempty"`
	Why     string        `json:"why,omitempty"`
	Count   int64         `json:"count,omitempty"`
	Of      int64         `json:"of,omitempty"`
	Reasons []BlindReason `json:"reasons,omitempty"` // that make up Count, the most frequent first
	// Recordings is how many say so, where their numbers were added up; 0 for one.
	Recordings int `json:"recordings,omitempty"`
	// Text is the whole in words, as String makes it: for readers of the document alone.
	Text string `json:"text"`
}

// BlindReason is how often something could not be seen for one reason.
type BlindReason struct {
	Why   string `json:"why"`
	Count int64  `json:"count"`
}

// blindTexts are those of the kinds that say the same wherever they are met.
var blindTexts = map[BlindKind]string{
	BlindInterrupts: "code that runs with interrupts off is booked where they come on again " +
		"(software clock sampling)",
	BlindKilled: "the recording was killed: what came after its last part is not in it",
	BlindPerl: "a sub of Perl's package main that is declared with a plain sub has no frame: " +
		"its time counts as its caller's",
	BlindNoSamples:  "no CPU samples of the target in some runs: their CPU time has no stacks",
	BlindNoStacks:   "more than a tenth of the CPU samples have no stack",
	BlindFewSamples: "fewer than half of the expected CPU samples were taken",
	BlindNoWaits:    "no waits were recorded: waiting cannot be told from running",
	BlindCounters: "no hardware counters were read: cache and branch misses, and time taken by the " +
		"hypervisor, are not seen",
	BlindManyExits: "run-queue delay is known for the command's first thread only in runs that end " +
		"very many processes",
}

// String is what people read.
func (s BlindSpot) String() string {
	if text, known := s.words(); known {
		return text
	}
	return s.Text
}

// words makes the sentence of a kind that this culprit knows.
func (s BlindSpot) words() (text string, known bool) {
	if text, fixed := blindTexts[s.Kind]; fixed {
		return text, true
	}
	switch s.Kind {
	case BlindProbe:
		return fmt.Sprintf("%s: not recorded (%s)", s.What, s.Why), true
	case BlindUnwinder:
		return s.What + ": the first such process came up within the recording; its unwinder was " +
			"loaded then, stacks before have no frames of it", true
	case BlindStacks:
		return fmt.Sprintf("%s%d of %d stacks could not be followed to their root: %s", s.among(), s.Count,
			s.Of, s.reasons()), true
	case BlindShort:
		return fmt.Sprintf("%s%d of %d processes that came and went have no stacks: they ended before one was taken, or "+
			"before they were looked at; their CPU time is counted", s.among(), s.Count, s.Of), true
	case BlindURing:
		if s.Count == 0 {
			return "requests went through io_uring: neither their number nor how long each took is seen", true
		}
		return fmt.Sprintf("%s%d requests went through io_uring: how long each took, and on what, is not "+
			"seen", s.among(), s.Count), true
	case BlindLost:
		return fmt.Sprintf("lost: %s: %d", s.What, s.Count), true
	case BlindChecked:
		return "self-check: " + s.What, true
	case BlindPrograms:
		return s.What + ": the kernel takes no samples within such programs, so that their time is " +
			"booked on other code", true
	case BlindRestart:
		return "the service did not run all the time: " + s.What + "; what was done in between is not seen, " +
			"and a new process is cold", true
	case BlindCalls:
		return "requests were followed by system calls (" + s.Why + "): on unix sockets how long a request waited " +
			"before it was read is not seen; nor is what goes over io_uring, by calls of 32-bit programs, or is asked " +
			"by datagrams (names of hosts)", true
	case BlindCut:
		return "cut to " + s.What + ": system calls and switches are counted for whole recordings only " +
			"and left out", true
	case BlindGivenUp:
		return "probe " + s.What + " was given up to keep to --max-cost: left out on both sides", true
	case BlindNothing:
		return "nothing was recorded, so no suspect can be named: " + s.Why, true
	case BlindOrphans:
		return "CPU time of processes that their parent does not wait for is not counted (" + s.Why + ")", true
	case BlindExits:
		return "run-queue delay is known for the command's first thread only, and peak memory only above " +
			"culprit's own (" + s.Why + ")", true
	case BlindVaries, BlindImport, BlindSliced, BlindOther:
		return s.What, true
	}
	return "", false
}

// among says how many recordings the numbers are of.
func (s BlindSpot) among() string {
	if s.Recordings <= 1 {
		return ""
	}
	return fmt.Sprintf("in %d recordings ", s.Recordings)
}

func (s BlindSpot) reasons() string {
	parts := make([]string, len(s.Reasons))
	for i, reason := range s.Reasons {
		parts[i] = fmt.Sprintf("%s %d", reason.Why, reason.Count)
	}
	return strings.Join(parts, ", ")
}

// plainSpot is a blind spot without the methods that encoding/json looks for.
type plainSpot BlindSpot

// MarshalJSON writes the words beside the fields.
func (s BlindSpot) MarshalJSON() ([]byte, error) {
	s.Text = s.String()
	return json.Marshal(plainSpot(s))
}

// UnmarshalJSON reads what MarshalJSON wrote, and the bare words that recordings of schema 1 and 2
// hold, which become a blind spot of kind BlindOther.
func (s *BlindSpot) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*s = BlindSpot{Kind: BlindOther}
		return json.Unmarshal(text, &s.What)
	}
	var read plainSpot
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*s = BlindSpot(read)
	if _, known := s.words(); known { // else a later culprit wrote it: its words are all there is
		s.Text = ""
	}
	return nil
}

// Words are blind spots as people read them.
func Words(spots []BlindSpot) []string {
	list := make([]string, len(spots))
	for i, spot := range spots {
		list[i] = spot.String()
	}
	return list
}

// Lost are the blind spots that losses make.
func Lost(losses []Loss) []BlindSpot {
	spots := make([]BlindSpot, len(losses))
	for i, loss := range losses {
		spots[i] = BlindSpot{Kind: BlindLost, What: loss.What, Count: loss.Count}
	}
	return spots
}

// AddBlindSpots adds to a list what it does not have yet. What is counted in both is added up.
func AddBlindSpots(list []BlindSpot, more ...BlindSpot) []BlindSpot {
	list = slices.Clone(list)
	for _, spot := range more {
		at := slices.IndexFunc(list, spot.adds)
		switch {
		case at < 0:
			list = append(list, spot)
		case spot.Count > 0:
			list[at] = list[at].plus(spot)
		}
	}
	return list
}

// adds reports whether two tell of the same, perhaps with other numbers.
func (s BlindSpot) adds(other BlindSpot) bool {
	return s.Kind == other.Kind && s.What == other.What && s.Why == other.Why && s.Text == other.Text &&
		(s.Count > 0) == (other.Count > 0)
}

// plus adds up two that tell of the same.
func (s BlindSpot) plus(other BlindSpot) BlindSpot {
	s.Count, s.Of, s.Recordings = s.Count+other.Count, s.Of+other.Of, s.Recordings+other.Recordings
	s.Reasons = slices.Clone(s.Reasons)
	for _, reason := range other.Reasons {
		at := slices.IndexFunc(s.Reasons, func(known BlindReason) bool { return known.Why == reason.Why })
		if at < 0 {
			s.Reasons = append(s.Reasons, reason)
			continue
		}
		s.Reasons[at].Count += reason.Count
	}
	slices.SortStableFunc(s.Reasons, func(a, b BlindReason) int { return cmp.Compare(b.Count, a.Count) })
	return s
}
