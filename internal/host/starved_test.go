package host

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A thread that ends grace periods is starved where it is runnable and has no turn; one that runs,
// or sleeps, is not.
func TestStarvedKernelThread(t *testing.T) {
	proc := t.TempDir()
	thread := filepath.Join(proc, "15")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(thread, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(thread, 0o755); err != nil {
		t.Fatal(err)
	}
	status := func(state, turns string) string {
		return "Name:\trcu_preempt\nState:\t" + state + "\nvoluntary_ctxt_switches:\t" + turns +
			"\nnonvoluntary_ctxt_switches:\t1\n"
	}
	write("comm", "rcu_preempt\n")
	write("status", status("R (running)", "7"))
	if got := starvedBelow(proc); got != "rcu_preempt" {
		t.Errorf("runnable without a turn: %q", got)
	}
	time.AfterFunc(starvedFor/3, func() { write("status", status("R (running)", "8")) })
	if got := starvedBelow(proc); got != "" {
		t.Errorf("with a turn: %q", got)
	}
	write("status", status("I (idle)", "8"))
	if got := starvedBelow(proc); got != "" {
		t.Errorf("asleep: %q", got)
	}
	write("comm", "kworker/0:1\n")
	if got := starvedBelow(proc); got != "" {
		t.Errorf("another thread: %q", got)
	}
}
