package comparability

import (
	"fmt"
	"math"

	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

// differ tells two loads that are not the same.
func differ(x, y float64) bool { return math.Abs(y-x) > otherLoad*max(x, y) }

// otherThroughput warns where services answered other numbers of requests in the same time, and says
// how busy both were; nil where their requests were not counted, or are about as many.
func otherThroughput(a, b []*recording.Recording) []string {
	rate := func(group []*recording.Recording, of func(*recording.Recording) float64) float64 {
		var rates []float64
		for _, rec := range group {
			window := float64(rec.Manifest.WindowNs) / 1e9
			if amount := of(rec); amount > 0 && window > 0 && rec.Manifest.Target.Kind != "command" {
				rates = append(rates, amount/window)
			}
		}
		if len(rates) < len(group) {
			return 0
		}
		return stat.Average(rates)
	}
	busy := func(rec *recording.Recording) float64 { return rec.Manifest.Metrics[recording.MetricCPU] }
	x, y := rate(a, units.Served), rate(b, units.Served)
	if x == 0 || y == 0 || !differ(x, y) {
		return nil
	}
	return []string{fmt.Sprintf("other load: A answered %s requests a second with %s CPUs busy, B %s with %s; a busier "+
		"service takes longer for each request, so that a change of the latency may come from that alone",
		number(x), number(rate(a, busy)), number(y), number(rate(b, busy)))}
}
