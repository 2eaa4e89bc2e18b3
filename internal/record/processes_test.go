package record

import (
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
			process.StartNs <= 0 || process.EndNs <= process.StartNs || process.EndNs > got.Manifest.WindowNs {
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
