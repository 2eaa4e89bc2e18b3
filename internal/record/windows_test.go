package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// running starts a program that goes on until the test ends.
func running(t *testing.T, words ...string) *held {
	t.Helper()
	h := hold(t, words...)
	h.release()
	time.Sleep(50 * time.Millisecond) // it gets to its loop
	return h
}

// watchFor records a target for a while.
func watchFor(t *testing.T, recorder *Recorder, target Target, duration time.Duration) seen {
	t.Helper()
	if err := recorder.Begin(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	time.Sleep(duration)
	got := endWindow(t, recorder)
	got.pid = int32(target.Pid)
	return got
}

// mentions lists where a recording shows a process as its target.
func (s seen) mentions(pid int32) (tables []string) {
	for _, row := range s.Processes {
		if row.Pid == pid {
			tables = append(tables, "processes")
		}
	}
	for _, row := range s.Threads {
		if row.Pid == pid {
			tables = append(tables, "threads")
		}
	}
	for _, row := range s.Syscalls {
		if row.Pid == pid {
			tables = append(tables, "syscalls")
		}
	}
	for _, row := range s.Waits {
		if row.Pid == pid {
			tables = append(tables, "waits")
		}
	}
	for _, row := range s.Samples {
		if row.Pid == pid && row.Target {
			tables = append(tables, "samples")
		}
	}
	return tables
}

// A process that outlives its window is no target of the next, and is one again, from its own
// start, when asked for.
func TestWindowsAreSeparate(t *testing.T) {
	recorder := standing.get(t)
	program := programs.compile(t, "steady.c")
	one, two := running(t, program), running(t, program)
	for round, target := range []*held{one, two, one} {
		other := one
		if target == one {
			other = two
		}
		got := watchFor(t, recorder, Target{Kind: "pid", Pid: target.pid()}, 300*time.Millisecond)
		if tables := got.mentions(int32(other.pid())); len(tables) > 0 {
			t.Errorf("window %d shows the target of another in %v", round, tables)
		}
		if len(got.Processes) != 1 || len(got.Threads) != 2 {
			t.Fatalf("window %d: processes %+v, threads %+v", round, got.Processes, got.Threads)
		}
		process := got.Processes[0]
		if process.Pid != got.pid || process.StartNs != 0 || process.EndNs != 0 || process.Comm != "steady-c" ||
			process.CPUNs <= 0 || process.CPUNs > got.Manifest.WindowNs {
			t.Errorf("window %d: %+v", round, process)
		}
		checkBooks(t, got)
		checkPending(t, got, "waiter", "pause")
		for _, wait := range got.Waits {
			if wait.TimeNs < 0 || wait.TimeNs+wait.BlockedNs+wait.RunqueueNs > got.Manifest.WindowNs+5e6 {
				t.Errorf("window %d: a wait beyond its ends: %+v", round, wait)
			}
		}
	}
}

// checkPending holds that a thread that did nothing but wait shows one wait over the whole window.
func checkPending(t *testing.T, got seen, comm, syscall string) {
	t.Helper()
	thread := got.threadNamed(comm)
	if thread == nil {
		t.Fatalf("no thread %s among %+v", comm, got.Threads)
	}
	count := 0
	for _, wait := range got.Waits {
		if wait.Tid != thread.Tid {
			continue
		}
		count++
		about(t, comm+": seconds of its wait", float64(wait.BlockedNs)/1e9, float64(got.Manifest.WindowNs)/1e9, 0.1, 0.01)
		if wait.WakerKind != recording.WakerPending || wait.Syscall != syscall || wait.State != "S" || wait.WakerTid != 0 ||
			len(got.StackFrames(wait.Stack)) == 0 {
			t.Errorf("%s: %+v at %v", comm, wait, got.StackNames(wait.Stack))
		}
	}
	if count != 1 {
		t.Errorf("%s has %d waits", comm, count)
	}
}

// awaitThread waits until a process has a thread of that name.
func awaitThread(t *testing.T, pid int, comm string) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil && strings.TrimSpace(string(text)) == comm {
				return
			}
		}
		if time.Now().After(until) {
			t.Fatalf("process %d has no thread %s", pid, comm)
		}
	}
}

