package knob

import (
	"strings"
	"testing"
)

func TestManagers(t *testing.T) {
	root := tree(t, map[string]string{"/proc/12/comm": "irqbalance", "/proc/7/comm": "power-profiles-",
		"/proc/300/comm": "tuned", "/proc/9/comm": "tunedx", "/proc/self/comm": "tuned"})
	found := Managers(root)
	if len(found) != 3 || found[0].Name != "power-profiles-daemon" || found[1].Pid != 12 || found[2].Name != "TuneD" {
		t.Fatalf("found %+v", found)
	}
	if !found[0].Sets("governor") || found[0].Sets("vm.swappiness") || !found[1].Sets("irq.4.affinity") ||
		found[1].Sets("nice") || !found[2].Sets("vm.swappiness") {
		t.Error("a manager's knobs are wrong")
	}
}

// Who else sets a knob of the change is said, and what a killed run had left.
func TestWarningsOfAChange(t *testing.T) {
	state := newState(t)
	root := tree(t, map[string]string{"/proc/12/comm": "tuned", "/proc/13/comm": "irqbalance",
		"/proc/sys/vm/swappiness": "60"})
	clock := machine(t, "kvm-clock", "tsc", "kvm-clock")
	stale(t, state, func(*entry) {}, clock)
	found, err := Find("vm.swappiness", Target{Root: root})
	must(t, err)
	change, err := Begin(t.Context(), found)
	must(t, err)
	said := strings.Join(change.Warnings(), "\n")
	for _, word := range []string{"TuneD (pid 12)", "vm.swappiness", "clocksource: kvm-clock → tsc", "killed"} {
		if !strings.Contains(said, word) {
			t.Errorf("%q does not name %q", said, word)
		}
	}
	if strings.Contains(said, "irqbalance") {
		t.Errorf("%q names who does not set it", said)
	}
	must(t, change.Restore())
	change, err = Begin(t.Context(), ClockSource(clock))
	must(t, err)
	if said := change.Warnings(); len(said) != 0 {
		t.Errorf("nothing is to be said, but %q is", said)
	}
	must(t, change.Restore())
}
