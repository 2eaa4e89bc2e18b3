package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/internal/record"
)

// A look is the last one when no other fits into the time that is left; what looking takes is told
// of the time since the look before, however short that one's window was.
func TestLastLook(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	limited := func(left time.Duration) context.Context {
		ctx, stop := context.WithTimeout(t.Context(), left)
		t.Cleanup(stop)
		return ctx
	}
	for _, one := range []struct {
		ctx  context.Context
		last bool
	}{{t.Context(), false}, {ended, true}, {limited(time.Hour), false}, {limited(shortestLook - 1), true}} {
		if isLast(one.ctx) != one.last {
			t.Errorf("with %v it is not %v", one.ctx, one.last)
		}
	}
	began := time.Now()
	l := &looker{took: time.Second, taken: began}
	if cpus := l.own(time.Second+90*time.Millisecond, began.Add(300*time.Millisecond)); math.Abs(cpus-0.3) > 1e-9 {
		t.Errorf("looking takes %g CPUs", cpus)
	}
	if cpus := l.own(l.took, l.taken); cpus != 0 {
		t.Errorf("no time took %g CPUs", cpus)
	}
}

// Who reads the lines of top goes after the first one: top ends well, and leaves no folder.
func TestTopWhoseReaderGoes(t *testing.T) {
	needsRoot(t)
	t.Parallel()
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

// What ends the time of one look: its length, the end of the service's process, a key that says so,
// nobody who could type any more, and the end of all.
func TestWhatEndsALook(t *testing.T) {
	service := exec.Command("/bin/sleep", "60")
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	pids := fmt.Appendln(nil, service.Process.Pid)
	if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), pids, 0o600); err != nil {
		t.Fatal(err)
	}
	l := &looker{recorder: &record.Recorder{}, service: record.NewService(record.Target{Kind: "cgroup", Cgroup: folder})}
	if l.waitFor(t.Context(), time.Millisecond, keys{}) {
		t.Error("the end of a look is the end of all")
	}
	typed, pressed := make(chan string), ""
	go func() {
		for _, key := range []string{"s", "j", "q"} {
			typed <- key
		}
	}()
	press := func(key string) bool { pressed += key; return key == "q" }
	if l.wait(t.Context(), nil, keys{typed, press}) || pressed != "sjq" {
		t.Errorf("keys: %q", pressed)
	}
	close(typed)
	if !l.wait(t.Context(), nil, keys{typed, func(string) bool { return false }}) {
		t.Error("a terminal that went away is not the end")
	}
	if err := service.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = service.Wait() // killed
	if l.wait(t.Context(), nil, keys{}) {
		t.Error("the end of a process is that of its service")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if !l.wait(ended, nil, keys{}) {
		t.Error("an interrupt is not the end")
	}
}
