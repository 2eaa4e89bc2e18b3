package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Who reads the lines of top goes after the first one: top ends well, and leaves no folder.
func TestTopWhoseReaderGoes(t *testing.T) {
	needsRoot(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	script := fmt.Sprintf(`{ "$0" top -p %d -i 1s; echo "status $?" >&2; } | head -1`, os.Getpid())
	shell := exec.Command("/bin/sh", "-c", script, program)
	shell.Env = append(os.Environ(), asCulprit+"=1", "TMPDIR="+folder)
	got := finish(t, shell)
	if !strings.Contains(got.stdout, "process") || !strings.Contains(got.stderr, "status 0") {
		t.Errorf("it says %q, and %q", got.stdout, got.stderr)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
