package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"culprit/internal/agent"
)

func badOfAgents() []bad {
	return []bad{
		{"word for agent", []string{"agent", "x"}, []string{`"x"`, "culprit agent --help"}},
		{"no size", []string{"agent", "--dir", "w", "--keep", "much"}, []string{"--keep", "2GiB"}},
		{"cost without a unit", []string{"agent", "--dir", "w", "--cost", "0.5"}, []string{"--cost", "0.5%"}},
		{"cost of all", []string{"agent", "--dir", "w", "--cost", "100%"}, []string{"--cost", "50%"}},
		{"no label", []string{"agent", "--dir", "w", "--label", "zone"}, []string{`"zone"`, "key=value"}},
		{"no file of labels", []string{"agent", "--dir", "w", "--label-file", "none"}, []string{"none"}},
		{"status of nothing", []string{"agent", "status", "--dir", "none"}, []string{"none", "culprit agent"}},
		{"windows of no agent", []string{"explain", "--agent-dir", "none", "agent:web"}, []string{"none", "culprit agent"}},
		{"windows of no time", []string{"compare", "agent:web@soon", "agent:web"}, []string{`"soon"`, "yesterday"}},
		{"windows of no service", []string{"explain", "agent:@03:00"}, []string{"agent:SERVICE@TIME"}},
	}
}

// service is a program that uses the CPU all the time, under a name of its own.
func service(t *testing.T, folder, name string) {
	t.Helper()
	program := filepath.Join(folder, name)
	// A program that is open for writing cannot be started, and what another test forks meanwhile
	// has it open: cp alone writes it (go.dev/issue/22315).
	if out, err := exec.Command("cp", "/bin/sh", program).CombinedOutput(); err != nil {
		t.Fatalf("copy the shell: %v: %s", err, out)
	}
	busy := exec.Command(program, "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = busy.Process.Kill() // it is there until now
		_ = busy.Wait()
	})
}

// agentProcess starts an agent as a process of its own and waits until it records.
func agentProcess(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	made := command(t, folder, append([]string{"agent", "--dir", filepath.Join(folder, "windows"), "--every", "1s"},
		args...)...)
	out, err := made.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	made.Stderr = &bytes.Buffer{}
	if err := made.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if made.ProcessState == nil {
			_ = made.Process.Kill()
			_ = made.Wait()
		}
	})
	first := make([]byte, 256)
	if n, err := out.Read(first); err != nil || !strings.HasPrefix(string(first[:n]), "recording a window every 1s") {
		t.Fatalf("the agent says %q, %v: %s", first[:n], err, made.Stderr)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // until it ends
	return made
}

func agentStatus(t *testing.T, folder string) agent.Status {
	t.Helper()
	got := apart(t, folder, "agent", "status", "--dir", "windows", "--json", "-")
	var status agent.Status
	if err := json.Unmarshal([]byte(got.stdout), &status); err != nil || got.status != exitDone {
		t.Fatalf("status: %v, %+v", err, got)
	}
	return status
}

// untilStatus waits until an agent says something of itself.
func untilStatus(t *testing.T, folder, what string, holds func(agent.Status) bool) agent.Status {
	t.Helper()
	var status agent.Status
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if status = agentStatus(t, folder); holds(status) {
			return status
		}
	}
	t.Fatalf("waited in vain for %s: %+v", what, status)
	return status
}

// childrenOf are the processes that the threads of another one started.
func childrenOf(t *testing.T, pid int) (children []string) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that has ended
		}
		children = append(children, strings.Fields(string(text))...)
	}
	if len(children) == 0 {
		t.Fatalf("process %d has no child", pid)
	}
	return children
}

// untilEnded waits until processes have ended.
func untilEnded(t *testing.T, pids []string) {
	t.Helper()
	for _, pid := range pids {
		deadline := time.Now().Add(40 * time.Second)
		for ; time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if _, err := os.Stat("/proc/" + pid); err != nil {
				break
			}
		}
		if !time.Now().Before(deadline) {
			t.Fatalf("process %s has not ended", pid)
		}
	}
}

