// Package corpus keeps judgements: everything that one asks of the catalogue of causes, with the
// truth about it, one file a pair. The tests of cause judge all of them again, without root and
// without the program that was recorded.
//
//	pair, err := corpus.Open("internal/cause/testdata/corpus/lock-go.zst")
//	answer, err := pair.Answer()
//	fmt.Println(pair.Judge(answer).Missed)
//
// A file names its fields itself, so that it outlives types that move between packages. What no
// rule reads is left out (call trees for flame graphs, blind spots), amounts keep six digits. It
// refuses unknown fields and versions.
package corpus

import (
	"fmt"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/explain"
	"culprit/internal/stat"
)

// Pair is one judgement and the truth about it.
type Pair struct {
	Name   string // of the pair; its file is called NAME.zst
	Source string // where it comes from: "lineup", "blind"
	Truth  Truth
	// Outcome is what the trials said: without "worse" or "better" no suspect is asked for.
	Outcome stat.Outcome
	// Measured is what trials without the recorder showed of wall and CPU time.
	Measured []explain.Measured
	Input    cause.Input // of the metric that is explained
}

// Answer is what culprit says of a pair.
type Answer struct {
	Outcome stat.Outcome
	Metric  string // that the suspects are about
	cause.Judgement
}

// Answer judges the pair as an investigation does.
func (p *Pair) Answer() (Answer, error) {
	in, judged, err := explain.Ask(explain.Context{Metric: p.Input.Result.Metric, Outcome: p.Outcome,
		Measured: p.Measured}, p.of)
	if err != nil {
		return Answer{}, fmt.Errorf("judge %s: %w", p.Name, err)
	}
	return Answer{Outcome: p.Outcome, Metric: in.Result.Metric, Judgement: judged}, nil
}

// of is the input of a judgement on a metric.
func (p *Pair) of(metric string) (cause.Input, error) {
	in, err := p.Input, error(nil)
	if in.Result, err = (compare.Results{CPU: in.CPU, Wall: in.Wall}).Of(metric); err != nil {
		return in, err
	}
	if metric != p.Input.Result.Metric {
		in.MeasuredChange, in.MeasuredChangeKnown = compare.Interval{}, false
	}
	for _, measured := range p.Measured {
		if measured.Metric == metric && measured.Change != nil {
			in.MeasuredChange, in.MeasuredChangeKnown = *measured.Change, true
		}
	}
	return in, nil
}

// Judge holds an answer against the truth about the pair.
func (p *Pair) Judge(answer Answer) Verdict {
	var named []Named
	for _, suspect := range answer.Suspects {
		named = append(named, Named{Cause: string(suspect.Cause), Where: suspect.Where})
	}
	return p.Truth.Judge(string(answer.Outcome), answer.Metric, named)
}