// A JVM that was there before: all its threads, what they do from the first sample on, and waits
// that began before the window.
func TestRunningJVM(t *testing.T) {
	recorder := standing.get(t)
	h := running(t, javaHome(t, "17")+"/bin/java", "-cp", programs.compile(t, "Idle.java"), "Idle")
	awaitThread(t, h.pid(), "sleeper")
	time.Sleep(500 * time.Millisecond) // the threads of its compilers come and go
	got := watchFor(t, recorder, Target{Kind: "pid", Pid: h.pid()}, time.Second)
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", h.pid()))
	if err != nil || len(tasks) == 0 || len(got.Threads) < len(tasks) {
		t.Errorf("%d threads were seen, %d are there (%v)", len(got.Threads), len(tasks), err)
	}
	checkBooks(t, got)
	checkPending(t, got, "waiter", "futex")
	checkPending(t, got, "sleeper", "futex")
	spinner := got.threadNamed("spinner")
	if spinner == nil {
		t.Fatal("no thread spinner")
	}
	samples, elsewhere := 0, map[string]int{}
	for _, sample := range got.Samples {
		if sample.Signal != recording.SignalCPU || sample.Tid != spinner.Tid {
			continue
		}
		if names := strings.Join(got.StackNames(sample.Stack), ";"); strings.Contains(names, "Idle.spinAWhile") {
			samples += int(sample.Count)
		} else {
			elsewhere[names] += int(sample.Count)
		}
	}
	if broken := brokenOf(elsewhere); broken > 2 {
		t.Errorf("%d of %d stacks of the spinner are broken: %v", broken, samples+broken, elsewhere)
	}
	about(t, "samples of the spinner", float64(samples), float64(spinner.CPUNs)/1e9*float64(got.Manifest.Hz), 0.3, 10)
}

// brokenOf counts the stacks that could not be followed to their root.
func brokenOf(stacks map[string]int) (count int) {
	for names, samples := range stacks {
		if strings.HasPrefix(names, strings.TrimSuffix(recording.BrokenStack("").Name, "]")) {
			count += samples
		}
	}
	return count
}

// An exec by another thread than the first: one process, whose second program has the first one's
// id.
func TestExecByThread(t *testing.T) {
	recorder := standing.get(t)
	program := programs.compile(t, "takeover.c")
	got := watchCommand(t, recorder, "/bin/sh", "-c", `"$0"; [ $? = 7 ]`, program)
	for _, process := range got.Processes {
		if process.Pid == got.pid {
			continue
		}
		if process.Execs != 2 || process.ExitCode != 7 || process.EndNs <= process.StartNs || process.Command != program ||
			process.CPUNs < 45e6 || process.CPUNs > 200e6 {
			t.Errorf("process %+v", process)
		}
		var first, second *recording.Thread
		for i := range got.Threads {
			switch thread := &got.Threads[i]; {
			case thread.Pid == process.Pid && thread.Tid == process.Pid:
				first = thread
			case thread.Pid == process.Pid:
				second = thread
			}
		}
		if first == nil || second == nil || first.CPUNs < 40e6 || second.CPUNs > 20e6 || second.EndNs > first.EndNs {
			t.Errorf("threads %+v and %+v", first, second)
		}
	}
	if len(got.Processes) != 2 || len(got.Threads) != 3 {
		t.Errorf("%d processes, %d threads", len(got.Processes), len(got.Threads))
	}
}

// With -a every process is a target, from before the window or not, but not the recorder.
func TestWholeHost(t *testing.T) {
	recorder := start(t, Options{WholeHost: true, Hz: 499})
	before := running(t, programs.compile(t, "steady.c"))
	if err := recorder.Begin(t.Context(), Target{Kind: "host"}); err != nil {
		t.Fatal(err)
	}
	within := hold(t, programs.compile(t, "calls.c"), "5000", "10", "10", "10")
	within.release()
	within.wait(t)
	time.Sleep(300 * time.Millisecond)
	got := endWindow(t, recorder)
	for _, pid := range []int{before.pid(), within.pid(), os.Getpid()} {
		if len(got.mentions(int32(pid))) < 3 {
			t.Errorf("process %d is only in %v", pid, got.mentions(int32(pid)))
		}
	}
	if tables := got.mentions(int32(recorder.Pid())); len(tables) > 0 {
		t.Errorf("the recorder shows itself in %v", tables)
	}
	for _, process := range got.Processes {
		if process.Pid == int32(before.pid()) && (process.CPUNs <= 0 || process.CPUNs > got.Manifest.WindowNs) {
			t.Errorf("%+v in a window of %d ns", process, got.Manifest.WindowNs)
		}
	}
	got.lossless(t, "processes")
}

