package main

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// An interrupted investigation leaves nothing: no case, no partial one, no process.
func TestInterruptedInvestigationLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	made := command(t, folder, "investigate", "--a", "sleep 30", "--b", "sleep 30", "--case", "c",
		"--budget", "3m")
	var stdout, stderr bytes.Buffer
	made.Stdout, made.Stderr = &stdout, &stderr
	if err := made.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		if runs, err := os.ReadDir(filepath.Join(folder, "c.partial", "runs")); err == nil && len(runs) > 0 {
			break // the first command runs
		}
		if time.Now().After(deadline) {
			_ = made.Process.Kill()
			t.Fatal("no run began")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := made.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_ = made.Wait() // its status is looked at below
	oneLine(t, outcome{stdout.String(), stderr.String(), made.ProcessState.ExitCode()}, "interrupted")
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v to end", took)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
