package corpus

import (
	"fmt"
	"math"
	"strings"
)

// Told is what is said of a pair, in short: what golden files hold and ablations compare.
type Told struct {
	Pair     string        `json:"pair"`
	Outcome  string        `json:"outcome"`
	Metric   string        `json:"metric"`
	Missed   string        `json:"missed,omitempty"` // what was wrong, "" when the truth was found
	Suspects []ToldSuspect `json:"suspects"`
}

// ToldSuspect is one suspect of it.
type ToldSuspect struct {
	Cause   string `json:"cause"`
	Percent int    `json:"percent"` // of the change
	Level   string `json:"level"`
	Place   string `json:"place"` // the first one, in words
}

// Tell says in short what an answer and its verdict are.
func Tell(pair string, answer Answer, verdict Verdict) Told {
	told := Told{Pair: pair, Outcome: string(answer.Outcome), Metric: answer.Metric,
		Missed: verdict.Missed}
	for _, s := range answer.Suspects {
		place := "nowhere"
		if len(s.Where) > 0 {
			place = s.Where[0]
		}
		told.Suspects = append(told.Suspects, ToldSuspect{string(s.Cause),
			int(math.RoundToEven(100 * s.Share.Value)), string(s.Level), place})
	}
	return told
}

// String begins in the first column, "name: outcome metric", and has a line for each suspect.
func (t Told) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s", t.Pair, t.Outcome, t.Metric)
	if t.Missed != "" {
		fmt.Fprintf(&b, " (missed: %s)", t.Missed)
	}
	b.WriteString("\n")
	for _, s := range t.Suspects {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	return b.String()
}

func (s ToldSuspect) String() string {
	return fmt.Sprintf("%s %d %% %s at %s", s.Cause, s.Percent, s.Level, s.Place)
}
