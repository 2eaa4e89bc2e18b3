package record

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// What changed stands in the recording with its times, and as a fact with the value that it had
// longest; a part tells what did not change as well, for what follows it may differ.
func TestFactsThatChangeHaveTimes(t *testing.T) {
	fact := func(name, value string) recording.Fact { return recording.Fact{Name: name, Value: value} }
	start := bpf.Now()
	h := newHeldFacts(start)
	h.note(fact("tracers.perf", "none"), fact("vm.swappiness", "60"))
	time.Sleep(2 * time.Millisecond)
	h.note(fact("tracers.perf", "perf ×5"), fact("vm.swappiness", "60"))
	time.Sleep(20 * time.Millisecond)
	h.note(fact("tracers.perf", "perf ×5"))
	end := bpf.Now()
	rec := &recording.Recording{Facts: []recording.Fact{fact("tracers.perf", "none"), fact("vm.swappiness", "60")}}
	h.tellHeld(rec, end, false)
	held := rec.Manifest.Held
	if len(held) != 2 || held[0].Value != "none" || held[0].FromNs != 0 || held[1].Value != "perf ×5" ||
		held[1].FromNs != held[0].ToNs || held[1].FromNs < 2e6 || held[1].ToNs != end-start {
		t.Errorf("%v", held)
	}
	if rec.Fact("tracers.perf") != "perf ×5" || rec.Fact("vm.swappiness") != "60" {
		t.Errorf("facts %v", rec.Facts)
	}
	part := &recording.Recording{Facts: slices.Clone(rec.Facts)}
	if h.tellHeld(part, end, true); len(part.Manifest.Held) != 3 {
		t.Errorf("a part tells %v", part.Manifest.Held)
	}
}

// A fact that changes for ever is kept within limits, and what is left out is counted.
func TestFactsThatChangeAreBounded(t *testing.T) {
	h := newHeldFacts(bpf.Now())
	for value := range 100 {
		h.note(recording.Fact{Name: "a", Value: fmt.Sprint(value)})
	}
	rec := &recording.Recording{}
	h.tellHeld(rec, bpf.Now(), false)
	lost := rec.Manifest.Losses
	if len(rec.Manifest.Held) > recording.MaxHeldOfOne || len(lost) != 1 || lost[0].Count != 100-recording.MaxHeldOfOne {
		t.Errorf("%d values, lost %v", len(rec.Manifest.Held), lost)
	}
}
