package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/host"
	"culprit/internal/investigate"
	"culprit/internal/report"
	"culprit/internal/stat"
	"culprit/recording"
)

const (
	comparedConfidence = 0.95
	// cpuLikeWall is how much of the wall time's change the CPU time's must be to be what is explained.
	cpuLikeWall = 0.8
)

// splitWindow takes the window off "file@2s..5s"; a file whose name has an @ and no window keeps it.
func splitWindow(word string) (path, window string) {
	at := strings.LastIndexByte(word, '@')
	if at < 0 || !strings.Contains(word[at:], "..") {
		return word, ""
	}
	if _, err := os.Stat(word); err == nil {
		return word, ""
	}
	return word[:at], word[at+1:]
}

// parseWindow reads "2s..5s".
func parseWindow(text string) (fromNs, toNs int64, err error) {
	first, last, found := strings.Cut(text, "..")
	from, errFrom := time.ParseDuration(first)
	to, errTo := time.ParseDuration(last)
	if !found || errFrom != nil || errTo != nil || from < 0 || to <= from {
		return 0, 0, fmt.Errorf("window %q: give its beginning and end since the recording's start, such as 2s..5s", text)
	}
	return from.Nanoseconds(), to.Nanoseconds(), nil
}

// compareGroups compares in the unit of work and by the metric that were asked for, and lets the catalogue judge.
func compareGroups(ctx context.Context, a, b side, o compareOptions, limits compareLimits) (*report.Comparison, error) {
	work, err := compare.ChooseWork(o.per, a.recordings, b.recordings)
	if err != nil {
		return nil, err
	}
	options := compare.Options{Metric: compare.MetricCPU, Confidence: comparedConfidence, Work: &work}
	cpu, err := compare.Compare(a.recordings, b.recordings, options)
	if err != nil {
		return nil, err
	}
	in := cause.Input{Result: cpu, CPU: cpu, FactsA: lastFacts(a), FactsB: lastFacts(b), CommandA: commandOf(a),
		CommandB: commandOf(b), Confidence: comparedConfidence}
	if haveEnds(a, b) && (work.Name != "CPU second" || o.metric == compare.MetricWall) {
		options.Metric = compare.MetricWall
		if in.Wall, err = compare.Compare(a.recordings, b.recordings, options); err != nil {
			return nil, err
		}
	}
	if in.Result, err = comparedMetric(o.metric, cpu, in.Wall); err != nil {
		return nil, err
	}
	profile := work.Unit().Profile(cpu.Profile)
	waits := work.Unit().Profile(compare.WaitProfile(in.Result, comparedConfidence))
	c := &report.Comparison{Schema: report.ComparisonSchema, Metric: in.Result.Metric, Smallest: limits.smallest,
		FailOver: limits.failOver, Ranking: compare.Rank(in.Result, work, comparedConfidence),
		A: sideText(a), B: sideText(b), Settings: in.Result.Facts, Suspects: []cause.Suspect{},
		Warnings: compare.Warnings(a.recordings, b.recordings, work), Profile: &profile, WaitTree: &waits}
	c.BlindSpots = blindSpots(a, b, in.Result)
	timesA, timesB := compare.OneAfterOther(a.recordings, b.recordings)
	c.InBlocks = timesA != nil && c.Ranking.Known
	c.Outcome, c.Effect = comparedOutcome(c.Ranking, timesA, timesB, limits.smallest)
	if c.ByParts() {
		c.Outcome = investigate.Undecided
		if limits.failOver != nil {
			return nil, fmt.Errorf("--fail-over cannot judge CPU time per CPU second, which is one on both sides; " +
				"choose another unit with --per")
		}
		return c, nil
	}
	if c.Ranking.Known && (c.Outcome == investigate.Same || c.Outcome == investigate.Undecided) {
		return c, nil
	}
	if in.Costs, err = sharedCosts(ctx, a, b); err != nil {
		return nil, err
	}
	if in.Costs == (cause.Costs{}) {
		c.Warnings = append(c.Warnings, "not recorded on this host and kernel: counts are not turned into predicted costs")
	}
	c.Suspects = cause.InUnit(cause.Judge(in), work.Unit())
	return c, nil
}

