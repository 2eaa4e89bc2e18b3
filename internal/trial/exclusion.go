package trial

import "fmt"

// ExclusionKind says why a run does not count.
type ExclusionKind string

// The kinds: what came from outside during the run, and what else makes it worthless.
const (
	ExcludedSteal    ExclusionKind = "steal time"
	ExcludedOthers   ExclusionKind = "CPU time of other processes"
	ExcludedRunqueue ExclusionKind = "run-queue delay"
	ExcludedSetting  ExclusionKind = "setting" // one that was varied changed while it ran
	ExcludedOther    ExclusionKind = "other"   // Text: words that an earlier culprit wrote
)

// Exclusion is why a run does not count. Of a disturbance it says how much of it there was.
type Exclusion struct {
	Kind    ExclusionKind `json:"kind"`
	Seconds float64       `json:"seconds,omitempty"`
	UsualS  float64       `json:"usual_s,omitempty"` // in the median run of the same side
	Side    string        `json:"side,omitempty"`    // of the run that was disturbed
	// Partner: the run itself was quiet, the other one of its pair was not.
	Partner bool   `json:"partner,omitempty"`
	Text    string `json:"text,omitempty"` // of a kind that is no disturbance: the whole
}

// String is the reason with its amounts: "steal time of 0.4 s, where A usually has 0 s".
func (e *Exclusion) String() string {
	if e.Text != "" {
		return e.Text
	}
	text := fmt.Sprintf("%s of %.3g s, where %s usually has %.3g s", e.Kind, e.Seconds, e.Side, e.UsualS)
	if e.Partner {
		return fmt.Sprintf("the other run of its pair (%s) was disturbed: %s", e.Side, text)
	}
	return text
}

// Short is the reason without the amounts, which differ from run to run.
func (e *Exclusion) Short() string {
	switch {
	case e.Text != "":
		return e.Text
	case e.Partner:
		return "the other run of its pair was disturbed"
	}
	return string(e.Kind)
}

// Leave marks a run that does not count.
func (r *Run) Leave(why Exclusion) {
	r.Valid, r.LeftOut, r.Why = false, &why, why.String()
}
