package recording

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Fact is one setting of the host or the target and where it was read.
type Fact struct {
	Name   string `json:"name"` // dotted: "clocksource.current", "vm.dirty_ratio", "target.seccomp"
	Value  string `json:"value"`
	Source string `json:"source"` // path or call it was read from
}

// FactMemorySamples says by what the processor itself sampled accesses to memory, where it did:
// "PEBS (cpu/mem-loads/, cpu/mem-stores/)".
const FactMemorySamples = "recorder.memory_samples"

// HeldFact is the value that a fact had for a part of a recording. Facts that changed meanwhile
// stand in the manifest with all the values that they were seen to have; Facts has the one that
// held longest.
type HeldFact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// On the recording's clock: when the value was first seen, 0 for the first of a fact, and when
	// another one was, or the end. Looks are a second apart, or more, so that the change itself was
	// up to as much earlier.
	FromNs int64 `json:"from_ns"`
	ToNs   int64 `json:"to_ns"`
}

// The limits of what is kept of facts that changed: values of one fact, and of all.
const (
	MaxHeldOfOne = 16
	MaxHeld      = 512
)

// String says what held, and when.
func (h HeldFact) String() string {
	round := func(ns int64) time.Duration { return time.Duration(ns).Round(100 * time.Millisecond) }
	return fmt.Sprintf("%s from %v to %v", h.Value, round(h.FromNs), round(h.ToNs))
}

// heldSource is where facts come from that are known by their changes alone.
const heldSource = "read during the recording"

// FactsBetween are the facts of a part of a recording, each with the value that held longest in it,
// and what changed within the part, on its own clock. What it is given stays as it is.
func FactsBetween(facts []Fact, held []HeldFact, fromNs, toNs int64) ([]Fact, []HeldFact) {
	facts = slices.Clone(facts)
	var within []HeldFact
	for _, h := range held[:min(len(held), MaxHeld)] {
		if h.FromNs, h.ToNs = max(h.FromNs, fromNs), min(h.ToNs, toNs); h.FromNs < h.ToNs {
			h.FromNs, h.ToNs = h.FromNs-fromNs, h.ToNs-fromNs
			within = append(within, h)
		}
	}
	for _, h := range longest(within) {
		at := slices.IndexFunc(facts, func(f Fact) bool { return f.Name == h.Name })
		if at < 0 {
			facts = append(facts, Fact{Name: h.Name, Value: h.Value, Source: heldSource})
			continue
		}
		facts[at].Value = h.Value
	}
	return facts, changed(within)
}

// longest has one entry for each fact: the value that held longest, all its stretches together.
func longest(held []HeldFact) (list []HeldFact) {
	type valued struct{ name, value string }
	took, best := map[valued]int64{}, map[string]int{}
	for _, h := range held {
		took[valued{h.Name, h.Value}] += h.ToNs - h.FromNs
	}
	for _, h := range held {
		at, known := best[h.Name]
		switch {
		case !known:
			best[h.Name] = len(list)
			list = append(list, h)
		case took[valued{h.Name, h.Value}] > took[valued{h.Name, list[at].Value}]:
			list[at] = h
		}
	}
	return list
}

// changed leaves out facts that had one value all the time.
func changed(held []HeldFact) []HeldFact {
	first := map[string]string{}
	differs := map[string]bool{}
	for _, h := range held {
		if value, known := first[h.Name]; known && value != h.Value {
			differs[h.Name] = true
		} else if !known {
			first[h.Name] = h.Value
		}
	}
	return slices.DeleteFunc(held, func(h HeldFact) bool { return !differs[h.Name] })
}

// laterHeld adds what held in a part that begins where the recording so far ends.
func laterHeld(held, part []HeldFact, offsetNs int64) []HeldFact {
	for _, h := range part {
		h.FromNs += offsetNs
		h.ToNs += offsetNs
		values, last := 0, -1
		for at := range held {
			if held[at].Name == h.Name {
				values, last = values+1, at
			}
		}
		switch {
		case last >= 0 && (held[last].Value == h.Value || values >= MaxHeldOfOne):
			held[last].ToNs = h.ToNs
		case len(held) < MaxHeld:
			held = append(held, h)
		}
	}
	return held
}

// inOrder sorts by fact, then by time.
func inOrder(held []HeldFact) []HeldFact {
	slices.SortStableFunc(held, func(a, b HeldFact) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.FromNs, b.FromNs))
	})
	return held
}
