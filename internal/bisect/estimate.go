package bisect

import (
	"math"

	"culprit/internal/stat"
)

// Estimate is what a search will take, told before it begins.
type Estimate struct {
	Candidates int     `json:"candidates"`
	Decisions  int     `json:"decisions"` // about so many
	Most       int     `json:"most"`      // and never more, for one culprit
	Builds     int     `json:"builds"`
	BuildS     float64 `json:"build_s"` // of one
	Runs       int     `json:"runs"`
	RunS       float64 `json:"run_s"` // of one
	Seconds    float64 `json:"seconds"`
}

// tellEstimate says what the search between two ends that differ will take, by their builds, runs
// and noise.
func (x *engine) tellEstimate(p part) error {
	model, err := x.model(p)
	if err != nil {
		return err
	}
	steps := 0.0
	if model.Last > 1 {
		// One candidate more at each side of the step than halving needs, and every sixth answer is
		// doubted.
		steps = math.Ceil(math.Log2(float64(model.Last))*1.15 + 1)
	}
	steps = min(steps, float64(model.Last-1))
	apart := model.Delta / (model.Noise * math.Sqrt(1.5))
	usual := max(leastBlocks, 2*math.Log(stepCertain/(1-stepCertain))/(apart*apart))
	proof := max(7, 14/(apart*apart)) // blocks
	e := Estimate{Candidates: model.Last, Decisions: 1, Most: mostDecisions(p), Builds: int(steps),
		BuildS: stat.Middle(x.buildS), RunS: stat.Middle(x.runS)}
	if steps > 0 {
		e.Decisions += int(steps) + 1
		e.Runs = int(math.Ceil(steps*(3*usual+1) + 4*proof))
	}
	e.Seconds = float64(e.Builds)*e.BuildS + float64(e.Runs)*e.RunS
	x.result.Estimate = &e
	if x.options.Estimated != nil {
		x.options.Estimated(e)
	}
	return nil
}
