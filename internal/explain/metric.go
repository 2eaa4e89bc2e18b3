package explain

import (
	"fmt"
	"math"
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/stat"
)

const (
	// busyPart: a single command that is on the CPU for at least this part of the time that it
	// would take alone on its host is explained by its CPU time. Chosen: mostly means more than
	// half; of 176 recordings of the lineup 6 lie between 0.5 and 0.7, some better told by the one
	// and some by the other.
	busyPart = 0.5
	// likeWall is how much of the wall time's change the CPU time's must be to count as the same
	// change. Chosen: the rest is what the wall time of a few runs scatters by.
	likeWall = 0.8
	// notableWait is the part of the wall time from which waiting for strangers is told. Chosen:
	// less is within what the wall time of runs on an idle host scatters by.
	notableWait = 0.1
)

// Spent is what one run took, in seconds: by the clock, on the CPU, and waiting for one, of all its
// threads.
type Spent struct{ Wall, CPU, Runqueue float64 }

// Stretch is how much wall time a second of CPU time took on the side that waited less for a CPU, 1
// on an idle host. Threads that wait for each other's CPU do not stretch: there are then more of
// them than there is wall time.
func Stretch(sides ...[]Spent) float64 {
	least := math.Inf(1)
	for _, side := range sides {
		var stretches []float64
		for _, run := range side {
			if run.CPU > 0 && run.Wall > 0 {
				runnable := run.CPU + run.Runqueue
				stretches = append(stretches, runnable/run.CPU/max(1, runnable/run.Wall))
			}
		}
		if median, err := stat.Median(stretches); err == nil {
			least = min(least, median)
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return max(1, least)
}

// Weight is how much a metric changed, for choosing the one to explain. Where both changed alike
// the CPU time is the closer explanation. On a host that others keep busy on both sides each second
// of CPU time takes longer by the clock: what the wall time grew by that is still the CPU time's
// change.
func Weight(metric string, change, stretch float64) float64 {
	if metric == compare.MetricCPU {
		change *= stretch / likeWall
	}
	return math.Abs(change)
}

// Tested is what is known of a metric's change, B − A in seconds.
type Tested struct {
	Metric  string
	Outcome stat.Outcome // "" where nothing could be tested
	Change  float64
}

// Lead returns which of the tested metrics is explained: of those that differ, the one whose change
// is larger in seconds, so that a CPU time of two milliseconds that doubled does not hide half a
// second of waiting. Wall time that got worse comes before CPU time that got better: who waits
// longer is not told that it is cheaper.
func Lead(tested []Tested, stretch float64) int {
	const decided, slower = 1e9, 1e10 // beyond any number of seconds
	rank := func(t Tested) float64 {
		switch weight := Weight(t.Metric, t.Change, stretch); t.Outcome {
		case stat.Worse, stat.Better:
			if t.Metric == compare.MetricWall && t.Outcome == stat.Worse && !otherIsWorse(tested, t.Metric) {
				return slower + weight
			}
			return decided + weight
		case stat.Same:
			return -1
		default:
			return weight
		}
	}
	best := 0
	for i := range tested {
		if rank(tested[i]) > rank(tested[best]) {
			best = i
		}
	}
	return best
}

func otherIsWorse(tested []Tested, metric string) bool {
	return slices.ContainsFunc(tested, func(t Tested) bool { return t.Metric != metric && t.Outcome == stat.Worse })
}

// Mostly is the metric that a single side is explained by: its CPU time when it is busy for most of
// the time that it would take alone on its host, else its wall time.
func Mostly(busy, alone float64) string {
	if busy < busyPart*alone {
		return compare.MetricWall
	}
	return compare.MetricCPU
}

// Alone is the metric that one side is explained by: as asked, else what it mostly spends. Of what
// runs on, whose waits for work are no time, that is mostly the CPU time, unless something else
// holds up its threads.
func (e *Evidence) Alone(asked string) (string, error) {
	if asked != MetricAuto {
		return asked, checkMetric(asked)
	}
	if e.Wall == nil || e.CPU == nil || !e.commands() && !e.service() {
		return compare.MetricCPU, nil
	}
	running := e.onPath(func(path *compare.Path) bool { return path.Kind == compare.Running })
	return Mostly(max(mean(e.CPU.A), running), mean(e.Wall.A)-e.waitedForStrangers()), nil
}

func checkMetric(asked string) error {
	if asked == MetricAuto || asked == compare.MetricWall || asked == compare.MetricCPU {
		return nil
	}
	if IsOfRequests(asked) {
		return fmt.Errorf("metric %s tells two sides apart; of one `culprit tail` tells what slow requests wait for", asked)
	}
	return fmt.Errorf("metric %q: give auto, wall or cpu; `culprit compare` takes mean, p50 … p99.9 and throughput of "+
		"requests as well", asked)
}

// waitedForStrangers is for how long a command could have run and others than its own processes had
// the CPU.
func (e *Evidence) waitedForStrangers() float64 {
	return e.onPath(toStrangers)
}

// toStrangers tells the time in which somebody else than the own process had the CPU.
func toStrangers(path *compare.Path) bool {
	own := path.WakerOwn && (path.WakerComm == path.Process || path.WakerComm == path.Comm)
	return path.Kind == compare.Runnable && path.WakerComm != "" && !own
}

// onPath adds up the pieces of A's critical path that match, in seconds of a run.
func (e *Evidence) onPath(match func(*compare.Path) bool) float64 {
	seconds := 0.0
	for i := range e.Wall.Paths {
		if path := &e.Wall.Paths[i]; match(path) {
			seconds += mean(path.A)
		}
	}
	return seconds
}

// spent is what the runs of both sides took, as their recordings tell.
func (e *Evidence) spent() (a, b []Spent) {
	var queue compare.Count
	for _, count := range e.CPU.Counts {
		if count.Name == counts.Runqueue && count.Key == "" {
			queue = count
		}
	}
	return spentBy(e.Wall.A, e.CPU.A, queue.A), spentBy(e.Wall.B, e.CPU.B, queue.B)
}

// spentBy puts together what was measured of each run; queue is empty where it was not.
func spentBy(wall, cpu, queue []float64) []Spent {
	runs := make([]Spent, len(wall))
	for i := range runs {
		runs[i] = Spent{Wall: wall[i], CPU: cpu[i]}
		if i < len(queue) {
			runs[i].Runqueue = queue[i]
		}
	}
	return runs
}

// mean is short for what stands in most formulas here.
func mean(values []float64) float64 { return stat.Average(values) }