// haveEnds tells whether every recording is a command from its start to its end: only then something held up the end.
func haveEnds(a, b side) bool {
	for _, rec := range append(append([]*recording.Recording{}, a.recordings...), b.recordings...) {
		if !compare.Whole(rec) {
			return false
		}
	}
	return true
}

func comparedMetric(asked string, cpu, wall *compare.Result) (*compare.Result, error) {
	switch asked {
	case compare.MetricCPU:
		return cpu, nil
	case compare.MetricWall:
		if wall == nil {
			return nil, fmt.Errorf("wall time is that of commands recorded from start to end; these are parts of " +
				"something that runs on: take --metric cpu")
		}
		return wall, nil
	case "auto":
	default:
		return nil, fmt.Errorf("metric %q: give auto, wall or cpu", asked)
	}
	size := func(r *compare.Result) float64 {
		return math.Abs(compare.Change(r.A, r.B, comparedConfidence).Value)
	}
	if wall != nil && size(cpu) < cpuLikeWall*size(wall) {
		return wall, nil
	}
	return cpu, nil
}

// comparedOutcome is the verdict on the metric per unit of work: of its logarithms, so that half and double weigh the
// same. Times are given where the sides were recorded one after the other: the interval is then the wider one of those
// with and without a steady drift of the host.
func comparedOutcome(r *compare.Ranking, timesA, timesB []float64,
	smallest float64) (investigate.Outcome, cause.Effect) {
	effect := cause.Effect{Ratio: math.NaN(), Low: math.NaN(), High: math.NaN(), Confidence: comparedConfidence}
	a, b := logs(r.A), logs(r.B)
	if a == nil || b == nil {
		return investigate.Undecided, effect
	}
	effect.Ratio = math.Exp(stat.Average(b) - stat.Average(a))
	estimate, err := stat.MeanDifference(a, b, comparedConfidence)
	if err != nil {
		return investigate.Undecided, effect
	}
	if timesA != nil {
		drift, err := stat.DriftDifference(a, b, timesA, timesB, comparedConfidence)
		if err != nil {
			return investigate.Undecided, effect
		}
		estimate.Low, estimate.High = min(estimate.Low, drift.Low), max(estimate.High, drift.High)
	}
	ratio := estimate.Exp()
	effect.Ratio, effect.Low, effect.High = ratio.Value, ratio.Low, ratio.High
	switch {
	case effect.Low >= 1/(1+smallest) && effect.High <= 1+smallest:
		return investigate.Same, effect
	case effect.Low > 1:
		return investigate.Worse, effect
	case effect.High < 1:
		return investigate.Better, effect
	}
	return investigate.Undecided, effect
}

// logs are the logarithms of values, nil where one has none.
func logs(values []float64) []float64 {
	list := make([]float64, len(values))
	for i, value := range values {
		if !(value > 0) {
			return nil
		}
		list[i] = math.Log(value)
	}
	return list
}

func lastFacts(s side) []recording.Fact { return compare.FactsOf(s.recordings) }

func commandOf(s side) string { return s.recordings[0].Manifest.Target.Command }

func sideText(s side) report.ComparedSide {
	hosts := []string{}
	for _, rec := range s.recordings {
		if name := rec.Manifest.Host; name != "" && !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	return report.ComparedSide{Files: s.names, Command: targetText(s.recordings[0].Manifest.Target),
		Host: strings.Join(hosts, ", ")}
}

// sharedCosts are what operations cost here, where all recordings were made here.
func sharedCosts(ctx context.Context, a, b side) (cause.Costs, error) {
	name, _ := os.Hostname() // empty: no match, no costs
	here := host.Summarize("/")
	for _, rec := range append(append([]*recording.Recording{}, a.recordings...), b.recordings...) {
		if name == "" || rec.Manifest.Host != name || rec.Manifest.Kernel != here.Kernel {
			return cause.Costs{}, nil
		}
	}
	return costsOf(ctx, a.recordings[0])
}
