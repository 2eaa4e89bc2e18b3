// Package ci judges a change where others wait for the answer. It first asks whether this host can
// show the difference at all: A is run against itself (A/A), or the stored measurements of a
// baseline are held against each other. Where their noise hides the difference that matters, it
// refuses, and says which difference could be shown.
//
//	noise := ci.NoiseOf(aa, pairs, 0.05)   // aa: an investigation of A against A
//	result := ci.Judge(ab, noise, 0.05)
//	fmt.Println(result.Outcome)            // worse: surely by more than 5 %
//
// A baseline that was stored is a list of batches, each one measurement of some runs in one go.
// What varies between batches (hosts of one kind, days, builds) is in their spread; runs within a
// batch never stand for batches.
package ci

import (
	"fmt"
	"math"

	"culprit/internal/cause"
	"culprit/internal/investigate"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// Schema names the JSON document.
const Schema = "culprit.ci/1"

// Refused is the outcome where the host cannot show the difference that matters.
const Refused investigate.Outcome = "refused"

// DefaultFailOver is the change that fails where none is given.
const DefaultFailOver = 0.05

// Result is the answer of one check.
type Result struct {
	Schema   string              `json:"schema"`
	Outcome  investigate.Outcome `json:"outcome"` // worse, better, same, undecided or refused
	Why      string              `json:"why,omitempty"`
	FailOver float64             `json:"fail_over"` // worse is: surely by more than this
	MustShow float64             `json:"must_show"` // the change that the host has to be able to show
	A        string              `json:"a"`
	B        string              `json:"b"`
	Metrics  []Verdict           `json:"metrics"`
	Noise    []Noise             `json:"noise"`
	Suspects []cause.Suspect     `json:"suspects"`
	Warnings []string            `json:"warnings"`
	// Batches of the baseline that counted; LeftOut are those of other hosts or other commands.
	Batches int                `json:"batches,omitempty"`
	LeftOut []string           `json:"left_out,omitempty"`
	Host    investigate.Host   `json:"host"`
	Dir     string             `json:"dir"`
	Values  map[string]SideSet `json:"values"` // of each metric, for the picture
}

// SideSet are the values that were compared: of runs, or of A the medians of batches.
type SideSet struct {
	A []float64 `json:"a"`
	B []float64 `json:"b"`
}

// Verdict is what one metric says.
type Verdict struct {
	Metric  investigate.Metric  `json:"metric"`
	Outcome investigate.Outcome `json:"outcome"`
	Effect  cause.Effect        `json:"effect"`
	MedianA float64             `json:"median_a"`
	MedianB float64             `json:"median_b"`
	// Kinds is set where the runs are of two kinds, and one side has more of the slow ones.
	Kinds *investigate.RunKinds `json:"kinds,omitempty"`
}

// Noise is what equal things differ by here.
type Noise struct {
	Metric string `json:"metric"`
	// Spread is the standard deviation between equal measurements, as a part: 0.03 for 3 %.
	Spread float64 `json:"spread"`
	Of     int     `json:"of"` // pairs of A and A, or batches
	// CanShow is the change that would fail in 4 of 5 such checks; nil where it is beyond any
	// bound.
	CanShow *float64 `json:"can_show"`
	Enough  bool     `json:"enough"`
}

// MustShow is the change that has to be visible where more than failOver fails: with less, a check
// could never fail.
func MustShow(failOver float64) float64 { return 2 * failOver }

// The quantiles behind CanShow. atLooks is that of the repeated interval of a plan with up to nine
// looks at a level of 5 %; TestCanShow holds it against the plan itself. power is that of 4 in 5,
// one-sided.
const (
	atLooks    = 2.7
	power      = 0.8416
	confidence = 0.95
	// sureOfSpread is how sure the bound on the spread is that few pairs give.
	sureOfSpread = 0.8
)

// NoiseOf reads the trials of A against itself; pairs are what the comparison of A and B has time
// for.
func NoiseOf(aa *investigate.Case, pairs int, failOver float64) []Noise {
	var all []Noise
	for _, result := range aa.Metrics {
		noise := Noise{Metric: result.Metric.Name}
		logs, err := trial.LogRatios(measured(aa), noise.Metric, [2]string{"A", "B"})
		noise.Of = len(logs)
		if err == nil && len(logs) > 1 && pairs > 1 {
			if spread, err := stat.Deviation(logs); err == nil {
				noise.Spread = spread
				noise.canShow(atLooks+power, float64(pairs), failOver)
			}
		}
		all = append(all, noise)
	}
	return all
}

// canShow fills in what can be shown: quantiles in standard errors of so many pairs.
func (n *Noise) canShow(quantiles, pairs, failOver float64) {
	bound, err := stat.DeviationAtMost(n.Spread, n.Of, sureOfSpread)
	if err != nil {
		return
	}
	least := math.Expm1(math.Log1p(failOver) + quantiles*bound/math.Sqrt(pairs))
	if math.IsInf(least, 0) || math.IsNaN(least) {
		return
	}
	n.settle(least, failOver)
}

// settle takes over the least change that can be shown. Trials end where A and B are the same
// within MustShow, so that nothing smaller is looked for however quiet the host is.
func (n *Noise) settle(least, failOver float64) {
	least = max(least, MustShow(failOver))
	n.CanShow, n.Enough = &least, least <= MustShow(failOver)
}

func measured(c *investigate.Case) []trial.Run {
	var runs []trial.Run
	for _, run := range c.Trials {
		if run.Kind == trial.KindMeasure {
			runs = append(runs, run)
		}
	}
	return runs
}

// Refuse says why a host is not to be judged on, "" where it is: A came out different from itself,
// or no metric can show the difference.
func Refuse(aa *investigate.Case, noise []Noise, failOver float64) string {
	for _, result := range aa.Metrics {
		if result.Outcome == investigate.Worse || result.Outcome == investigate.Better {
			return fmt.Sprintf("A run against itself came out different on %s by %+.0f %%: something on this host "+
				"changes while it measures", result.Metric.Name, 100*(result.Effect.Ratio-1))
		}
	}
	return tooNoisy(noise, failOver)
}

// tooNoisy says which difference can be shown where none of the metrics shows the one that matters.
func tooNoisy(noise []Noise, failOver float64) string {
	var best *Noise
	for i := range noise {
		if noise[i].Enough {
			return ""
		}
		if noise[i].CanShow != nil && (best == nil || *noise[i].CanShow < *best.CanShow) {
			best = &noise[i]
		}
	}
	if best == nil {
		return "too few measurements to tell what this host can show"
	}
	return fmt.Sprintf("this host cannot show a change of %.3g %%, only one of %.0f %% and more (%s: equal measurements "+
		"differ by %.1f %%)", 100*MustShow(failOver), 100**best.CanShow, best.Metric, 100*best.Spread)
}

// Judge holds the trials of A and B against what may fail.
func Judge(ab *investigate.Case, noise []Noise, failOver float64) *Result {
	r := newResult(failOver)
	r.A, r.Noise, r.Suspects, r.Warnings, r.Host = ab.A.Command, noise, ab.Suspects, ab.Warnings, ab.Host
	if ab.B != nil {
		r.B = ab.B.Command
	}
	runs := measured(ab)
	for _, result := range ab.Metrics {
		r.Metrics = append(r.Metrics, Verdict{Metric: result.Metric,
			Outcome: outcomeOf(result.Metric, result.Effect, failOver), Effect: result.Effect,
			MedianA: result.MedianA, MedianB: result.MedianB, Kinds: result.Kinds})
		r.Values[result.Metric.Name] = SideSet{A: trial.Values(runs, result.Metric.Name, "A"),
			B: trial.Values(runs, result.Metric.Name, "B")}
	}
	r.conclude()
	return r
}

func newResult(failOver float64) *Result {
	return &Result{Schema: Schema, FailOver: failOver, MustShow: MustShow(failOver), Metrics: []Verdict{},
		Suspects: []cause.Suspect{}, Warnings: []string{}, Values: map[string]SideSet{}}
}

// NoAnswer is the result where the host was refused.
func NoAnswer(a, b, why string, noise []Noise, failOver float64, host investigate.Host) *Result {
	r := newResult(failOver)
	r.Outcome, r.Why, r.A, r.B, r.Noise, r.Host = Refused, why, a, b, noise, host
	return r
}

// outcomeOf reads one metric: worse is surely beyond failOver, same surely within twice that.
func outcomeOf(metric investigate.Metric, effect cause.Effect, failOver float64) investigate.Outcome {
	low, high := effect.Low, effect.High
	if !(effect.Ratio > 0) || !(low > 0) || math.IsInf(high, 0) || math.IsNaN(high) {
		return investigate.Undecided
	}
	if metric.Better == "higher" {
		low, high = 1/high, 1/low
	}
	switch limit := 1 + MustShow(failOver); {
	case low > 1+failOver:
		return investigate.Worse
	case high < 1/(1+failOver):
		return investigate.Better
	case low > 1/limit && high < limit:
		return investigate.Same
	}
	return investigate.Undecided
}

// conclude puts the metric first that the answer is about.
func (r *Result) conclude() {
	for _, wanted := range []investigate.Outcome{investigate.Worse, investigate.Undecided, investigate.Better,
		investigate.Same} {
		for i, verdict := range r.Metrics {
			if verdict.Outcome == wanted {
				r.Outcome = wanted
				r.Metrics[0], r.Metrics[i] = r.Metrics[i], r.Metrics[0]
				return
			}
		}
	}
	r.Outcome = investigate.Undecided
}
