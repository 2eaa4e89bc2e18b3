package counts

import "culprit/recording"

// Counter begins the names of the events that record --counters counted. Of hardware that had to
// share its counters the estimate stands here; one that never counted adds nothing.
const Counter = "counter."

// RatioUnit is the unit of a ratio, which is no amount of what a run does.
const RatioUnit = "ratio"

// counterRatios are formed of two events of one group, or of two that counted all the time: of
// others the ratio would be that of different times.
var counterRatios = []struct{ name, above, below string }{
	{"ipc", "instructions", "cycles"},
	{"cache-miss-rate", "cache-misses", "cache-references"},
	{"branch-miss-rate", "branch-misses", "branches"},
	{"frontend-stalled", "stalled-cycles-frontend", "cycles"},
	{"backend-stalled", "stalled-cycles-backend", "cycles"},
}

// counters adds those of the whole target: numbers of CPUs, which go on while it sleeps, are not of
// the same kind.
func (t *Table) counters(rec *recording.Recording) {
	byName := map[string]*recording.Counter{}
	for i := range rec.Counters {
		counter := &rec.Counters[i]
		value, counted := counter.Estimated()
		if counter.Scope != recording.ScopeTarget || !counted ||
			!recording.Plausible(counter.Value, counter.EnabledNs, counter.RunningNs) {
			continue
		}
		byName[counter.Name] = counter
		if counter.Unit == "ns" {
			t.counter(counter.Name, "s/run", value/1e9)
			continue
		}
		t.counter(counter.Name, "events/run", value)
	}
	for _, ratio := range counterRatios {
		above, below := byName[ratio.above], byName[ratio.below]
		if above != nil && below != nil && below.Value > 0 && sameTimes(above, below) {
			t.counter(ratio.name, RatioUnit, float64(above.Value)/float64(below.Value))
		}
	}
}

func (t *Table) counter(name, unit string, value float64) {
	t.plus(Counter+name, "", unit, value)
	t.had[Counter+name]++
}

// sameTimes tells whether two events were counted at the same times.
func sameTimes(a, b *recording.Counter) bool {
	whole := a.RunningNs >= a.EnabledNs && b.RunningNs >= b.EnabledNs
	return whole || a.Group > 0 && a.Group == b.Group
}