// Targets that are a cgroup, of either version: its processes, and those they start.
func TestCgroups(t *testing.T) {
	recorder := standing.get(t)
	mounts := cgroupMounts(t)
	if len(mounts) == 0 {
		t.Fatal("no cgroup file system is mounted")
	}
	for version, mount := range mounts {
		t.Run(version, func(t *testing.T) {
			folder := filepath.Join(mount, fmt.Sprintf("culprit-test-%d", os.Getpid()))
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { removeCgroup(t, folder) })
			if err := recorder.Begin(t.Context(), Target{Kind: "cgroup", Cgroup: folder}); err == nil ||
				!strings.Contains(err.Error(), "no process is in it") {
				t.Errorf("an empty cgroup: %v", err)
			}
			inside := hold(t, "/bin/sh", "-c", `/bin/true; /bin/true; exec sleep 60`)
			t.Cleanup(inside.kill) // before the folder is removed
			procs := filepath.Join(folder, "cgroup.procs")
			if err := os.WriteFile(procs, []byte(fmt.Sprint(inside.pid())), 0o644); err != nil {
				t.Fatal(err)
			}
			outside := running(t, programs.compile(t, "steady.c"))
			if err := recorder.Begin(t.Context(), Target{Kind: "cgroup", Cgroup: folder}); err != nil {
				t.Fatal(err)
			}
			inside.release()
			awaitThread(t, inside.pid(), "sleep")
			got := endWindow(t, recorder)
			if len(got.Processes) != 3 || len(got.mentions(int32(inside.pid()))) < 3 {
				t.Errorf("processes %+v", got.Processes)
			}
			if tables := got.mentions(int32(outside.pid())); len(tables) > 0 {
				t.Errorf("a process outside is in %v", tables)
			}
		})
	}
}

// cgroupMounts finds a place of each version of cgroups.
func cgroupMounts(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	mounts := map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 3 && fields[2] == "cgroup2":
			mounts["v2"] = fields[1]
		case len(fields) > 3 && fields[2] == "cgroup" && strings.Contains(fields[3], "cpuacct"):
			mounts["v1"] = fields[1]
		}
	}
	return mounts
}

func removeCgroup(t *testing.T, folder string) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Rmdir(folder)
		if err == nil || time.Now().After(until) {
			if err != nil {
				t.Errorf("remove %s: %v", folder, err)
			}
			return
		}
	}
}

// What cannot be recorded gives one clear error, and the recorder goes on working.
func TestBadRequests(t *testing.T) {
	recorder := standing.get(t)
	ended := hold(t, "/bin/true")
	ended.release()
	ended.wait(t)
	for _, bad := range []struct {
		target Target
		want   string
	}{
		{Target{Kind: "pid", Pid: ended.pid()}, fmt.Sprintf("process %d", ended.pid())},
		{Target{Kind: "command", Command: "true", Pid: ended.pid()}, `command "true"`},
		{Target{Kind: "cgroup", Cgroup: "/sys/fs/cgroup/no/such"}, "/sys/fs/cgroup/no/such: not a cgroup directory"},
		{Target{Kind: "host"}, "started for single targets"},
		{Target{}, "no target given"},
	} {
		err := recorder.Begin(t.Context(), bad.target)
		if err == nil || !strings.Contains(err.Error(), bad.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("begin %+v: %v", bad.target, err)
		}
	}
	_, err := recorder.End(t.Context(), Finish{Drop: true})
	if err == nil || !strings.Contains(err.Error(), "none is open") {
		t.Errorf("end without a window: %v", err)
	}
	target := Target{Kind: "pid", Pid: running(t, programs.compile(t, "steady.c")).pid()}
	if err := recorder.Begin(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Begin(t.Context(), target); err == nil || !strings.Contains(err.Error(), "one is open") {
		t.Errorf("begin twice: %v", err)
	}
	path := filepath.Join(t.TempDir(), "no", "such", "folder.culprit")
	_, err = recorder.End(t.Context(), Finish{Path: path})
	if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
		t.Errorf("write below a missing folder: %v", err)
	}
	got := watchFor(t, recorder, target, 400*time.Millisecond)
	if len(got.Syscalls) == 0 || got.summary.Samples == 0 {
		t.Errorf("the window after the errors has %d system calls and %d samples; losses %+v", len(got.Syscalls),
			got.summary.Samples, got.Manifest.Losses)
	}
}

// Two recorders at once see the same.
func TestTwoRecorders(t *testing.T) {
	one, two := standing.get(t), start(t, Options{})
	h := hold(t, programs.compile(t, "calls.c"), "20000", "10", "10", "10")
	target := Target{Kind: "command", Command: "calls", Pid: h.pid()}
	for _, recorder := range []*Recorder{one, two} {
		if err := recorder.Begin(context.Background(), target); err != nil {
			t.Fatal(err)
		}
	}
	h.release()
	h.wait(t)
	for _, recorder := range []*Recorder{one, two} {
		got := endWindow(t, recorder)
		var count int64
		for _, row := range got.Syscalls {
			if row.Name == "getppid" {
				count += row.Count
			}
		}
		if count != 20_000 || len(got.mentions(int32(h.pid()))) < 4 {
			t.Errorf("%d calls, %v", count, got.mentions(int32(h.pid())))
		}
	}
}
