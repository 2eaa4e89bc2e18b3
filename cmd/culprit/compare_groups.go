package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/comparability"
	"culprit/internal/compare/rank"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/investigate"
	"culprit/internal/report"
	"culprit/internal/stat"
	"culprit/recording"
)

// splitWindow takes the window off "file@2s..5s"; a file whose name has an @ and no window keeps
// it.
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

// compareGroups compares in the unit of work and by the metric that were asked for, and judges.
func compareGroups(ctx context.Context, a, b side, o compareOptions, limits compareLimits) (*report.Comparison, error) {
	asked, err := o.unit(a, b)
	if err != nil {
		return nil, err
	}
	evidence, err := explain.Read(a.recordings, b.recordings, asked)
	if err != nil {
		return nil, err
	}
	v, err := o.test(evidence, limits)
	if err != nil {
		return nil, err
	}
	known := v.Context
	if known.Judged() {
		all := append(slices.Clone(evidence.A), evidence.B...)
		if known.Costs, err = explain.MeasureFor(ctx, all); err != nil {
			return nil, err
		}
	}
	judged, err := evidence.Judge(known)
	if err != nil {
		return nil, err
	}
	c := &report.Comparison{Schema: report.ComparisonSchema, A: sideText(a), B: sideText(b),
		Outcome: investigate.Outcome(cmp.Or(known.Outcome, stat.Undecided)),
		Metric:  judged.Metric, Effect: v.Effects[judged.Metric],
		Smallest: limits.smallest, FailOver: limits.failOver,
		Ranking:  rank.Of(judged.Result, evidence.Work, explain.Confidence),
		Requests: evidence.Requests(limits.smallest),
		Settings: judged.Result.Facts, Differs: judged.Differs,
		Suspects: append([]cause.Suspect{}, judged.Suspects...), // none: a list without elements
		Warnings: comparability.Warnings(evidence.A, evidence.B, evidence.Work),
		Unseen:   judged.Unseen, BlindSpots: recording.Words(judged.Unseen),
		Profile: &judged.Profile, WaitTree: &judged.Waits}
	c.Warnings = append(c.Warnings, judged.Warnings...)
	if tested := v.OfRequests; tested != nil {
		c.Tested, c.Metric, c.Effect, c.Outcome = tested, tested.Name, tested.Effect, investigate.Outcome(tested.Outcome)
		c.Warnings = append(slices.Clone(tested.Warnings), judged.Warnings...)
		c.Warnings = append(c.Warnings, comparability.Apart(evidence.A, evidence.B, evidence.Work)...)
	}
	timesA, _ := comparability.OneAfterOther(a.recordings, b.recordings)
	c.InBlocks = timesA != nil && c.Ranking.Known
	return c, nil
}

// unit is what amounts are divided by: for a metric of requests one of them.
func (o *compareOptions) unit(a, b side) (string, error) {
	if !explain.IsOfRequests(o.metric) {
		return o.per, nil
	}
	for _, s := range []side{a, b} {
		for i, rec := range s.recordings {
			if _, told := units.OfRequests(rec, units.Latency); !told {
				return "", fmt.Errorf("--metric %s: %s holds no requests; record it with `culprit record --requests`", o.metric,
					s.names[i])
			}
		}
	}
	if o.per == units.PerAuto {
		return units.PerRequest, nil
	}
	return o.per, nil
}

// test gives the verdict by the metric that was asked for.
func (o *compareOptions) test(evidence *explain.Evidence, limits compareLimits) (explain.Verdict, error) {
	v, err := evidence.TestAny(o.metric, limits.smallest)
	if err == nil && v.OfRequests == nil && v.Context.Metric == compare.MetricCPU && evidence.Work.ByParts() &&
		limits.failOver != nil {
		err = fmt.Errorf("--fail-over cannot judge CPU time per CPU second, which is one on " +
			"both sides; choose another unit with --per")
	}
	return v, err
}

func sideText(s side) report.ComparedSide {
	hosts := []string{}
	for _, rec := range s.recordings {
		if name := rec.Manifest.Host; name != "" && !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	return report.ComparedSide{Files: s.names, Disturbed: comparability.Disturbed(s.names, s.recordings),
		Command: s.recordings[0].Manifest.Target.Words(),
		Host:    strings.Join(hosts, ", "), Labels: labelsOfAll(s.recordings)}
}

// labelsOfAll are the labels that all recordings of a side have alike.
func labelsOfAll(recordings []*recording.Recording) map[string]string {
	labels := maps.Clone(recordings[0].Manifest.Labels)
	for _, rec := range recordings[1:] {
		maps.DeleteFunc(labels, func(key, value string) bool { return rec.Manifest.Labels[key] != value })
	}
	return labels
}
