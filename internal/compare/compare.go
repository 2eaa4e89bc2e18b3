// Package compare sets two groups of recordings side by side and says, item by item, where the time
// of a run went and how much of the metric's change each item carries, with one value for each run.
//
// For the CPU metric every sample counts, scaled so that a run adds up to its exact CPU seconds.
// For the wall metric only the critical path counts: package spent. Package blame finds the
// function that a change is due to, package rank puts all of it in order.
//
//	results, err := compare.Compare(a, b, compare.Options{})
//	place := blame.New(results.CPU.Paths, code.Own).Find(nil)
//
// It refuses to explain a metric that a recording did not measure, and never takes the number of
// samples for a number of observations.
package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"culprit/internal/compare/counts"
	"culprit/internal/compare/differs"
	"culprit/internal/compare/lines"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/prepare"
	"culprit/internal/compare/settings"
	"culprit/internal/compare/spent"
	"culprit/internal/compare/timeline"
	"culprit/internal/compare/units"
	"culprit/recording"
)

// The metrics whose seconds can be explained, as they stand in Manifest.Metrics.
const (
	MetricWall = recording.MetricWall
	MetricCPU  = recording.MetricCPU
)

// Options say how to compare.
type Options struct {
	Confidence float64 // of all intervals; 0 means 0.95
	// Work is what each recording's amounts are divided by. They then stand for a recording with as
	// much work as those of A have on average. Nil: each recording is one unit.
	Work *units.Work
}

// Results are those of both metrics, from one pass. Nil where a recording did not measure one.
type Results struct {
	CPU, Wall *Result
}

// Of returns the result of a metric; an error where it is unknown or was not measured.
func (r Results) Of(metric string) (*Result, error) {
	result, known := map[string]*Result{MetricCPU: r.CPU, MetricWall: r.Wall}[metric]
	switch {
	case !known:
		return nil, fmt.Errorf("compare recordings: no seconds of metric %q to explain: choose %q or %q",
			metric, MetricWall, MetricCPU)
	case result == nil:
		return nil, fmt.Errorf("compare recordings: some have no usable metric %q: record them with "+
			"culprit investigate, or compare the other metric", metric)
	}
	return result, nil
}

// Compare explains the difference in both metrics between the recordings of A and of B, paired in
// order where the numbers are equal. Without any of B the results are one-sided. Every recording
// needs one of the metrics in its manifest.
func Compare(a, b []*recording.Recording, opts Options) (Results, error) {
	if opts.Confidence == 0 {
		opts.Confidence = 0.95
	}
	sides := perrun.Sides{A: len(a), B: len(b)}
	all := slices.Concat(a, b)
	if err := check(all, sides, opts); err != nil {
		return Results{}, err
	}
	all, givenUp := prepare.Even(all)
	a, b = all[:sides.A], all[sides.A:]
	pool := names.New(a, b, differs.Changed(a, b))
	// What both metrics share.
	result := Result{Unit: "s", OneSided: len(b) == 0, Facts: settings.Changes(a, b),
		Varying: settings.Varying(a, b)}
	pool.ForeignTracers = slices.ContainsFunc(result.Facts, func(change FactChange) bool {
		return slices.Contains([]string{"tracers.bpf", "tracers.ftrace", "tracers.perf"}, change.Name)
	})
	scales := opts.Work.Scales(sides)
	sums := newSums(sides)
	for at, rec := range all {
		sums.add(at, timeline.New(rec, pool), opts.Work, scales[at])
	}
	cpuPaths := sums.cpu.merged.paths(pool)
	result.Profile = newProfile(cpuPaths, sides, opts.Confidence)
	result.Retired = sums.retired.list(pool)
	result.Profile.giveRetired(result.Retired, opts.Confidence)
	result.Waits = sums.waits.waits(pool)
	result.Lines = lines.Find(a, b, scales)
	result.Counts, result.Hops = sums.counts.List(), sums.hops.list(pool)
	for _, varies := range result.Varying {
		result.Unseen = append(result.Unseen,
			recording.BlindSpot{Kind: recording.BlindVaries, What: varies.String()})
	}
	for _, probe := range givenUp {
		result.Unseen = append(result.Unseen,
			recording.BlindSpot{Kind: recording.BlindGivenUp, What: probe})
	}
	var results Results
	if measured(all, MetricCPU) {
		results.CPU = sums.cpu.result(result, MetricCPU, cpuPaths)
	}
	if measured(all, MetricWall) {
		results.Wall = sums.wall.result(result, MetricWall, sums.wall.merged.paths(pool))
	}
	return results, nil
}

