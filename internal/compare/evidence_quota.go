package compare

import (
	"math"

	"culprit/recording"
)

// CountThrottled are the seconds a run that a CPU quota stopped one of the target's cgroups, by cgroup path: the
// kernel's own account (cpu.stat) out of the table of metrics. A program that entered its cgroup after it was started
// is seen there a tenth of a second later, after its first second up to a second: a small number is no sign that
// nothing was stopped.
const CountThrottled = "cgroup.throttled"

// throttledMetric is the name of the counter in the table; a cgroup's threads on several CPUs are stopped at once.
const throttledMetric = "cgroup.cpu.throttled_s"

func (c *counter) quota(side Side, at int, r *run) {
	for scope, seconds := range grownBy(r.rec, throttledMetric) {
		c.tree(side, at, CountThrottled, scope, "s/run", seconds)
	}
}

// grownBy is how much a counter grew within the window, by scope.
func grownBy(rec *recording.Recording, name string) map[string]float64 {
	type span struct{ low, high float64 }
	seen := map[string]span{}
	for i := range rec.Metrics {
		metric := &rec.Metrics[i]
		if metric.Name != name || !(math.Abs(metric.Value) <= maxSeconds) {
			continue // a damaged recording may hold any number
		}
		one, known := seen[metric.Scope]
		if !known {
			one = span{metric.Value, metric.Value}
		}
		seen[metric.Scope] = span{min(one.low, metric.Value), max(one.high, metric.Value)}
	}
	grown := map[string]float64{}
	for scope, one := range seen {
		if one.high > one.low {
			grown[scope] = one.high - one.low
		}
	}
	return grown
}
