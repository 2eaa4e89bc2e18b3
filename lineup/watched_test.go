package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestMonitorIsStartedForTheProcessAndStopped(t *testing.T) {
	folder := t.TempDir()
	m, err := watch(context.Background(), "echo {pid} > told; echo $$ > own; exec sleep 60", folder, 4711)
	if err != nil {
		t.Fatal(err)
	}
	told, err := os.ReadFile(filepath.Join(folder, "told"))
	if err != nil || string(told) != "4711\n" {
		t.Errorf("the monitor was told %q (%v), want the process", told, err)
	}
	pid := m.command.Process.Pid
	m.stop()
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("the monitor %d still runs", pid)
	}
}

func TestMonitorThatEndsIsAnError(t *testing.T) {
	_, err := watch(context.Background(), "echo cannot attach >&2; exit 3", t.TempDir(), 1)
	if err == nil || !strings.Contains(err.Error(), "cannot attach") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error is %v, want the monitor's own words and its status", err)
	}
}
