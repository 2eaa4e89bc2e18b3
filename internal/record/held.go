package record

import (
	"slices"
	"strings"
	"sync"
	"time"

	"culprit/internal/host"
	"culprit/internal/probe/beat"
	"culprit/internal/probe/bpf"
	"culprit/recording"
)

const (
	// heldEvery is the least time between two looks at facts that may change while a window lasts;
	// they are so many times further apart as a look took, which is a thousandth of a CPU, but no
	// more than heldMost.
	heldEvery = time.Second
	heldCost  = 1000
	heldMost  = time.Minute
)

// heldFacts keeps what facts that may change held when. Several watches tell it what they see.
type heldFacts struct {
	lock    sync.Mutex
	startNs int64
	list    []recording.HeldFact // of a fact in order of time
	last    map[string]int       // where the latest value of each fact is
	values  map[string]int       // how many each has
	lost    int64                // changes that did not fit

	wait        time.Duration // until the next look; of whoever looks until ended is closed
	done, ended chan struct{}
}

// watchHeld looks until stop is called, first after a while.
func watchHeld(startNs int64, every, first time.Duration, look func() []recording.Fact) *heldFacts {
	h := newHeldFacts(startNs)
	h.wait = max(every, first)
	go func() {
		defer close(h.ended)
		for {
			select {
			case <-h.done:
				return
			case <-beat.After(h.wait):
			}
			begun := time.Now()
			h.note(look()...)
			h.wait = max(every, min(heldCost*time.Since(begun), heldMost))
		}
	}()
	return h
}

func newHeldFacts(startNs int64) *heldFacts {
	return &heldFacts{startNs: startNs, last: map[string]int{}, values: map[string]int{}, done: make(chan struct{}),
		ended: make(chan struct{})}
}

// note takes facts as they are now. Nil keeps none.
func (h *heldFacts) note(facts ...recording.Fact) {
	if h == nil {
		return
	}
	now := bpf.Now() - h.startNs
	h.lock.Lock()
	defer h.lock.Unlock()
	for _, fact := range facts {
		last, known := h.last[fact.Name]
		next := recording.HeldFact{Name: fact.Name, Value: fact.Value, FromNs: now, ToNs: now}
		if known && h.list[last].Value == fact.Value {
			continue
		}
		if len(h.list) >= recording.MaxHeld || h.values[fact.Name] >= recording.MaxHeldOfOne {
			h.lost++
			continue
		}
		if known {
			h.list[last].ToNs = now
		} else {
			next.FromNs = 0
		}
		h.last[fact.Name] = len(h.list)
		h.values[fact.Name]++
		h.list = append(h.list, next)
	}
}

// stopLooking ends the looks of its own; others may still tell what they see.
func (h *heldFacts) stopLooking() {
	close(h.done)
	<-h.ended
}

// until is all that was seen up to the end of a window, and how many changes did not fit.
func (h *heldFacts) until(endNs int64) ([]recording.HeldFact, int64) {
	h.lock.Lock()
	defer h.lock.Unlock()
	length, list := endNs-h.startNs, []recording.HeldFact{}
	for at, held := range h.list {
		if held.FromNs >= length { // the last look comes after the end
			continue
		}
		if held.ToNs = min(held.ToNs, length); at == h.last[held.Name] {
			held.ToNs = length
		}
		list = append(list, held)
	}
	slices.SortStableFunc(list, func(a, b recording.HeldFact) int { return strings.Compare(a.Name, b.Name) })
	return list, h.lost
}

// mayChange are the facts of a target that are told with their times: who traces and filters it,
// and its limits.
var mayChange = []string{host.FactTargetTracer, host.FactTargetSeccomp, host.FactTargetSeccompFilters,
	"target.affinity", "target.cgroup.cpu.limit_cpus", "target.cgroup.memory.limit_bytes"}

// thatMayChange are those among facts.
func thatMayChange(facts []recording.Fact) (list []recording.Fact) {
	for _, fact := range facts {
		if slices.Contains(mayChange, fact.Name) {
			list = append(list, fact)
		}
	}
	return list
}

// changing reads the facts of the host that may change while a window lasts.
func (s *Session) changing(target Target) func() []recording.Fact {
	return func() []recording.Fact { return append(s.counting.facts(target), host.Sysctls("/")...) }
}

// tellHeld puts into a recording what facts held when. A part has all of them: what follows may
// differ.
func (h *heldFacts) tellHeld(rec *recording.Recording, endNs int64, part bool) {
	held, lost := h.until(endNs)
	length := endNs - h.startNs
	facts, changed := recording.FactsBetween(rec.Facts, held, 0, length)
	if part {
		rec.Manifest.Held = held
		return
	}
	rec.Facts, rec.Manifest.Held = facts, changed
	if lost > 0 {
		rec.Manifest.Losses = append(rec.Manifest.Losses,
			recording.Loss{What: "facts: changes that did not fit", Count: lost})
	}
}
