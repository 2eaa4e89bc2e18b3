package investigate

import (
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/differs"
	"culprit/internal/explain"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

const (
	// CaseSchema names the JSON document that investigate writes.
	CaseSchema = "culprit.case/2"
	// CaseSchemaFirst named it while places and counter-evidence were words alone. It is still
	// read.
	CaseSchemaFirst = "culprit.case/1"
)

// Outcome answers "is B worse than A?".
type Outcome string

// The four answers. Listed is the outcome of a one-sided investigation: nothing was compared.
const (
	Worse     Outcome = "worse"
	Better    Outcome = "better"
	Same      Outcome = "same"
	Undecided Outcome = "undecided"
	Listed    Outcome = "listed"
)

// Case is the whole answer of one investigation. What the terminal and the
// report show comes from it; it marshals to case.json.
type Case struct {
	Schema  string  `json:"schema"`
	Outcome Outcome `json:"outcome"`
	Metric  Metric  `json:"metric"`
	// Per is what amounts of time and of events are per: "run", "second", "request"; empty in cases
	// before it was: run.
	Per      string          `json:"per,omitempty"`
	A        SideSummary     `json:"a"`
	B        *SideSummary    `json:"b,omitempty"`
	Effect   *cause.Effect   `json:"effect,omitempty"`
	Metrics  []MetricResult  `json:"metrics"` // every metric tested, the explained one first
	Suspects []cause.Suspect `json:"suspects"`
	// Unseen is what limits the answer because it could not be seen; BlindSpots says it in words.
	Unseen        []recording.BlindSpot `json:"unseen"`
	BlindSpots    []string              `json:"blind_spots"`
	Warnings      []string              `json:"warnings"`
	RecordingCost *cause.Effect         `json:"recording_cost,omitempty"`
	Recorder      RecorderCost          `json:"recorder"`
	// NeedTrials is how many more pairs would decide an undecided case.
	NeedTrials int `json:"need_trials,omitempty"`
	// NeedBudgetS is the budget that would hold them.
	NeedBudgetS float64 `json:"need_budget_s,omitempty"`
	// Smallest is the smallest difference that counts, 0.02 for 2 %.
	Smallest float64     `json:"smallest"`
	Trials   []trial.Run `json:"trials"`
	// Excluded counts the trials that were left out because something outside disturbed them.
	Excluded int `json:"excluded"`
	// AlsoSeen are stalls too small for a suspect; of one recording only.
	AlsoSeen []cause.Seen `json:"also_seen,omitempty"`
	// Why says how the suspects came about; nil where nothing was judged.
	Why *cause.Why `json:"why,omitempty"`
	// Items are the ranked differences behind the suspects.
	Items    []Item               `json:"items"`
	Settings []compare.FactChange `json:"settings"`
	// Differs is all that the sides are not the same in: settings too, but also what they ran on
	// and how they were called.
	Differs  []differs.Difference `json:"differs,omitzero"`
	Facts    []recording.Fact     `json:"facts"`
	Profile  *compare.Profile     `json:"profile,omitempty"` // CPU, for the flame graph
	Waits    *compare.Profile     `json:"waits,omitempty"`   // off-CPU, for its flame graph
	Host     Host                 `json:"host"`
	Seed     int64                `json:"seed"`
	ElapsedS float64              `json:"elapsed_s"`
	Dir      string               `json:"dir"` // the case directory
}

// Tell takes over what a judgement comes to. The case is about the metric that is explained, unless
// the command printed the one that was tested.
func (c *Case) Tell(j *explain.Judgement) {
	c.Per, c.Suspects, c.Why, c.AlsoSeen = j.Unit.Name, j.Suspects, j.Why, j.AlsoSeen
	c.Settings, c.Facts, c.Differs = j.Result.Facts, j.Facts, j.Differs
	c.Items = nil
	for _, item := range j.Items {
		c.Items = append(c.Items, Item(item))
	}
	c.Profile, c.Waits = &j.Profile, &j.Waits
	c.see(j.Unseen...)
	c.Warnings = append(c.Warnings, j.Warnings...)
	for i, metric := range c.Metrics {
		if c.B != nil && metric.Metric.Name == j.Metric && i > 0 {
			c.lead(i)
		}
	}
}

// TellAgain replaces what was told of a finished case by a later judgement of its recordings;
// warnings are those of its trials. A proof stays with the suspect of its cause: trials made it,
// not the recordings.
func (c *Case) TellAgain(j *explain.Judgement, warnings []string) {
	proven := map[cause.ID]cause.Suspect{}
	for _, suspect := range c.Suspects {
		if suspect.Proof != nil {
			proven[suspect.Cause] = suspect
		}
	}
	c.Warnings = warnings
	fresh := recording.Words(j.Unseen)
	c.Unseen = slices.DeleteFunc(c.Unseen, func(spot recording.BlindSpot) bool {
		// What recordings count is counted again; a case of before has the words alone.
		return spot.Count > 0 || slices.Contains(fresh, spot.String())
	})
	c.Tell(j)
	for i := range c.Suspects {
		if before, known := proven[c.Suspects[i].Cause]; known {
			suspect := &c.Suspects[i]
			suspect.Proof, suspect.Level, suspect.Knob = before.Proof, before.Level, before.Knob
		}
	}
	if c.B == nil && c.Metric.Unit == j.Result.Unit && c.Metric.Name != j.Metric {
		c.Metric.Name = j.Metric
		c.A.Median = j.Unit.Amount(stat.Middle(j.Result.A))
	}
	c.Warnings = unique(c.Warnings)
}

// see adds blind spots, each once.
func (c *Case) see(spots ...recording.BlindSpot) {
	c.Unseen = recording.AddBlindSpots(c.Unseen, spots...)
	c.BlindSpots = recording.Words(c.Unseen)
}

// FromWords makes the values of a case that an earlier culprit wrote, which has the words alone.
func (c *Case) FromWords() {
	if c.Unseen == nil {
		for _, text := range c.BlindSpots {
			c.Unseen = append(c.Unseen, recording.BlindSpot{Kind: recording.BlindOther, What: text})
		}
	}
	for i := range c.Trials {
		if run := &c.Trials[i]; !run.Valid && run.LeftOut == nil && run.Why != "" {
			run.LeftOut = &trial.Exclusion{Kind: trial.ExcludedOther, Text: run.Why}
		}
	}
}

// lead puts one of the metrics first: the case is about it.
func (c *Case) lead(at int) {
	c.Metrics[0], c.Metrics[at] = c.Metrics[at], c.Metrics[0]
	first := c.Metrics[0]
	c.Metric, c.Outcome, c.NeedTrials = first.Metric, first.Outcome, 0
	if c.A.Median = first.MedianA; c.B != nil {
		c.B.Median = first.MedianB
	}
	effect := first.Effect
	c.Effect = &effect
}

// Metric is the metric that was explained.
type Metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better string `json:"better"` // "lower" or "higher"
}

