package trial

import (
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
	"culprit/internal/stat"
)

// The kernel's account of a process of 3 ms, read by wait4, against the process's own clock at its
// end.
func TestWaitAccountsShortBursts(t *testing.T) {
	var ratios []float64
	for range 15 {
		path, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		command := exec.Command(path)
		command.Env = append(os.Environ(), roleVariable+"=busy 3ms", "GOMAXPROCS=1")
		text, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		charged, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(string(text)), "charged="), 64)
		if err != nil {
			t.Fatal(err)
		}
		waited := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
		ratios = append(ratios, float64(waited.Nanoseconds())/charged)
	}
	// Above 1 by what the process needed to print and end. Ticks of 4 ms would give nothing for one
	// in four.
	t.Logf("wait4 / own clock at the end: median %.4f, all %.3f", stat.Middle(ratios), ratios)
	if least := slices.Min(ratios); least < 0.99 || stat.Middle(ratios) > 3 {
		t.Errorf("wait4 gives %.3f of the CPU time of 3 ms processes, at least %.3f", stat.Middle(ratios), least)
	}
}

// The same account against the scheduler's own for the same process: it has ended and is not yet
// reaped, so that both are final.
func TestWaitAgreesWithScheduler(t *testing.T) {
	for _, turns := range []int{1, 1000, 3000, 10000} {
		script := "i=0; while [ $i -lt " + strconv.Itoa(turns) + " ]; do i=$((i+1)); done"
		pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{})
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		scheduled := settled(t, pid)
		_, usage, err := wait(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		waited := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		t.Logf("%d turns: wait4 %s, scheduler %s", turns, waited, scheduled)
		if ratio := float64(waited) / float64(scheduled); ratio < 0.95 || ratio > 1.05 {
			t.Errorf("%d turns: wait4 gives %s, the scheduler %s", turns, waited, scheduled)
		}
	}
}

// settled waits until the scheduler's account of an ended process stands still: the process leaves
// its CPU a moment after it can be seen as ended.
func settled(t *testing.T, pid int) time.Duration {
	t.Helper()
	var last time.Duration
	for {
		scheduled, _, err := schedstat(pid)
		if err != nil {
			t.Fatal(err)
		}
		if scheduled == last {
			return last
		}
		last = scheduled
		time.Sleep(20 * time.Millisecond)
	}
}

// The account of a run against what its processes say that they were charged. Starting and ending
// each of them comes on top, which takes 1 to 5 ms on the hosts seen; counting one of 60 ms twice
// is more than that.
func TestRunAccountsWholeTree(t *testing.T) {
	runner := newRunner(t)
	t.Logf("blind spots: %q", runner.BlindSpots())
	busy := as("busy 60ms")
	tests := []struct {
		name, command string
		processes     int // that print what they were charged
	}{
		{"one process", busy, 1},
		{"three children, two of them grandchildren", "(" + busy + "); ((" + busy + ") & (" + busy + ") & wait)", 3},
		{"twenty of 3 ms", "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do (" +
			as("busy 3ms") + "); done", 20},
		{"nobody waits for it", "trap '' CHLD; (" + busy + ") & wait; sleep 0.01", 1},
		{"nothing", "sleep 0.05", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := spec(t, test.command)
			run := mustRun(t, runner, s)
			cpu := run.Metrics[MetricCPU]
			t.Logf("%v %+v", run.Metrics, run.Disturb)
			charged, processes := chargedIn(t, outputText(t, s, run.Stdout))
			if processes != test.processes {
				t.Fatalf("%d processes said what they were charged, want %d", processes, test.processes)
			}
			if most := charged + 0.025*float64(processes+1); cpu < 0.99*charged || cpu > most {
				t.Errorf("cpu %.4f s, want %.3f to %.3f", cpu, charged, most)
			}
			if sum := run.Metrics[MetricUser] + run.Metrics[MetricSystem]; math.Abs(sum-cpu) > 1e-9 {
				t.Errorf("user + system is %v, cpu %v", sum, cpu)
			}
		})
	}
}

// chargedIn adds up what the processes of a run printed, in seconds.
func chargedIn(t *testing.T, text string) (seconds float64, processes int) {
	t.Helper()
	for line := range strings.Lines(text) {
		ns, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(line), "charged="), 64)
		if err != nil {
			t.Fatal(err)
		}
		seconds, processes = seconds+ns/1e9, processes+1
	}
	return seconds, processes
}

