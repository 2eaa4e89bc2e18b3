package worth

import (
	"fmt"
	"math"
	"slices"

	"culprit/internal/stat"
)

// Scaling is how a throughput grows with the number of workers.
type Scaling struct {
	Side       string          `json:"side,omitempty"` // level of the change's factor
	Law        stat.ScalingLaw `json:"law"`
	Contention Interval        `json:"contention"`
	Coherence  Interval        `json:"coherence"`
	// Peak is the number of workers with the highest throughput by the law; 0: more always help.
	Peak   float64         `json:"peak"`
	Levels []ScalingWorker `json:"levels"`
}

// ScalingWorker compares what was measured with what perfect scaling and the law expect.
type ScalingWorker struct {
	Workers  float64 `json:"workers"`
	Measured float64 `json:"measured"` // median
	Perfect  float64 `json:"perfect"`  // one worker's throughput times the number
	Law      float64 `json:"law"`
}

// scalings fits the law for each side.
func scalings(e *Experiment, q question) ([]Scaling, error) {
	blocks := e.blocks(q)
	if q.loads[0] < 1 {
		return nil, fmt.Errorf("%s begins at %g; a number of workers is 1 or more", q.load.Name, q.loads[0])
	}
	sides := []func(block) []float64{func(b block) []float64 { return b.a }}
	if q.change != nil {
		sides = append(sides, func(b block) []float64 { return b.b })
	}
	var found []Scaling
	for i, side := range sides {
		var rows [][]float64
		for _, block := range blocks {
			if row := side(block); !slices.ContainsFunc(row, math.IsNaN) {
				rows = append(rows, row)
			}
		}
		if len(rows) < 2 {
			return nil, fmt.Errorf("%d blocks hold all levels of %s; two are needed", len(rows), q.load.Name)
		}
		scaling, err := scalingOf(q.loads, rows)
		if err != nil {
			return nil, err
		}
		if q.change != nil {
			scaling.Side = q.change.Levels[i].Name
		}
		found = append(found, scaling)
	}
	return found, nil
}

func scalingOf(workers []float64, rows [][]float64) (s Scaling, err error) {
	if s.Law, err = fitWithout(workers, rows, -1); err != nil {
		return s, err
	}
	// Jackknife over blocks (Tukey 1958): the trials of one block share its disturbances.
	var contentions, coherences []float64
	count := float64(len(rows))
	for leave := range rows {
		law, err := fitWithout(workers, rows, leave)
		if err != nil {
			return s, err
		}
		contentions = append(contentions, count*s.Law.Contention-(count-1)*law.Contention)
		coherences = append(coherences, count*s.Law.Coherence-(count-1)*law.Coherence)
	}
	if s.Contention, err = termInterval(s.Law.Contention, contentions); err != nil {
		return s, err
	}
	if s.Coherence, err = termInterval(s.Law.Coherence, coherences); err != nil {
		return s, err
	}
	if peak := s.Law.Peak(); !math.IsInf(peak, 1) {
		s.Peak = peak
	}
	for i, n := range workers {
		var measured []float64
		for _, row := range rows {
			measured = append(measured, row[i])
		}
		s.Levels = append(s.Levels, ScalingWorker{n, stat.Middle(measured), s.Law.One * n, s.Law.At(n)})
	}
	return s, nil
}

// termInterval is around the fit; no term is negative.
func termInterval(value float64, pseudo []float64) (Interval, error) {
	interval, err := mean(pseudo)
	if err != nil {
		return interval, err
	}
	return Interval{value, max(0, min(interval.Low, value)), max(interval.High, value)}, nil
}

// fitWithout fits all rows but one.
func fitWithout(workers []float64, rows [][]float64, leave int) (stat.ScalingLaw, error) {
	var n, throughput []float64
	for at, row := range rows {
		if at == leave {
			continue
		}
		n, throughput = append(n, workers...), append(throughput, row...)
	}
	return stat.FitScaling(n, throughput)
}