// MetricResult is the test of one metric.
type MetricResult struct {
	Metric  Metric       `json:"metric"`
	Outcome Outcome      `json:"outcome"`
	Effect  cause.Effect `json:"effect"`
	MedianA float64      `json:"median_a"`
	MedianB float64      `json:"median_b"`
	// Kinds is set where the runs are of two kinds, and one side has more of the slow ones.
	Kinds *RunKinds `json:"kinds,omitempty"`

	need int // how many more pairs would decide
}

// RunKinds tells of runs that are usual or slow, with nothing in between.
type RunKinds struct {
	SlowA int     `json:"slow_a"` // runs of A, of so many pairs
	SlowB int     `json:"slow_b"`
	Pairs int     `json:"pairs"`
	Usual float64 `json:"usual"` // medians of both kinds
	Slow  float64 `json:"slow"`
	// MeanA and MeanB are what Effect compares where Decides is set.
	MeanA   float64 `json:"mean_a"`
	MeanB   float64 `json:"mean_b"`
	Decides bool    `json:"decides"`
}

// Centre is what Effect compares: the medians, or the means where slow runs decide.
func (r *MetricResult) Centre() (a, b float64) { return r.Kinds.Centre(r.MedianA, r.MedianB) }

// Centre is what an effect compares whose medians are these. k is nil where the runs are of one
// kind.
func (k *RunKinds) Centre(medianA, medianB float64) (a, b float64) {
	if k != nil && k.Decides {
		return k.MeanA, k.MeanB
	}
	return medianA, medianB
}

// DecidedByKinds are the runs that decided the metric of the case, nil where most runs did.
func (c *Case) DecidedByKinds() *RunKinds {
	for i := range c.Metrics {
		if kinds := c.Metrics[i].Kinds; c.Metrics[i].Metric.Name == c.Metric.Name && kinds != nil && kinds.Decides {
			return kinds
		}
	}
	return nil
}

// SideSummary is one side in short.
type SideSummary struct {
	Command string  `json:"command"`
	Median  float64 `json:"median"`
	Trials  int     `json:"trials"`
	// Earlier: the recordings of this side were made before the investigation, which recorded the
	// other one.
	Earlier bool `json:"earlier,omitempty"`
}

// Item is one ranked difference: a function, a wait, a system call, a count. Of those with seconds
// each second has one owner.
type Item struct {
	Signal string `json:"signal"` // "cpu", "syscall", "fault", "kernel", "wait", "lock", "runqueue", "count"
	Name   string `json:"name"`
	// Where is the program's own function that it came through, or who had the CPU.
	Where   string           `json:"where,omitempty"`
	A       float64          `json:"a"` // per unit of Case.Per
	B       float64          `json:"b"`
	Unit    string           `json:"unit"`
	Change  compare.Interval `json:"change"`
	Share   compare.Interval `json:"share"`
	Decided bool             `json:"decided"` // false: the change cannot be told from zero
}

// Host is what the case was measured on.
type Host struct {
	Name        string `json:"name"`
	Kernel      string `json:"kernel"`
	CPU         string `json:"cpu"`
	CPUs        int    `json:"cpus"`
	MemoryBytes int64  `json:"memory_bytes"`
	Hypervisor  string `json:"hypervisor"`
	ClockSource string `json:"clock_source"`
}

// RecorderCost is what the recorder itself took.
type RecorderCost struct {
	StartCPUS float64 `json:"start_cpu_s"`
	CPUS      float64 `json:"cpu_s"` // over all evidence trials
	// What recording took of the target's own time per unit of work, as its stacks show; no amount
	// of the case holds it. Known where nothing ran without the recorder.
	OfTargetCPUS  float64          `json:"of_target_cpu_s,omitempty"`
	OfTargetWallS float64          `json:"of_target_wall_s,omitempty"`
	Losses        []recording.Loss `json:"losses"`
}

// unique drops repeated lines and keeps the order.
func unique(lines []string) []string {
	seen := map[string]bool{}
	kept := []string{}
	for _, line := range lines {
		if !seen[line] {
			seen[line] = true
			kept = append(kept, line)
		}
	}
	return kept
}