// sums are what the runs of both sides add up to.
type sums struct {
	cpu, wall *metricSums
	waits     *merger
	retired   *retiredSums
	counts    *counts.Table
	hops      *hopTable
}

// metricSums are those of one metric.
type metricSums struct {
	merged  *merger
	seconds []float64 // the metric of each run, without what recording it cost
	unseen  []recording.BlindSpot
}

func newSums(sides perrun.Sides) *sums {
	metric := func() *metricSums {
		return &metricSums{merged: newMerger(sides), seconds: sides.Amounts()}
	}
	return &sums{cpu: metric(), wall: metric(), waits: newMerger(sides), retired: newRetiredSums(sides),
		counts: counts.New(sides), hops: &hopTable{sides, map[hopKey][]float64{}}}
}

func (s *sums) add(at int, r *timeline.Run, work *units.Work, scale float64) {
	cpu, cost := spent.WithoutRecorder(r, spent.CPU(r))
	if exact := r.Recording.Manifest.Metrics[MetricCPU]; work.ByParts() && cost < exact {
		scale *= exact / (exact - cost) // parts of the target's own time
	}
	s.cpu.add(at, r, MetricCPU, cpu, r.Recording.Manifest.Metrics[MetricCPU]-cost, scale)
	wall, seconds := spent.Wall(r)
	wall, cost = spent.WithoutRecorder(r, wall)
	s.wall.add(at, r, MetricWall, wall, seconds-cost, scale)
	s.waits.add(at, spent.Waits(r), scale)
	s.retired.add(at, r, scale)
	s.counts.Add(at, r, scale)
	s.hops.add(at, r)
}

func (s *metricSums) add(at int, r *timeline.Run, metric string, pieces []spent.Piece,
	seconds, scale float64) {
	s.merged.add(at, pieces, scale)
	s.seconds[at] = max(0, seconds) * scale
	s.unseen = recording.AddBlindSpots(s.unseen, unseen(r, metric)...)
}

// result is what both metrics share with what is this one's own.
func (s *metricSums) result(shared Result, metric string, paths []Path) *Result {
	shared.Metric, shared.Paths = metric, paths
	shared.A, shared.B = s.merged.sides.Split(s.seconds)
	shared.Unseen = recording.AddBlindSpots(s.unseen, shared.Unseen...)
	slices.SortFunc(shared.Unseen, func(x, y recording.BlindSpot) int {
		return strings.Compare(x.String(), y.String())
	})
	return &shared
}

func check(all []*recording.Recording, sides perrun.Sides, opts Options) error {
	if opts.Confidence <= 0 || opts.Confidence >= 1 {
		return fmt.Errorf("compare recordings: confidence %v is not between 0 and 1", opts.Confidence)
	}
	if sides.A == 0 {
		return errors.New("compare recordings: no recording of A is given")
	}
	if missing := slices.Index(all, nil); missing >= 0 {
		return fmt.Errorf("compare recordings: %s is missing", sides.Name(missing))
	}
	if !measured(all, MetricCPU) && !measured(all, MetricWall) {
		return errors.New("compare recordings: no metric was measured in all of them: record them " +
			"with culprit investigate")
	}
	return nil
}

// measured reports whether every recording has a metric that can be used.
func measured(all []*recording.Recording, metric string) bool {
	return !slices.ContainsFunc(all, func(rec *recording.Recording) bool {
		seconds, known := rec.Manifest.Metrics[metric]
		return !known || !(seconds >= 0) || seconds > recording.MaxSeconds
	})
}
