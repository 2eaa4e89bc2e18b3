package report

import (
	"math"

	"culprit/internal/cause"
	"culprit/internal/investigate"
)

// outcomes gives a case of each outcome, by the name of its golden file.
func outcomes() map[string]*investigate.Case {
	return map[string]*investigate.Case{
		"worse": worseCase(), "better": betterCase(), "same": sameCase(), "undecided": undecidedCase(),
		"listed": listedCase(), "proven": provenCase(), "unexplained": unexplainedCase(), "empty": emptyCase(),
	}
}

func betterCase() *investigate.Case {
	c := worseCase()
	c.Outcome = investigate.Better
	c.Metric = investigate.Metric{Name: "cpu", Unit: "s", Better: "lower"}
	c.A.Median, c.B.Median = 1.32, 0.99
	c.Effect = &cause.Effect{Ratio: 0.75, Low: 0.735, High: 0.768, Confidence: 0.95}
	c.Metrics = []investigate.MetricResult{
		{Metric: c.Metric, Outcome: c.Outcome, Effect: *c.Effect, MedianA: 1.32, MedianB: 0.99}}
	c.Suspects = c.Suspects[1:2]
	c.Suspects[0].Gain = true
	c.Suspects[0].Remedy = "B does better without it, and that holds as long as the input is like that of these runs"
	c.Trials = sampleTrials(1.36, 1.02, 12)
	c.Excluded = 2
	return c
}

func sameCase() *investigate.Case {
	c := worseCase()
	c.Outcome, c.Suspects, c.Items = investigate.Same, nil, nil
	c.B.Median = 1.023
	c.Effect = &cause.Effect{Ratio: 1.003, Low: 0.996, High: 1.009, Confidence: 0.95}
	c.Metrics = c.Metrics[:1]
	c.Metrics[0].Outcome, c.Metrics[0].Effect = c.Outcome, *c.Effect
	c.Trials = sampleTrials(1.02, 1.023, 12)
	c.Profile, c.Waits, c.RecordingCost, c.Recorder = nil, nil, nil, investigate.RecorderCost{}
	return c
}

func undecidedCase() *investigate.Case {
	c := sameCase()
	c.Outcome, c.NeedTrials = investigate.Undecided, 14
	c.Effect = &cause.Effect{Ratio: 1.012, Low: 0.979, High: 1.045, Confidence: 0.95}
	return c
}

func listedCase() *investigate.Case {
	c := worseCase()
	c.Outcome, c.B, c.Effect = investigate.Listed, nil, nil
	c.Suspects[0].Share.Value, c.Suspects[0].Share.Low, c.Suspects[0].Share.High = 0.31, 0.29, 0.33
	c.Suspects = c.Suspects[:2]
	c.Metrics = c.Metrics[:1]
	kept := c.Trials[:0]
	for _, run := range c.Trials {
		if run.Side == "A" {
			kept = append(kept, run)
		}
	}
	c.Trials, c.Settings, c.Excluded = kept, nil, 0
	return c
}

func provenCase() *investigate.Case {
	c := worseCase()
	c.Metric = investigate.Metric{Name: "requests_per_s", Unit: "requests/s", Better: "higher"}
	c.A.Median, c.B.Median = 41250, 33400
	c.Effect = &cause.Effect{Ratio: 0.81, Low: 0.79, High: 0.832, Confidence: 0.95}
	c.Metrics = nil
	proven := c.Suspects[2]
	proven.Level = cause.Proven
	proven.Share.Value, proven.Share.Low, proven.Share.High = 0.96, 0.9, 1.02
	proven.Proof = &cause.Proof{Knob: "clocksource", From: "hpet", To: "tsc", Verdict: "proven", Trials: 12,
		Effect: cause.Effect{Ratio: 1.236, Low: 1.2, High: 1.27, Confidence: 0.95}}
	c.Suspects = []cause.Suspect{proven}
	for i := range c.Trials {
		c.Trials[i].Metrics[c.Metric.Name] = 42000 / c.Trials[i].Metrics["wall"]
	}
	return c
}

func unexplainedCase() *investigate.Case {
	c := worseCase()
	c.Suspects = nil
	c.Effect = &cause.Effect{Ratio: 1.034, Low: 1.021, High: 1.047, Confidence: 0.95}
	c.B.Median = 1.055
	return c
}

// emptyCase is what remains when everything that can be missing is.
func emptyCase() *investigate.Case {
	return &investigate.Case{Schema: investigate.CaseSchema, Outcome: investigate.Undecided,
		Metric: investigate.Metric{Name: "wall", Unit: "s"}, B: &investigate.SideSummary{}, ElapsedS: math.NaN(),
		Effect: &cause.Effect{Ratio: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}}
}