// What is still running when the command ends is ended with it, and its time is the run's.
func TestRunAccountsWhatItEnds(t *testing.T) {
	runner := newRunner(t)
	ended := `import os,time
while time.process_time() < 0.1: pass
open("used", "w").close()
while True: pass
`
	s := spec(t, "python3 -c '"+ended+"' & while [ ! -e used ]; do sleep 0.01; done")
	s.Dir = t.TempDir()
	run := mustRun(t, runner, s)
	if run.Metrics[MetricCPU] < 0.1 {
		t.Errorf("cpu %.3f s does not hold the 0.1 s of the child that was ended", run.Metrics[MetricCPU])
	}
}

// A command that nobody reaps, on a parent that ignores SIGCHLD: the shell resets the trap, Python
// does not.
func TestRunAccountsUnwaited(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal("this test needs python3, which the build machine has")
	}
	runner := newRunner(t)
	script := `import os,signal,time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    while time.process_time() < 0.15: pass
    os._exit(0)
try: os.wait()
except ChildProcessError: pass
`
	run := mustRun(t, runner, spec(t, "python3 -c '"+script+"'"))
	if len(runner.BlindSpots()) == 0 && run.Metrics[MetricCPU] < 0.15 {
		t.Errorf("cpu %.3f s does not hold the 0.15 s of the child that nobody waited for", run.Metrics[MetricCPU])
	}
}

func TestRunMeasuresMemoryAndSwitches(t *testing.T) {
	runner := newRunner(t)
	ballast := make([]byte, 96<<20) // culprit itself is larger than what it runs
	for i := range ballast {
		ballast[i] = 1
	}
	small := mustRun(t, runner, spec(t, "sleep 0.02; sleep 0.02; exec true"))
	large := mustRun(t, runner, spec(t, as("memory 64")))
	ballast[0]++
	if len(runner.BlindSpots()) == 0 && small.Metrics[MetricMemory] > 20<<20 {
		t.Errorf("peak memory of a shell is given as %.0f MiB", small.Metrics[MetricMemory]/(1<<20))
	}
	if got := large.Metrics[MetricMemory] / (1 << 20); got < 64 || got > 96 && len(runner.BlindSpots()) == 0 {
		t.Errorf("peak memory %.0f MiB, want 64 and a little", got)
	}
	if large.Metrics[MetricMinorFaults]-small.Metrics[MetricMinorFaults] < 30 {
		t.Errorf("minor faults %v and %v: touching 64 MiB is not seen", large.Metrics[MetricMinorFaults],
			small.Metrics[MetricMinorFaults])
	}
	if small.Metrics[MetricVoluntary] < 2 || small.Metrics[MetricVoluntary] > 30 {
		t.Errorf("two sleeps made %v voluntary switches", small.Metrics[MetricVoluntary])
	}
}

// onCPU is the time that a process has run.
func onCPU(t *testing.T, pid int) time.Duration {
	t.Helper()
	used, err := host.ProcessCPUTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// Two spinners pinned to one CPU each wait for about half of the time.
func TestRunSeesRunqueueDelayOfTree(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the kernel tells only root of processes as they end (taskstats)")
	}
	runner := newRunner(t)
	pinned := "taskset -c 0 sh -c \"" + strings.ReplaceAll(as("busy 100ms"), "\"", "") + "\""
	run := mustRun(t, runner, spec(t, pinned+" & "+pinned+" & wait"))
	t.Logf("%+v", run.Disturb)
	if run.Disturb.RunqueueS < 0.05 {
		t.Errorf("run-queue delay %.3f s of two processes that share a CPU for 0.2 s", run.Disturb.RunqueueS)
	}
}

// A child of culprit that is no part of the run uses CPU: it is seen as others' time, unless it is
// spared.
func TestRunSeesOthers(t *testing.T) {
	runner := newRunner(t)
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(path)
	other.Env = append(os.Environ(), roleVariable+"=busy 60s")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	time.Sleep(50 * time.Millisecond)
	before := onCPU(t, other.Process.Pid)
	seen := mustRun(t, runner, spec(t, "sleep 0.4"))
	used := (onCPU(t, other.Process.Pid) - before).Seconds()
	runner.Spare(other.Process.Pid)
	spared := mustRun(t, runner, spec(t, "sleep 0.4"))
	t.Logf("others %.3f s, spared %.3f s", seen.Disturb.OthersS, spared.Disturb.OthersS)
	// Other work may go on on this machine, and the process ran before and after the command too.
	if seen.Disturb.OthersS < 0.4*used {
		t.Errorf("a process that used %.3f s around the run is seen as %.3f s", used, seen.Disturb.OthersS)
	}
	if fields := host.StatFields(other.Process.Pid); len(fields) == 0 || fields[0] == "Z" {
		t.Error("the run has killed a process that it did not start")
	}
}
