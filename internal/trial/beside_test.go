package trial

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A monitor runs while the workload does, is told to end and writes its last words, and is none of
// the workload.
func TestBeside(t *testing.T) {
	runner, err := NewRunner("/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	}()
	folder := t.TempDir()
	path := filepath.Join(folder, "monitor.txt")
	var beside *Beside
	spec := Spec{Side: "A", Order: 1, Kind: KindMeasure, Command: "sleep 0.2", CaseDir: folder,
		Ready: func(pid int) error {
			var err error
			beside, err = runner.StartBeside(fmt.Sprintf(
				"trap 'echo last words; exit' INT; echo watching %d; sleep 100 & sleep 100", pid), path)
			return err
		}}
	var used time.Duration
	spec.Done = func(run Run, window Window) error {
		var err error
		used, err = beside.End(window.Ended)
		return err
	}
	run, err := runner.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "watching") || !strings.Contains(string(text), "last words") {
		t.Errorf("%v, the monitor wrote %q", err, text)
	}
	if used > time.Second || run.Outlived != 0 {
		t.Errorf("the monitor used %v, %d processes of the workload outlived it", used, run.Outlived)
	}
	if left := newTree(nil, nil).descendants(); len(left) != 0 {
		t.Errorf("it leaves %v", left)
	}
}

func TestBesideThatEndsEarly(t *testing.T) {
	runner, err := NewRunner("/")
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	folder := t.TempDir()
	path := filepath.Join(folder, "runs", "monitor.txt")
	if _, err := runner.StartBeside("echo not permitted >&2; exit 3", path); err == nil ||
		!strings.Contains(err.Error(), "not permitted") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a monitor that fails at once: %v", err)
	}
	beside, err := runner.StartBeside("sleep 0.5", path)
	if err != nil {
		t.Fatal(err)
	}
	<-beside.ended
	_, err = beside.End(time.Now().Add(time.Second))
	if err == nil || !strings.Contains(err.Error(), "before the workload") {
		t.Errorf("a monitor that ends early: %v", err)
	}
}
