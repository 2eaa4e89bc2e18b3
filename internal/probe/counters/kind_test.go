package counters

import (
	"testing"

	"culprit/internal/probe/counters/event"
)

// Only the plain event is what a run queue counts: in a group it counts while the others do.
func TestSwitchesOfTheRunQueue(t *testing.T) {
	list, err := event.Parse("context-switches,cs,{cs,page-faults},task-clock,page-faults", event.Host)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false, false, false, false} {
		if isSwitches(&list[i]) != want {
			t.Errorf("%s: %v, want %v", list[i].Name, !want, want)
		}
	}
	kinds := kindsOf(list)
	if kinds[4] != kindClock {
		t.Errorf("task-clock is read as %d, want %d", kinds[4], kindClock)
	}
	if findsQueues() && readsDirectly() && (kinds[0] != kindSwitches || kinds[2] == kindSwitches) {
		t.Errorf("switches are read as %d, in a group as %d", kinds[0], kinds[2])
	}
}
