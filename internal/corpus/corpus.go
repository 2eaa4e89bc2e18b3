// Package corpus keeps judgements: everything that one asks of the catalogue of causes, with the
// truth about it, one file a pair. The tests of cause judge all of them again, without root and
// without the program that was recorded.
//
//	pair, err := corpus.Open("internal/cause/testdata/corpus/lock-go.zst")
//	fmt.Println(pair.Judge(pair.Answer()).Missed)
//
// A file names its fields itself, so that it outlives types that move between packages. What no
// rule reads is left out (call trees for flame graphs, blind spots), amounts keep six digits. It
// refuses unknown fields and versions.
package corpus

import (
	"culprit/internal/cause"
	"culprit/internal/compare"
)

// Pair is one judgement and the truth about it.
type Pair struct {
	Name   string // of the pair; its file is called NAME.zst
	Source string // where it comes from: "lineup", "blind"
	Truth  Truth
	// Outcome is what the trials said: without "worse" or "better" no suspect is asked for.
	Outcome string
	// Printed says that the metric is a number that the command prints. The seconds of Input.Result
	// explain it then.
	Printed bool
	// Metrics are the metrics that trials without the recorder tested, the one that the case is
	// about first.
	Metrics []Tested
	Input   cause.Input
}

// Tested is a metric that trials without the recorder tested.
type Tested struct {
	Name    string
	Outcome string
	Change  compare.Interval // B − A per run, in the metric's unit
}

// Answer is what culprit says of a pair.
type Answer struct {
	Outcome  string
	Metric   string // that the suspects are about
	Suspects []cause.Suspect
}

// Answer judges the pair as an investigation does.
func (p *Pair) Answer() Answer {
	answer := Answer{Outcome: p.Outcome, Metric: p.Input.Result.Metric}
	if len(p.Metrics) > 0 {
		answer.Metric = p.Metrics[0].Name
	}
	if p.Outcome == "undecided" {
		return answer
	}
	answer.Suspects = cause.Judge(p.Input).Suspects
	if len(answer.Suspects) > 0 || p.Printed || p.Input.CPU == nil || len(p.Metrics) < 2 ||
		p.Metrics[0].Name != compare.MetricWall || p.Metrics[1].Name != compare.MetricCPU ||
		p.Metrics[1].Outcome != p.Outcome {
		return answer
	}
	cpu := p.Input
	cpu.Result, cpu.MeasuredChange = p.Input.CPU, p.Metrics[1].Change
	if answer.Suspects = cause.Judge(cpu).Suspects; len(answer.Suspects) > 0 {
		answer.Metric = compare.MetricCPU
	}
	return answer
}

// Judge holds an answer against the truth about the pair.
func (p *Pair) Judge(answer Answer) Verdict {
	var named []Named
	for _, suspect := range answer.Suspects {
		named = append(named, Named{Cause: string(suspect.Cause), Where: suspect.Where})
	}
	return p.Truth.Judge(answer.Outcome, answer.Metric, named)
}
