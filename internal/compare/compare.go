// Package compare sets two groups of recordings side by side and says, item by
// item, where the time of a run went and how much of the metric's change each
// item carries, with intervals that come from the spread between runs.
//
// For the CPU metric every sample counts, scaled so that a run adds up to its
// exact CPU seconds. For the wall metric only the critical path counts: what
// the threads that held up the end were doing or waiting for, walked backwards
// from the end (Yang & Miller 1988; wPerf, OSDI 2018). Its pieces add up to the
// wall time; what cannot be attributed is a piece of its own.
//
//	results, err := compare.Compare(a, b, compare.Options{})
//	blame := compare.FindBlame(results.CPU.Paths, nil)
//
// It refuses to explain a metric that a recording did not measure, and never
// takes the number of samples for a number of observations.
package compare

import (
	"errors"
	"fmt"
	"sort"

	"culprit/recording"
)

// The metrics whose seconds can be explained, as they stand in Manifest.Metrics.
const (
	MetricWall = "wall"
	MetricCPU  = "cpu"
)

// Options say how to compare.
type Options struct {
	Confidence float64 // of all intervals; 0 means 0.95
	// Work is what each recording's amounts are divided by. They then stand for a recording with as much work as
	// those of A have on average. Nil: each recording is one unit.
	Work *Work
}

// Results are those of both metrics, made in one pass over the recordings. Nil where a recording did
// not measure one.
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

// Compare explains the difference in both metrics between the recordings of A and
// of B, paired in order where the numbers are equal. Without any of B the
// results are one-sided. Every recording needs one of the metrics in its manifest.
func Compare(a, b []*recording.Recording, opts Options) (Results, error) {
	if opts.Confidence == 0 {
		opts.Confidence = 0.95
	}
	if err := check(a, b, opts); err != nil {
		return Results{}, err
	}
	even, givenUp := evenOut(both(a, b))
	a, b = even[:len(a)], even[len(a):]
	shared := newPool()
	changes := factChanges(a, b)
	shared.foreignTracers = tracersDiffer(changes)
	shared.findBuilds(both(a, b))
	shared.findNamesakes(a, b)
	shared.matchRenamed(a, b)
	shared.matchByPlace(a, b)
	sums := newSums(len(a), len(b))
	for i, rec := range both(a, b) {
		side, at := A, i
		if i >= len(a) {
			side, at = B, i-len(a)
		}
		sums.add(side, at, newRun(rec, shared), opts.Work)
	}
	// What both metrics share.
	result := Result{Unit: "s", OneSided: len(b) == 0, Facts: changes, Varying: varying(a, b)}
	cpuPaths := sums.cpu.merged.paths(shared)
	result.Profile = newProfile(cpuPaths, len(a), len(b), opts.Confidence)
	result.Waits = sums.waits.waits(shared)
	result.Lines = sharedLines(a, b, opts.Work)
	result.Counts = sums.counts.list()
	result.Hops = sums.hops.list()
	for _, varies := range result.Varying {
		result.Unseen = appendNew(result.Unseen, varies.String())
	}
	for _, probe := range givenUp {
		result.Unseen = appendNew(result.Unseen, "probe "+probe+" was given up to keep to --max-cost: left out on both sides")
	}
	var results Results
	if measured(both(a, b), MetricCPU) {
		results.CPU = sums.cpu.result(result, MetricCPU, cpuPaths)
	}
	if measured(both(a, b), MetricWall) {
		results.Wall = sums.wall.result(result, MetricWall, sums.wall.merged.paths(shared))
	}
	return results, nil
}

// sums are what the runs of both sides add up to.
type sums struct {
	cpu, wall *metricSums
	waits     *merger
	counts    *counter
	hops      *hopTable
}

// metricSums are those of one metric.
type metricSums struct {
	merged *merger
	a, b   []float64 // the metric of each run, without what recording it cost
	unseen []string
}

func newSums(runsA, runsB int) *sums {
	metric := func() *metricSums { return &metricSums{merged: newMerger(runsA, runsB)} }
	return &sums{cpu: metric(), wall: metric(), waits: newMerger(runsA, runsB),
		counts: newCounter(runsA, runsB), hops: newHopTable(runsA, runsB)}
}

func (s *sums) add(side Side, at int, r *run, work *Work) {
	cpu, cost := r.settle(r.cpuPieces())
	scale := work.scale(side, at)
	if exact := r.rec.Manifest.Metrics[MetricCPU]; work.ByParts() && cost < exact {
		scale *= exact / (exact - cost) // parts of the target's own time
	}
	s.cpu.add(side, at, r, MetricCPU, cpu, cost, scale)
	wall, cost := r.settle(r.criticalPath())
	s.wall.add(side, at, r, MetricWall, wall, cost, scale)
	s.waits.add(side, at, r.waitPieces(), scale)
	s.counts.scale = scale
	s.counts.add(side, at, r)
	s.hops.add(side, at, r)
}

func (s *metricSums) add(side Side, at int, r *run, metric string, pieces []piece,
	cost, scale float64) {
	s.merged.add(side, at, pieces, scale)
	seconds := max(0, r.rec.Manifest.Metrics[metric]-cost) * scale
	if side == A {
		s.a = append(s.a, seconds)
	} else {
		s.b = append(s.b, seconds)
	}
	s.unseen = appendNew(s.unseen, r.unseen(metric)...)
}

// result is what both metrics share with what is this one's own.
func (s *metricSums) result(shared Result, metric string, paths []Path) *Result {
	shared.Metric, shared.A, shared.B, shared.Paths = metric, s.a, s.b, paths
	shared.Unseen = appendNew(s.unseen, shared.Unseen...)
	sort.Strings(shared.Unseen)
	return &shared
}

func check(a, b []*recording.Recording, opts Options) error {
	if opts.Confidence <= 0 || opts.Confidence >= 1 {
		return fmt.Errorf("compare recordings: confidence %v is not between 0 and 1", opts.Confidence)
	}
	if len(a) == 0 {
		return errors.New("compare recordings: no recording of A is given")
	}
	for at, group := range [][]*recording.Recording{a, b} { // an error names A before B
		side := [...]Side{A, B}[at]
		for i, rec := range group {
			if rec == nil {
				return fmt.Errorf("compare recordings: recording %d of %s is missing", i+1, side)
			}
		}
	}
	if !measured(both(a, b), MetricCPU) && !measured(both(a, b), MetricWall) {
		return errors.New("compare recordings: no metric was measured in all of them: record them " +
			"with culprit investigate")
	}
	return nil
}

// measured reports whether every recording has a metric that can be used.
func measured(group []*recording.Recording, metric string) bool {
	for _, rec := range group {
		seconds, known := rec.Manifest.Metrics[metric]
		if !known || !(seconds >= 0) || seconds > maxSeconds {
			return false
		}
	}
	return true
}

// maxSeconds bounds a metric that was read from a file: ten years.
const maxSeconds = 10 * 365 * 86400

func appendNew(list []string, more ...string) []string {
	for _, item := range more {
		known := false
		for _, old := range list {
			known = known || old == item
		}
		if !known {
			list = append(list, item)
		}
	}
	return list
}