// An agent records, is killed, is started again, records on, and is ended; what it saw of a service
// is there by name.
func TestAgentIsKilledAndGoesOn(t *testing.T) {
	needsRoot(t)
	t.Parallel()
	folder := t.TempDir()
	service(t, folder, "webshop")
	first := agentProcess(t, folder, "--full", "0", "--cost", "0")
	before := untilStatus(t, folder, "three windows", func(s agent.Status) bool { return s.Windows >= 3 })
	if !before.Running || before.Cost.Share <= 0 || before.MemoryBytes < 1<<20 {
		t.Errorf("status %+v", before)
	}
	time.Sleep(500 * time.Millisecond) // into the next window
	recorders := childrenOf(t, first.Process.Pid)
	if err := first.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // killed
	if agentStatus(t, folder).Running {
		t.Error("a killed agent is said to run")
	}
	untilEnded(t, recorders) // its recorder writes down what it has
	second := agentProcess(t, folder, "--full", "0", "--cost", "0")
	after := untilStatus(t, folder, "windows of the second agent", func(s agent.Status) bool {
		return s.Windows >= before.Windows+3
	})
	if after.Adopted != 1 || after.Torn != 0 {
		t.Errorf("after the kill %d windows are adopted and %d files are torn", after.Adopted, after.Torn)
	}
	if busy := apart(t, folder, "agent", "--dir", "windows"); busy.status != exitError ||
		!strings.Contains(busy.stderr, "another agent has it") {
		t.Errorf("a second agent of the folder: %+v", busy)
	}
	if err := second.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := second.Wait(); err != nil {
		t.Errorf("the agent ended with %v: %s", err, second.Stderr)
	}
	askWindows(t, folder, before.Newest)
}

// The disk of an agent is filled: it goes on without windows, says so, and counts them; when there
// is room it records again.
func TestAgentsDiskIsFull(t *testing.T) {
	needsRoot(t)
	t.Parallel()
	folder := t.TempDir()
	disk := filepath.Join(folder, "windows")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64m,mode=700"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	made := agentProcess(t, folder, "--full", "0", "--cost", "0")
	before := untilStatus(t, folder, "two windows", func(s agent.Status) bool { return s.Windows >= 2 })
	filler := filepath.Join(disk, "filler")
	var room syscall.Statfs_t
	if err := syscall.Statfs(disk, &room); err != nil {
		t.Fatal(err)
	}
	const left = 4 << 20 // for the window that is open, and the status
	if err := os.WriteFile(filler, make([]byte, int64(room.Bavail)*room.Bsize-left), 0o600); err != nil {
		t.Fatal(err)
	}
	full := untilStatus(t, folder, "word of the disk", func(s agent.Status) bool {
		return strings.Contains(strings.Join(s.Troubles, " "), "no space left") && s.Dropped >= 2
	})
	if !full.Running || full.Pid != before.Pid || full.DroppedFrom.IsZero() {
		t.Errorf("status %+v", full)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	after := untilStatus(t, folder, "windows again", func(s agent.Status) bool {
		return s.Windows >= full.Windows+2 && len(s.Troubles) == 0
	})
	if after.Pid != before.Pid || after.Dropped < full.Dropped || after.Torn != 0 {
		t.Errorf("status %+v", after)
	}
	if err := made.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := made.Wait(); err != nil {
		t.Errorf("the agent ended with %v: %s", err, made.Stderr)
	}
	if said := fmt.Sprint(made.Stderr); strings.Count(said, "no space left") != 1 {
		t.Errorf("it is to be told once: %s", said)
	}
}

// askWindows compares what came before a time with what came after it.
func askWindows(t *testing.T, folder string, at time.Time) {
	t.Helper()
	explained := apart(t, folder, "explain", "--agent-dir", "windows", "agent:webshop@-5m")
	if explained.status != exitDone || !strings.Contains(explained.stdout, "service webshop") {
		t.Errorf("explain: %+v", explained)
	}
	const layout = "2006-01-02T15:04:05"
	early := fmt.Sprintf("agent:webshop@%s..%s", at.Add(-5*time.Minute).Local().Format(layout), at.Local().Format(layout))
	late := fmt.Sprintf("agent:webshop@%s..now", at.Local().Add(2*time.Second).Format(layout))
	compared := apart(t, folder, "compare", "--agent-dir", "windows", early, late)
	if compared.status == exitError || !strings.Contains(compared.stdout, "service webshop") {
		t.Errorf("compare: %+v", compared)
	}
	none := apart(t, folder, "explain", "--agent-dir", "windows", "agent:webshop@yesterday")
	oneLine(t, none, "no light window", "those that are kept")
}
