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

const (
	// fullFrom is how busy a server is that counts as full: the rule for one queue has no answer
	// there. Chosen.
	fullFrom = 0.95
	// enoughOfIt is the part of a change that load alone makes from which on it may be all there is
	// to it. Chosen.
	enoughOfIt = 0.5
	// sameLatency is the part by which two latencies differ that are about the same. Chosen.
	sameLatency = 0.02
)

// loaded is what a service had to do on one side.
type loaded struct {
	rate, cpus, latency float64
	thread, host        float64 // how busy its busiest thread and its host were; -1: not told
}

// otherThroughput warns where services answered other numbers of requests in the same time, or on
// hosts that were not equally busy, and says how busy both were and whether that is enough to
// explain a change of the latency; nil where both had about as much to do, and not told where their
// requests were not counted.
func otherThroughput(a, b []*recording.Recording) (list []string, told bool) {
	x, toldA := loadOf(a)
	y, toldB := loadOf(b)
	if !toldA || !toldB {
		return nil, false
	}
	busier := x.host >= 0 && y.host >= 0 && math.Abs(x.host-y.host) > otherLoad
	if !differ(x.rate, y.rate) && !busier {
		return nil, true
	}
	text := fmt.Sprintf("other load: A answered %s requests a second with %s, B %s with %s", number(x.rate), x.words(),
		number(y.rate), y.words())
	return []string{text + "; " + byLoadAlone(x, y)}, true
}

// loadOf is the load of one side; false where it is of commands, or does not say how many requests
// it answered.
func loadOf(group []*recording.Recording) (side loaded, told bool) {
	of := func(value func(*recording.Recording) (float64, bool)) float64 {
		var values []float64
		for _, rec := range group {
			if v, known := value(rec); known {
				values = append(values, v)
			}
		}
		if len(values) < len(group) || len(values) == 0 {
			return -1
		}
		return stat.Average(values)
	}
	side.rate = of(func(rec *recording.Recording) (float64, bool) {
		window, served := float64(rec.Manifest.WindowNs)/1e9, units.Served(rec)
		if window <= 0 || served <= 0 || rec.Manifest.Target.Kind == "command" {
			return 0, false
		}
		return served / window, true
	})
	side.cpus, side.thread, side.host = of(units.CPUsBusy), of(units.BusiestThread), of(units.HostBusy)
	side.latency = of(func(rec *recording.Recording) (float64, bool) { return units.OfRequests(rec, units.Latency) })
	return side, side.rate > 0
}

func (l *loaded) words() string {
	text := "no CPU time told"
	if l.cpus >= 0 {
		text = number(l.cpus) + " CPUs busy"
	}
	if l.thread >= 0 {
		text += fmt.Sprintf(" (its busiest thread %.0f %%)", 100*l.thread)
	}
	if l.host >= 0 {
		text += fmt.Sprintf(" on a host that was %.0f %% busy", 100*l.host)
	}
	return text
}

// byLoadAlone says what the load alone makes of the latency, by the rule for one queue: what takes
// s on an idle server takes s / (1 - busy). The server is the busiest thread, as that of an event
// loop, or the host, whichever is busier.
func byLoadAlone(x, y loaded) string {
	busyX, busyY := max(x.thread, x.host), max(y.thread, y.host)
	if busyX < 0 || busyY < 0 || x.latency <= 0 || y.latency <= 0 {
		return "a busier service takes longer for each request, so that a change of the latency may come from that alone"
	}
	if max(busyX, busyY) >= fullFrom {
		return fmt.Sprintf("where nothing is idle requests wait for as long as others are there at once (on average %s of A "+
			"and %s of B were in progress): a change of the latency may come from that alone", number(x.rate*x.latency),
			number(y.rate*y.latency))
	}
	alone := (1 - busyX) / (1 - busyY)
	measured := y.latency / x.latency
	rule := fmt.Sprintf("by the rule for one queue that alone makes the latency of B %.2f× that of A, and it is %.2f×",
		alone, measured)
	switch part := math.Log(alone) / math.Log(measured); {
	case math.Abs(measured-1) < sameLatency:
		return rule
	case part >= enoughOfIt:
		return rule + ": the load may explain the change; compare the sides at the same load"
	}
	return rule + ": the load does not explain the change"
}
