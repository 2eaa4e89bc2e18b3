package explain

import (
	"math"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

// RequestMetric is one number of the requests of both sides, with one value for each recording.
type RequestMetric struct {
	// Name is latency (the mean), delivery where that is what changed, p50 … p99.9, cpu (of one
	// request), throughput, in_progress (at once, on average); how busy the sides were: cpus (of the
	// service), busiest_thread and host (a part of the time).
	Name string    `json:"name"`
	Unit string    `json:"unit"` // "s", "1/s", "requests", "CPUs"; "" for a part
	A    []float64 `json:"a"`
	B    []float64 `json:"b"`
	// Effect is B as a multiple of A; Outcome its verdict, "" where there is none: with one
	// recording on a side, and of how busy they were.
	Effect  cause.Effect `json:"effect"`
	Outcome stat.Outcome `json:"outcome,omitempty"`
}

// percentiles are those that are told of latencies.
var percentiles = []string{"p50", "p95", "p99", "p99.9"}

// Requests are the numbers of the requests that the recordings hold, where they are compared per
// request: what one took, and at which load; nil where they are not, or one of them holds none.
func (e *Evidence) Requests(smallest float64) (all []RequestMetric) {
	if e.Work.Name != units.PerRequest || e.OneSided() {
		return nil
	}
	add := func(name, unit string, outcome stat.Outcome, effect cause.Effect, told *compare.Result) {
		all = append(all, RequestMetric{Name: name, Unit: unit, A: told.A, B: told.B, Effect: effect, Outcome: outcome})
	}
	names := []string{units.Latency}
	if e.KeptBack() {
		names = append(names, units.Delivery)
	}
	for _, name := range append(names, percentiles...) {
		outcome, effect, told, known := e.OfRequests(name, smallest)
		if !known {
			return nil
		}
		add(name, "s", outcome, effect, told)
	}
	if outcome, effect, told, err := e.Outcome(compare.MetricCPU, smallest); err == nil {
		unit, of := e.Unit(), &compare.Result{}
		for _, value := range told.A {
			of.A = append(of.A, unit.Amount(value))
		}
		for _, value := range told.B {
			of.B = append(of.B, unit.Amount(value))
		}
		add(compare.MetricCPU, "s", outcome, effect, of)
	}
	if outcome, effect, told, known := e.OfRequests(units.Throughput, smallest); known {
		add(units.Throughput, "1/s", outcome, effect, told)
	}
	if at := e.each(inProgress); at != nil {
		_, effect := e.outcome(at, smallest)
		add("in_progress", "requests", "", effect, at)
	}
	for _, busy := range []struct {
		name, unit string
		of         func(*recording.Recording) (float64, bool)
	}{{"cpus", "CPUs", units.CPUsBusy}, {"busiest_thread", "", units.BusiestThread}, {"host", "", units.HostBusy}} {
		if told := e.each(busy.of); told != nil {
			_, effect := e.outcome(told, smallest)
			add(busy.name, busy.unit, "", effect, told)
		}
	}
	return all
}

// KeptBack reports whether what answers lie in sockets for changed more than the latency did: with
// no recording of one side within what those of the other tell.
func (e *Evidence) KeptBack() bool {
	latency := e.each(func(rec *recording.Recording) (float64, bool) { return units.OfRequests(rec, units.Latency) })
	unsent := e.each(func(rec *recording.Recording) (float64, bool) {
		delivery, told := units.OfRequests(rec, units.Delivery)
		within, known := units.OfRequests(rec, units.Latency)
		return delivery - within, told && known
	})
	if latency == nil || unsent == nil || min(len(unsent.A), len(unsent.B)) < 2 {
		return false
	}
	apart := slices.Min(unsent.A) > slices.Max(unsent.B) || slices.Min(unsent.B) > slices.Max(unsent.A)
	return apart && math.Abs(mean(unsent.B)-mean(unsent.A)) > math.Abs(mean(latency.B)-mean(latency.A))
}

// OfDelivery reports whether what answers lie in sockets for is in a metric. In a rate, and in what
// clients tell, it is where it is what changed: they wait for it.
func (e *Evidence) OfDelivery(metric string, byClients bool) bool {
	return metric == units.Delivery || (byClients || metric == units.Throughput) && e.KeptBack()
}

// inProgress is how many requests there were at once on average: by Little's law.
func inProgress(rec *recording.Recording) (float64, bool) {
	rate, told := units.OfRequests(rec, units.Throughput)
	latency, known := units.OfRequests(rec, units.Latency)
	return rate * latency, told && known
}

// each takes a value from every recording; nil where one does not tell it.
func (e *Evidence) each(of func(*recording.Recording) (float64, bool)) *compare.Result {
	told := &compare.Result{}
	for i, rec := range e.both() {
		value, known := of(rec)
		switch {
		case !known:
			return nil
		case i < len(e.A):
			told.A = append(told.A, value)
		default:
			told.B = append(told.B, value)
		}
	}
	return told
}
