package record

import (
	"maps"
	"runtime"
	"strconv"
	"testing"

	"culprit/recording"
)

// Five hundred processes that live a millisecond each are five hundred rows.
func TestShortProcesses(t *testing.T) {
	recorder := standing.get(t)
	script := `i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i+1)); done; exit 0`
	got := watchCommand(t, recorder, "/bin/sh", "-c", script)
	var sum int64
	found := 0
	for _, process := range got.Processes {
		sum += process.CPUNs
		if process.Pid == got.pid {
			if process.Execs != 1 {
				t.Errorf("the loop was executed %d times", process.Execs)
			}
			continue
		}
		if process.Comm != "true" || process.Command != "/bin/true" {
			t.Errorf("process %d is %q (%q)", process.Pid, process.Comm, process.Command)
		}
		if process.Ppid != got.pid || process.CPUNs <= 0 || process.Execs != 1 || process.ExitCode != 0 ||
			process.EndedBy != process.Pid || process.StartNs <= 0 ||
			process.EndNs <= process.StartNs || process.EndNs > got.Manifest.WindowNs {
			t.Errorf("short process %+v (the loop is %d)", process, got.pid)
		}
		found++
	}
	if found != 500 {
		t.Errorf("%d short processes were seen", found)
	}
	got.lossless(t, "processes")
	got.lossless(t, "syscalls")
	about(t, "CPU of all", float64(sum)/1e9, got.cpu.Seconds(), 0.05, 0.002)
	checkThreads(t, got.Recording)
}

// A thread that ends its process is told from those that end with it, and from a signal.
func TestEndedBy(t *testing.T) {
	const script = `/usr/bin/python3 -c "$1" || sh -c 'kill -KILL $$' || exit 0`
	const thread = `import os, threading
threading.Thread(target=lambda: (
    print("tid", threading.get_native_id(), flush=True), os._exit(3))).start()
threading.Event().wait()`
	got := watchCommand(t, standing.get(t), "/bin/sh", "-c", script, "sh", thread)
	ends := map[int32]int32{} // who ended it, by exit code
	for _, process := range got.Processes {
		ends[process.ExitCode] = process.EndedBy
	}
	want := map[int32]int32{0: got.pid, 3: int32(numbers(t, got.output)["tid"]), -9: 0}
	if !maps.Equal(ends, want) {
		t.Errorf("by exit code the processes were ended by %v, want %v", ends, want)
	}
}

// A thread that moves from CPU to CPU by itself shows so many migrations, and few that it did not
// ask for.
func TestMigrations(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("there is one CPU to run on")
	}
	const hops = 200
	recorder := standing.get(t)
	got := watchCommand(t, recorder, programs.compile(t, "hop.c"), strconv.Itoa(hops))
	truth := int64(numbers(t, got.output)["hops"])
	for _, thread := range got.Threads {
		if thread.Tid != got.pid {
			continue
		}
		if truth != hops || thread.Migrations < truth || thread.Migrations > 2*truth {
			t.Errorf("%d migrations, the program moved %d times of %d", thread.Migrations, truth, hops)
		}
		return
	}
	t.Error("the thread was not seen")
}

func checkThreads(t *testing.T, rec *recording.Recording) {
	t.Helper()
	ofProcess := map[int32]int64{}
	for _, thread := range rec.Threads {
		ofProcess[thread.Pid] += thread.CPUNs
	}
	for _, process := range rec.Processes {
		if ofProcess[process.Pid] != process.CPUNs {
			t.Errorf("process %d used %d ns, its threads %d", process.Pid, process.CPUNs, ofProcess[process.Pid])
		}
	}
}
