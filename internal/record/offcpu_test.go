package record

import (
	"slices"
	"strings"
	"testing"

	"culprit/recording"
)

// offCPU adds up the off-CPU seconds of a thread's samples that have a function in their stack.
func (s seen) offCPU(function string, tid int32) float64 {
	var ns int64
	for _, sample := range s.Samples {
		if sample.Signal == recording.SignalOffCPU && sample.Tid == tid &&
			slices.Contains(s.StackNames(sample.Stack), function) {
			ns += sample.ValueNs
		}
	}
	return float64(ns) / 1e9
}

// Time off the CPU goes to the place that waited, with who ended it and what was waited for.
func TestWaitsOfC(t *testing.T) {
	recorder := standing.get(t)
	program := programs.compile(t, "waits.c")
	watchCommand(t, recorder, program, "0.2") // the unwinder gets to know it
	got := watchCommand(t, recorder, program, "2.5")
	truth := numbers(t, got.output)
	for _, site := range []string{"wait_first", "wait_second", "sleep_short", "sleep_long", "ask_other"} {
		about(t, "seconds off the CPU in "+site, got.offCPU(site, got.pid), truth[site], 0.05, 0.01)
	}
	wakers := map[string]string{"wait_first": recording.WakerThread, "wait_second": recording.WakerThread,
		"ask_other": recording.WakerThread, "sleep_short": recording.WakerTimer, "sleep_long": recording.WakerTimer}
	calls := map[string]string{"wait_first": "futex", "wait_second": "futex", "ask_other": "read",
		"sleep_short": "clock_nanosleep", "sleep_long": "clock_nanosleep"}
	kept, right := 0, 0
	for _, wait := range got.Waits {
		site := siteOf(got.StackNames(wait.Stack), calls)
		if site == "" || wait.Tid != got.pid || wait.State == "R" || wait.BlockedNs < 100_000 {
			continue
		}
		kept++
		good := wait.WakerKind == wakers[site] && wait.Syscall == calls[site]
		if wait.WakerKind == recording.WakerThread {
			good = good && wait.WakerPid == got.pid && wait.WakerTid != got.pid && wait.WakerComm == "waits-c"
		}
		if lock := strings.TrimPrefix(site, "wait_"); lock != site {
			good = good && float64(wait.Object) == truth[lock]
		}
		if good {
			right++
		} else if kept-right < 5 {
			t.Logf("in %s: %+v", site, wait)
		}
	}
	if kept < 300 || right < kept*98/100 {
		t.Errorf("of %d waits %d have the right call, object and waker", kept, right)
	}
	got.lossless(t, "offcpu")
	checkBooks(t, got)
	checkLocks(t, got, truth)
}

// checkLocks holds that each of the two locks is there with its waiter, and with the thread that
// held it.
func checkLocks(t *testing.T, got seen, truth map[string]float64) {
	t.Helper()
	released := 0
	for _, name := range []string{"first", "second"} {
		site := "wait_" + name
		at := slices.IndexFunc(got.Locks, func(lock recording.Lock) bool {
			return lock.Kind == recording.LockFutex && lock.Pid == got.pid && float64(lock.Address) == truth[name]
		})
		if at < 0 {
			t.Errorf("the lock of %s is not there", site)
			continue
		}
		lock := got.Locks[at]
		if lock.Waiters != 1 || lock.Waits < 10 || lock.MaxNs > lock.TotalNs || lock.HolderPid != got.pid ||
			lock.HolderTid == got.pid || lock.HolderComm != "waits-c" {
			t.Errorf("lock of %s: %+v", site, lock)
		}
		if !slices.Contains(got.StackNames(lock.WaiterStack), site) {
			t.Errorf("lock of %s: waited for in %v", site, got.StackNames(lock.WaiterStack))
		}
		// The program's own time includes the wait for a CPU behind the lock.
		if waited := float64(lock.TotalNs) / 1e9; waited > truth[site]*1.05+0.01 || waited < truth[site]*0.5 {
			t.Errorf("lock of %s: %.3f s waited, the program says %.3f", site, waited, truth[site])
		}
		if slices.Contains(got.StackNames(lock.HolderStack), "hold") {
			released++
		}
	}
	if released == 0 {
		t.Error("no lock shows where its holder released it")
	}
}

func siteOf(stack []string, sites map[string]string) string {
	for _, name := range stack {
		if sites[name] != "" {
			return name
		}
	}
	return ""
}

// checkBooks holds that each thread's time on the CPU, off it, and before its start and after its
// end add up to the window, and that its waiting for a CPU is what the scheduler says.
func checkBooks(t *testing.T, got seen) {
	t.Helper()
	off := map[int32]int64{}
	for _, sample := range got.Samples {
		if sample.Signal == recording.SignalOffCPU {
			off[sample.Tid] += sample.ValueNs
		}
	}
	for _, thread := range got.Threads {
		end := thread.EndNs
		if end == 0 {
			end = got.Manifest.WindowNs
		}
		life := float64(end-thread.StartNs) / 1e9
		// The walks over all threads at the two edges take their time on a busy host.
		about(t, thread.Comm+": on and off the CPU", float64(thread.CPUNs+off[thread.Tid])/1e9, life, 0.02, 0.04)
	}
}

// Two spinners that share one CPU wait for each other, and each is named as the one who ran
// meanwhile.
func TestRunqueue(t *testing.T) {
	recorder := standing.get(t)
	spin := programs.compile(t, "spin.c")
	script := `cp "$0" "$1/rival"; cp "$0" "$1/victim"; taskset -c 1 "$1/rival" 1.2 & taskset -c 1 "$1/victim" 1.2; wait`
	got := watchCommand(t, recorder, "/bin/sh", "-c", script, spin, t.TempDir())
	for comm, rival := range map[string]string{"victim": "rival", "rival": "victim"} {
		thread, other := got.threadNamed(comm), got.threadNamed(rival)
		if thread == nil || other == nil {
			t.Fatalf("no thread %s or %s", comm, rival)
		}
		var queued, behindRival, unknown float64
		for _, wait := range got.Waits {
			if wait.Tid != thread.Tid || wait.State != "R" {
				continue
			}
			if wait.WakerKind != recording.WakerNone || wait.BlockedNs != 0 {
				t.Errorf("preempted, yet %+v", wait)
			}
			queued += float64(wait.RunqueueNs) / 1e9
			if wait.RunnerComm == "" { // its switch-in was not seen
				unknown += float64(wait.RunqueueNs) / 1e9
			}
			if wait.RunnerComm == rival && wait.RunnerPid == other.Pid {
				behindRival += float64(wait.RunqueueNs) / 1e9
			}
		}
		about(t, comm+": seconds of waits in the run queue", queued, float64(thread.RunqueueNs)/1e9, 0.05, 0)
		if queued < 0.45 { // both run for 1.2 s of wall time on one CPU
			t.Errorf("%s: only %.3f s in the run queue", comm, queued)
		}
		// others may want that CPU too: then the last runner before it is often one of them
		alone := float64(thread.CPUNs+other.CPUNs)/1e9 > 1.1
		if behindRival == 0 || unknown > 0.1*queued || alone && behindRival < 0.65*queued {
			t.Errorf("%s: %.3f of %.3f s behind its rival, %.3f s behind nobody known", comm, behindRival, queued, unknown)
		}
	}
	checkBooks(t, got)
}

func (s seen) threadNamed(comm string) *recording.Thread {
	for i := range s.Threads {
		if s.Threads[i].Comm == comm {
			return &s.Threads[i]
		}
	}
	return nil
}
