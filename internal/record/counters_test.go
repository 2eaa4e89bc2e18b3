package record

import (
	"fmt"
	"path/filepath"
	"testing"

	"culprit/internal/host"
	"culprit/recording"
)

// Counters count the target's own events, in each window anew, and a process's rows are part of the
// target's.
func TestCounters(t *testing.T) {
	recorder := start(t, Options{Counters: "minor-faults,context-switches,task-clock"})
	program := programs.compile(t, "touch.c")
	for window, pages := range []int{8000, 2000} {
		before := hostTimes(t)
		got := watchCommand(t, recorder, program, fmt.Sprint(pages), "100", filepath.Join(t.TempDir(), "cold"))
		truth := numbers(t, got.output)
		rows := map[string]recording.Counter{}
		processes := map[string]int64{}
		unseen := int64(0)
		for _, row := range got.Counters {
			switch row.Scope {
			case recording.ScopeTarget:
				rows[row.Name] = row
			case recording.ScopeProcess:
				processes[row.Name] += row.Value
			default:
				t.Errorf("a row of %q: %+v", row.Scope, row)
			}
		}
		for _, loss := range got.Manifest.Losses {
			if loss.What == "counters: switches that were not seen" {
				unseen = loss.Count
			}
		}
		// The shell at the gate comes on top; a switch that the kernel did not show takes a stay on
		// the CPU away.
		faults := rows["minor-faults"]
		if want := truth["minor"]; unseen == 0 && float64(faults.Value) < want || float64(faults.Value) > want+2000 {
			t.Errorf("window %d: %d faults, the truth is %.0f; %d switches were not seen", window, faults.Value, want, unseen)
		}
		clock := rows["task-clock"]
		if unseen == 0 {
			scheduler := 0.0
			for _, thread := range got.Threads {
				scheduler += float64(thread.CPUNs)
			}
			// The clock goes on while the hypervisor has the CPU, the scheduler's account does not
			// (CONFIG_PARAVIRT_TIME_ACCOUNTING).
			stolen := hostTimes(t).Since(before).Steal
			about(t, "CPU time in s", float64(clock.Value)/1e9, scheduler/1e9, 0.2, 0.01+stolen)
		}
		if clock.Unit != "ns" || clock.Low != clock.Value || clock.High != clock.Value || clock.RunningNs != clock.EnabledNs {
			t.Errorf("the clock is counted all the time: %+v", clock)
		}
		for name, row := range rows {
			if processes[name] != row.Value {
				t.Errorf("%s: %d in processes, %d in the target", name, processes[name], row.Value)
			}
		}
		if rows["context-switches"].Value == 0 {
			t.Error("no switch was counted")
		}
	}
}

func hostTimes(t *testing.T) host.CPUTimes {
	t.Helper()
	times, err := host.ReadCPUTimes("/")
	if err != nil {
		t.Fatal(err)
	}
	return times
}
