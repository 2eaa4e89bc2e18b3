package explain

import (
	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
)

// Verdict is what recordings of two sides say of the metric that was asked for, before suspects are
// named.
type Verdict struct {
	Context    Context
	Effects    map[string]cause.Effect // by metric, where it is none of requests
	OfRequests *RequestVerdict         // where it is one of requests
}

// TestAny gives the verdict by any metric: what Test takes, or TestRequests. CPU time per request
// with one recording of a side is judged by its parts, as a metric of requests is.
func (e *Evidence) TestAny(asked string, smallest float64) (v Verdict, err error) {
	ofOne := asked == compare.MetricCPU && e.Work.Name == units.PerRequest && min(len(e.A), len(e.B)) < 2
	if IsOfRequests(asked) || ofOne {
		v.Context, v.OfRequests, err = e.TestRequests(asked, smallest)
		return v, err
	}
	v.Context, v.Effects, err = e.Test(asked, smallest)
	if v.Context.Metric == compare.MetricCPU && e.Work.ByParts() {
		v.Context.Outcome = stat.Undecided // the whole is one on both sides
	}
	return v, err
}
