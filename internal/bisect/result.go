package bisect

import (
	"math"

	"culprit/internal/bisect/search"
	"culprit/internal/cause"
	"culprit/internal/investigate"
	"culprit/internal/stat"
)

// Schema names the JSON document of a result.
const Schema = "culprit.bisect/1"

// Outcome answers "is the bad end worse than the good one?", and the same of two candidates.
type Outcome = investigate.Outcome

// The four answers.
const (
	Worse     = investigate.Worse
	Better    = investigate.Better
	Same      = investigate.Same
	Undecided = investigate.Undecided
)

// Metric is what is compared.
type Metric struct {
	Name   string `json:"name"`
	Higher bool   `json:"higher,omitempty"` // higher is better
}

// Effect is a ratio of the metric, the later candidate to the earlier one, with an interval.
type Effect = cause.Effect

// Candidate is a commit or a version.
type Candidate struct {
	Position int    `json:"position"`
	Name     string `json:"name"`            // the commit's hash, or the version
	Title    string `json:"title,omitempty"` // the commit's first line
	Author   string `json:"author,omitempty"`
	Date     string `json:"date,omitempty"`
	Merge    bool   `json:"merge,omitempty"`
}

// Decision is one question put to trials.
type Decision struct {
	Number   int          `json:"number"`
	Purpose  string       `json:"purpose"` // "ends", "step" or "proof"
	Position int          `json:"position"`
	Name     string       `json:"name"`
	Blocks   int          `json:"blocks"`
	Runs     int          `json:"runs"`
	Class    search.Class `json:"class,omitempty"`   // of a step
	Chance   float64      `json:"chance,omitempty"`  // of that class
	Outcome  Outcome      `json:"outcome,omitempty"` // of ends and proofs
}

// Culprit is a candidate that changed the metric.
type Culprit struct {
	Candidate Candidate `json:"candidate"`
	Parent    Candidate `json:"parent"` // the one that it was compared with
	Position  int       `json:"position"`
	Before    int       `json:"before"`          // the one that it was compared with
	Among     []int     `json:"among,omitempty"` // those between that were not measured: any of them may be it
	Open      bool      `json:"open,omitempty"`  // the search ended before its place was certain
	Outcome   Outcome   `json:"outcome"`
	Effect    Effect    `json:"effect"`
	Chance    float64   `json:"chance"` // that the step is here, before the proof
	Decision  int       `json:"decision,omitempty"`
	Inside    *Inside   `json:"inside,omitempty"` // nil where it was not investigated
	Change    *Change   `json:"change,omitempty"` // nil where it is one of several
	Folder    string    `json:"folder,omitempty"` // its build, which is kept
}

// Rest is a part before or after a culprit, and whether its ends still differ.
type Rest struct {
	From    Candidate `json:"from"`
	To      Candidate `json:"to"`
	Low     int       `json:"low"`
	High    int       `json:"high"`
	Effect  Effect    `json:"effect"`
	Outcome Outcome   `json:"outcome"`
	Differs bool      `json:"differs"` // it was searched on
}

// Skip is a candidate that could not be measured.
type Skip struct {
	Position int    `json:"position"`
	Name     string `json:"name"`
	Why      string `json:"why"`
}

// Result is the whole answer.
type Result struct {
	Schema     string     `json:"schema"`
	Good       Candidate  `json:"good"`
	Bad        Candidate  `json:"bad"`
	Candidates int        `json:"candidates"`      // changes between the ends
	Order      string     `json:"order,omitempty"` // of commits: "first-parent" or "topological"
	Package    string     `json:"package,omitempty"`
	Command    string     `json:"command"`
	Outcome    Outcome    `json:"outcome"` // of the ends
	Metric     Metric     `json:"metric"`
	Effect     Effect     `json:"effect"` // of the ends
	Noise      float64    `json:"noise"`  // standard deviation of ln of one run
	NeedBlocks int        `json:"need_blocks,omitempty"`
	Estimate   *Estimate  `json:"estimate,omitempty"`
	Culprits   []Culprit  `json:"culprits"`
	Rests      []Rest     `json:"rests"`
	Skipped    []Skip     `json:"skipped"`
	Decisions  []Decision `json:"decisions"`
	Seed       int64      `json:"seed"`
	Dir        string     `json:"dir"`
	ElapsedS   float64    `json:"elapsed_s"`
}

func effectOf(verdict stat.Decision, metric Metric) Effect {
	ratio, confidence := verdict.Verdict()
	effect := effectOver(math.Log(ratio.Value), math.Log(ratio.Low), math.Log(ratio.High), metric)
	effect.Confidence = confidence
	return effect
}

// effectOver makes a ratio of the metric of a change in score.
func effectOver(value, low, high float64, metric Metric) Effect {
	if metric.Higher {
		value, low, high = -value, -high, -low
	}
	return Effect{Ratio: math.Exp(value), Low: math.Exp(low), High: math.Exp(high), Confidence: 1 - alpha}
}
