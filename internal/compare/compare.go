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
//	result, err := compare.Compare(a, b, compare.Options{Metric: compare.MetricCPU})
//	blame := compare.FindBlame(result.Paths, nil)
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

// Options say what to explain.
type Options struct {
	Metric     string  // MetricWall or MetricCPU
	Confidence float64 // of all intervals; 0 means 0.95
	// Work is what each recording's amounts are divided by. They then stand for a recording with as much work as
	// those of A have on average. Nil: each recording is one unit.
	Work *Work
}

// Compare explains the difference in a metric between the recordings of A and
// of B, paired in order where the numbers are equal. Without any of B the
// result is one-sided. Every recording needs the metric in its manifest.
func Compare(a, b []*recording.Recording, opts Options) (*Result, error) {
	if opts.Confidence == 0 {
		opts.Confidence = 0.95
	}
	if err := check(a, b, opts); err != nil {
		return nil, err
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
	merged := newMerger(len(a), len(b))
	profile := newMerger(len(a), len(b))
	waits := newMerger(len(a), len(b))
	result := &Result{Metric: opts.Metric, Unit: "s", OneSided: len(b) == 0}
	counts := newCounter(len(a), len(b))
	hops := newHopTable(len(a), len(b))
	for i, rec := range both(a, b) {
		side, at := A, i
		if i >= len(a) {
			side, at = B, i-len(a)
		}
		run := newRun(rec, shared)
		cpu, cost := run.settle(run.cpuPieces())
		scale := opts.Work.scale(side, at)
		if exact := rec.Manifest.Metrics[MetricCPU]; opts.Work.byParts() && cost < exact {
			scale *= exact / (exact - cost) // parts of the target's own time
		}
		profile.add(side, at, cpu, scale)
		pieces := cpu
		if opts.Metric == MetricWall {
			pieces, cost = run.settle(run.criticalPath())
		}
		merged.add(side, at, pieces, scale)
		waits.add(side, at, run.waitPieces(), scale)
		counts.scale = scale
		counts.add(side, at, run)
		hops.add(side, at, run)
		seconds := max(0, rec.Manifest.Metrics[opts.Metric]-cost) * scale
		if side == A {
			result.A = append(result.A, seconds)
		} else {
			result.B = append(result.B, seconds)
		}
		result.Unseen = appendNew(result.Unseen, run.unseen(opts.Metric)...)
	}
	result.Paths = merged.paths(shared)
	result.Profile = newProfile(profile.paths(shared), len(a), len(b), opts.Confidence)
	result.Waits = waits.waits(shared)
	result.Lines = sharedLines(a, b, opts.Work)
	result.Counts = counts.list()
	result.Hops = hops.list()
	result.Facts, result.Varying = changes, varying(a, b)
	for _, varies := range result.Varying {
		result.Unseen = appendNew(result.Unseen, varies.String())
	}
	for _, probe := range givenUp {
		result.Unseen = appendNew(result.Unseen, "probe "+probe+" was given up to keep to --max-cost: left out on both sides")
	}
	sort.Strings(result.Unseen)
	return result, nil
}

func check(a, b []*recording.Recording, opts Options) error {
	if opts.Metric != MetricWall && opts.Metric != MetricCPU {
		return fmt.Errorf("compare recordings: no seconds of metric %q to explain: choose %q or %q",
			opts.Metric, MetricWall, MetricCPU)
	}
	if opts.Confidence <= 0 || opts.Confidence >= 1 {
		return fmt.Errorf("compare recordings: confidence %v is not between 0 and 1", opts.Confidence)
	}
	if len(a) == 0 {
		return errors.New("compare recordings: no recording of A is given")
	}
	for side, group := range map[Side][]*recording.Recording{A: a, B: b} {
		for i, rec := range group {
			if rec == nil {
				return fmt.Errorf("compare recordings: recording %d of %s is missing", i+1, side)
			}
			seconds, known := rec.Manifest.Metrics[opts.Metric]
			if !known || !(seconds >= 0) || seconds > maxSeconds {
				return fmt.Errorf("compare recordings: recording %d of %s has no usable metric %q: record it with "+
					"culprit investigate, or compare the other metric", i+1, side, opts.Metric)
			}
		}
	}
	return nil
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
