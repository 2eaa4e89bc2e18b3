package record

import (
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"culprit/internal/host"
	"culprit/internal/probe/beat"
	"culprit/recording"
)

// clockPauses lie between the first looks at the clock source; then clockPause does. A command that
// chooses a source for itself does so when it starts, and the source that it was started under is
// not the one that it reads.
var clockPauses = []time.Duration{5 * time.Millisecond, 20 * time.Millisecond}

// How long another clock source may be in force without being seen; ten times clockPause where the
// recorder stays. What the whole host does is recorded for long, and each look may wake a recorder
// that has nothing else to do.
const (
	clockPause     = 100 * time.Millisecond
	clockPauseHost = 500 * time.Millisecond
)

// clockPause is the pause between two looks at the clock source.
func (o Options) clockPause() time.Duration {
	if o.WholeHost && !o.Forever {
		return clockPauseHost
	}
	return o.slowly(clockPause)
}

// clockWatch sees which clock sources the kernel reads during a window: the setting as it is at one
// moment does not tell of a run that changes it and puts it back.
type clockWatch struct {
	read        func() string
	done, ended chan struct{}
	force       map[string]time.Duration // how long each source was in force
	file        *os.File
	every       time.Duration // between two looks, but for the first ones
	last        string
	since       time.Time
	held        *heldFacts // is told of each look
}

// watchClock looks until stop is called. Where the host offers one source only there is nothing to
// see.
func watchClock(every time.Duration, held *heldFacts) *clockWatch {
	_, available := host.ClockSource("/")
	file, err := os.Open(host.ClockSourceFile)
	if err != nil {
		available = nil // nor is there anything to see
	}
	w := newClockWatch(available, every, func() string {
		var name [64]byte // one call for a look: opening it is ten times as dear
		n, _ := file.ReadAt(name[:], 0)
		return strings.TrimSpace(string(name[:n]))
	})
	w.file = file
	return w
}

func newClockWatch(available []string, every time.Duration, read func() string) *clockWatch {
	w := &clockWatch{read: read, every: every, done: make(chan struct{}), ended: make(chan struct{}),
		force: map[string]time.Duration{}, since: time.Now()}
	if len(available) < 2 {
		close(w.ended)
		return w
	}
	w.last = read()
	go w.run()
	return w
}

func (w *clockWatch) run() {
	defer close(w.ended)
	for look := 0; ; look++ {
		pause := w.every
		if look < len(clockPauses) {
			pause = clockPauses[look]
		}
		select {
		case <-w.done:
			w.look()
			return
		case <-beat.After(pause):
			w.look()
		}
	}
}

// look books the time since the last one for the source that was found then.
func (w *clockWatch) look() {
	now := time.Now()
	if w.last != "" {
		w.force[w.last] += now.Sub(w.since)
	}
	if w.last, w.since = w.read(), now; w.last != "" {
		w.held.note(recording.Fact{Name: host.FactClockSource, Value: w.last})
	}
	if _, known := w.force[w.last]; !known && w.last != "" {
		w.force[w.last] = 0
	}
}

// stop ends the watching and returns the sources that were in force, the longest first.
func (w *clockWatch) stop() []string {
	close(w.done)
	<-w.ended
	_ = w.file.Close() // it may never have been opened
	sources := make([]string, 0, len(w.force))
	for source := range w.force {
		sources = append(sources, source)
	}
	sort.Slice(sources, func(i, j int) bool {
		if w.force[sources[i]] != w.force[sources[j]] {
			return w.force[sources[i]] > w.force[sources[j]]
		}
		return sources[i] < sources[j]
	})
	return sources
}

// withClock says in the facts which clock source was in force for most of a window, and which
// others were.
func withClock(facts []recording.Fact, sources []string) []recording.Fact {
	if len(sources) < 2 {
		return facts // the one that is among the facts
	}
	facts = slices.DeleteFunc(facts, func(fact recording.Fact) bool { return fact.Name == host.FactClockSource })
	const source = "read during the window"
	return append(facts, recording.Fact{Name: host.FactClockSource, Value: sources[0], Source: source},
		recording.Fact{Name: host.FactClockSourcesSeen, Value: strings.Join(sources, " "), Source: source})
}
