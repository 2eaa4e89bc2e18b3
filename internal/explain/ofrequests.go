package explain

import (
	"fmt"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

// RequestVerdict is the verdict on a metric that the requests of both sides have.
type RequestVerdict struct {
	Name string    `json:"name"` // as that of a RequestMetric
	Unit string    `json:"unit"`
	A    []float64 `json:"a"`
	B    []float64 `json:"b"`
	// Effect is B as a multiple of A.
	Effect  cause.Effect `json:"effect"`
	Outcome stat.Outcome `json:"outcome"`
	// Parts are how many parts of each recording gave the interval, where a side has one recording;
	// 0: the spread is that between recordings.
	PartsA int `json:"parts_a,omitempty"`
	PartsB int `json:"parts_b,omitempty"`
	// Disturbed are parts that were left out: the service was restarted in them, or not long
	// before.
	Disturbed int      `json:"disturbed,omitempty"`
	Warnings  []string `json:"-"`
}

// IsOfRequests tells the metrics that TestRequests takes; "mean" is another word for the latency.
func IsOfRequests(metric string) bool { return metric == "mean" || units.IsOfRequests(metric) }

// TestRequests says whether the requests of B are worse than those of A: by their mean latency, a
// percentile, or their rate, of which more is better; "cpu" is the CPU time of one. The interval
// comes from the spread between recordings, or where a side has one from that between parts of it.
// The context explains the change by what the threads that work on requests were busy with, or
// waited for.
func (e *Evidence) TestRequests(metric string, smallest float64) (Context, *RequestVerdict, error) {
	if metric == "mean" {
		metric = units.Latency
	}
	v := &RequestVerdict{Name: metric, Unit: "s"}
	if metric == units.Throughput {
		v.Unit = "1/s"
	}
	for i, rec := range e.both() {
		value, known := ofOne(rec, metric)
		if !known {
			return Context{}, nil, fmt.Errorf("metric %s: recording %s has no requests: record it with `culprit record "+
				"--requests`", metric, e.nameOf(i))
		}
		if i < len(e.A) {
			v.A = append(v.A, value)
		} else {
			v.B = append(v.B, value)
		}
	}
	e.judge(v, smallest)
	c := Context{Metric: compare.MetricCPU, Outcome: v.Outcome}
	if units.Percent(metric) > 0 {
		c.Percentile = metric
	}
	c.Delivery = e.OfDelivery(metric, false)
	c.OfRequests = metric == units.Latency || metric == units.Throughput || c.Delivery
	if metric != compare.MetricCPU && e.service() && e.Wall != nil {
		c.Metric = compare.MetricWall
	}
	if v.Outcome != stat.Worse && v.Outcome != stat.Better {
		return c, v, nil
	}
	if e.busyOtherwise(c) && !e.knowsSlow(c) { // what the seconds went to is not what made it so
		v.Warnings = append(v.Warnings, noBusier)
		if slow := e.slower(c); slow != nil {
			v.Warnings = append(v.Warnings, "nor is it known what made the slow requests slower: "+slow.Why)
		}
		c.Outcome = stat.Undecided
	}
	return c, v, nil
}

// noBusier is said where suspects of what threads were busy with would be of the cheaper side.
const noBusier = "the time that threads were busy for a request did not change the way requests did, so that it " +
	"explains nothing: `culprit tail FILE` of the worse side says why its slow requests are slow"

// busyOtherwise reports whether requests were tested, and threads were busy for no longer on the
// side where these take longer.
func (e *Evidence) busyOtherwise(c Context) bool {
	if !c.Judged() || !c.OfRequests && c.Percentile == "" {
		return false
	}
	busier, known := e.busier(c)
	return known && busier <= 0
}

// ofOne is a metric of the requests of one recording.
func ofOne(rec *recording.Recording, metric string) (value float64, known bool) {
	if metric != compare.MetricCPU {
		return units.OfRequests(rec, metric)
	}
	return cpuOfRequest(rec)
}

// cpuOfRequest is the CPU time of one request of a recording, in seconds.
func cpuOfRequest(rec *recording.Recording) (seconds float64, known bool) {
	used, count := rec.Manifest.Metrics[recording.MetricCPU], units.Served(rec)
	return used / max(count, 1), used > 0 && count > 0
}

func (e *Evidence) nameOf(at int) string {
	if at < len(e.A) {
		return fmt.Sprintf("%d of A", at+1)
	}
	return fmt.Sprintf("%d of B", at-len(e.A)+1)
}

// judge gives the verdict its effect and outcome.
func (e *Evidence) judge(v *RequestVerdict, smallest float64) {
	values := &compare.Result{A: v.A, B: v.B}
	if len(e.A) >= 2 && len(e.B) >= 2 {
		v.Outcome, v.Effect = e.outcome(values, smallest)
	} else {
		e.judgeParts(v, smallest)
	}
	if v.Name == units.Throughput {
		v.Outcome = turned(v.Outcome)
	}
}

// turned is an outcome of a metric of which more is better.
func turned(outcome stat.Outcome) stat.Outcome {
	switch outcome {
	case stat.Worse:
		return stat.Better
	case stat.Better:
		return stat.Worse
	}
	return outcome
}

// judgeParts judges by the parts of the recordings.
func (e *Evidence) judgeParts(v *RequestVerdict, smallest float64) {
	a, timesA, outA := partsOf(e.A, e.A[0], v.Name)
	b, timesB, outB := partsOf(e.B, e.A[0], v.Name)
	v.Disturbed = outA + outB
	if v.Disturbed > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%d parts of the recordings are left out as disturbed: the service was "+
			"restarted in them, or not long before", v.Disturbed))
	}
	none := cause.Effect{Ratio: mean(v.B) / mean(v.A), Low: notKnown, High: notKnown, Confidence: Confidence}
	outcome, effect := stat.Undecided, none
	if len(a) >= 2 && len(b) >= 2 {
		outcome, effect = verdictOf(a, b, nil, nil, smallest) // a drift within a window tells nothing of hours between two
	}
	if outcome == "" || len(a) < 2 || len(b) < 2 {
		v.Outcome, v.Effect = stat.Undecided, none
		v.Warnings = append(v.Warnings, fmt.Sprintf("too few requests for an interval of %s: record for longer, or give "+
			"several recordings of each side with --a and --b", v.Name))
		return
	}
	v.PartsA, v.PartsB = len(a), len(b)
	v.Outcome, v.Effect = outcome, effect
	v.Warnings = append(v.Warnings, fmt.Sprintf("one recording of a side: the interval is from the spread between parts "+
		"of it (%d of A, %d of B); what differs from one recording to the next is not in it", len(a), len(b)))
	if oneAfterOther(timesA, timesB) {
		v.Warnings = append(v.Warnings, "one side was recorded after the other: what the host or its load did in between "+
			"looks like a change; record both at the same time, or several of each in turn")
	}
}

// partsOf are the values of all parts of a side's recordings, as logarithms, and when each was, in
// seconds since the first recording began; no times where a recording does not say when it was
// made.
func partsOf(group []*recording.Recording, first *recording.Recording, metric string) (logs, times []float64,
	disturbed int) {
	var values []float64
	dated := true
	for _, rec := range group {
		blocks, out := units.Blocks(rec, metric)
		disturbed += out
		dated = dated && !rec.Manifest.StartedAt.IsZero() && !first.Manifest.StartedAt.IsZero()
		began := rec.Manifest.StartedAt.Sub(first.Manifest.StartedAt).Seconds()
		for _, block := range blocks {
			values, times = append(values, block.Value), append(times, began+block.AtS)
		}
	}
	if logs = stat.Logarithms(values); logs != nil {
		logs = stat.Independent(logs)
	}
	if !dated {
		times = nil
	}
	return logs, times, disturbed
}

// oneAfterOther tells whether all moments of one side lie before those of the other.
func oneAfterOther(timesA, timesB []float64) bool {
	return len(timesA) > 0 && len(timesB) > 0 &&
		(slices.Max(timesA) < slices.Min(timesB) || slices.Max(timesB) < slices.Min(timesA))
}
