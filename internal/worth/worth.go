// Package worth says from measured effects whether a change is worth it: at which load it breaks
// even, what it saves at the loads that really occur and over a fleet, and how far more workers
// help (a scaling law).
//
// It reads an experiment of `culprit try` in which one numeric factor, the load, was swept over
// levels and, for a break-even, another factor had two levels, all combinations in each block
// (--design factorial):
//
//	experiment, err := worth.Read(file)
//	answer, err := worth.Weigh(experiment, worth.Options{Loads: loads, Hosts: 4000})
//
// Intervals come from the spread between blocks. It refuses to extrapolate: loads outside the swept
// range, and a crossing that the trials did not reach.
package worth

import (
	"culprit/internal/stat"
	"fmt"
	"math"
	"slices"
)

// Schema names the JSON document of an answer.
const Schema = "culprit.worth/1"

const confidence = 0.95

// Options say what is asked. The zero value asks for what the experiment holds.
type Options struct {
	Load   string // numeric factor that was swept; "" when there is only one
	Change string // the factor whose first level is the side without the change; "" when there is only one
	Metric string // "" for cores where CPU and wall time are there, else the first of the experiment
	Loads  []Load // that really occur, with their shares
	// Hosts of the fleet; 0: no fleet. Prices are optional.
	Hosts           float64
	PerCoreHour     float64 // money
	WattsPerCore    float64
	PerKilowattHour float64 // money
}

// Load is one that really occurs.
type Load struct {
	Load  float64 `json:"load"`
	Share float64 `json:"share"` // part of the time, of all hosts together
}

// Interval is a mean with its 95 % interval.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Level is one load that was tried.
type Level struct {
	Load  float64 `json:"load"`
	Pairs int     `json:"pairs"` // blocks with both sides
	A     float64 `json:"a"`     // median without the change
	B     float64 `json:"b"`     // and with it
	// Difference is what the change costs: positive is worse, also for metrics where higher is
	// better.
	Difference Interval `json:"difference"`
	Verdict    string   `json:"verdict"` // worse, better or undecided: the interval's side of zero
}

// The verdicts.
const (
	Worse     = "worse"
	Better    = "better"
	Undecided = "undecided"
)

// Answer is all that was found.
type Answer struct {
	Schema    string     `json:"schema"`
	Load      string     `json:"load"`
	Change    string     `json:"change,omitempty"`
	A         string     `json:"a,omitempty"` // level of the change's factor
	B         string     `json:"b,omitempty"`
	Metric    string     `json:"metric"`
	Unit      string     `json:"unit,omitempty"`
	Blocks    int        `json:"blocks"`
	Levels    []Level    `json:"levels,omitempty"`
	BreakEven *BreakEven `json:"break_even,omitempty"`
	Saving    *Saving    `json:"saving,omitempty"`
	Scaling   []Scaling  `json:"scaling,omitempty"`
	Warnings  []string   `json:"warnings"`
}

// Weigh draws the conclusions.
func Weigh(e *Experiment, options Options) (*Answer, error) {
	question, err := e.resolve(options)
	if err != nil {
		return nil, err
	}
	answer := &Answer{Schema: Schema, Load: question.load.Name, Metric: question.metric.Name, Unit: question.metric.Unit,
		Warnings: []string{}}
	if change := question.change; change != nil {
		answer.Change, answer.A, answer.B = change.Name, change.Levels[0].Name, change.Levels[1].Name
	}
	switch {
	case question.weighs():
		if err := answer.compare(e, question, options); err != nil {
			return nil, err
		}
	case len(options.Loads) > 0 || options.Hosts > 0:
		return nil, fmt.Errorf("a saving needs %d levels of %s, and a factor with two levels beside it: one without and "+
			"one with the change", leastLoads, question.load.Name)
	}
	if throughput, is := e.throughput(question); is {
		answer.Scaling, err = scalings(e, question.of(throughput))
		if err != nil {
			answer.Warnings = append(answer.Warnings, "no scaling law: "+err.Error())
		}
	}
	if len(answer.Levels) == 0 && len(answer.Scaling) == 0 {
		return nil, fmt.Errorf("nothing to weigh: %s is no throughput of workers, and no other factor has two levels (%v)",
			question.metric.Name, answer.Warnings)
	}
	return answer, nil
}

// compare fills in what the change costs at each load.
func (a *Answer) compare(e *Experiment, q question, options Options) error {
	blocks := e.blocks(q)
	a.Blocks = len(blocks)
	for i, load := range q.loads {
		level, err := levelOf(blocks, i, q.metric.Higher)
		if err != nil {
			a.Warnings = append(a.Warnings, fmt.Sprintf("%s=%g is left out: %v", q.load.Name, load, err))
			continue
		}
		level.Load = load
		a.Levels = append(a.Levels, level)
	}
	if len(a.Levels) == 0 {
		return fmt.Errorf("no level of %s has two blocks with both levels of %s; run `culprit try --design factorial`",
			q.load.Name, q.change.Name)
	}
	a.BreakEven = breakEven(a.Levels)
	if len(options.Loads) == 0 && options.Hosts == 0 {
		return nil
	}
	saving, err := weighSaving(blocks, q, options)
	a.Saving = saving
	return err
}

// levelOf compares the two sides within each block that has both.
func levelOf(blocks []block, i int, higher bool) (level Level, err error) {
	var without, with, differences []float64
	for _, block := range blocks {
		if difference := block.difference(i, higher); !math.IsNaN(difference) {
			without, with = append(without, block.a[i]), append(with, block.b[i])
			differences = append(differences, difference)
		}
	}
	if len(differences) < 2 {
		return level, fmt.Errorf("%d pairs of undisturbed trials, two are needed", len(differences))
	}
	if level.Difference, err = mean(differences); err != nil {
		return level, err
	}
	level.Pairs, level.A, level.B, level.Verdict = len(differences), stat.Middle(without), stat.Middle(with), Undecided
	switch {
	case level.Difference.Low > 0:
		level.Verdict = Worse
	case level.Difference.High < 0:
		level.Verdict = Better
	}
	return level, nil
}

// between interpolates linearly; load lies within loads, which are sorted.
func between(loads, values []float64, load float64) float64 {
	i := max(1, min(len(loads)-1, sortedIndex(loads, load)))
	part := (load - loads[i-1]) / (loads[i] - loads[i-1])
	return values[i-1] + part*(values[i]-values[i-1])
}

func sortedIndex(loads []float64, load float64) int {
	i, _ := slices.BinarySearch(loads, load)
	return i
}

func finite(value float64) bool { return !math.IsNaN(value) && !math.IsInf(value, 0) }
