package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"culprit/internal/host"
)

// daemons starts a process that left its group, its session and its parent behind, and one that did
// not; it writes their ids to a file. It waits until the file is complete.
func daemons(file string) string {
	return fmt.Sprintf(`: >>%[1]s; (setsid sh -c '(echo $$ >>%[1]s; sleep 100) & exit 0' &) ; `+
		`sh -c 'echo $$ >>%[1]s; exec sleep 100' & `+
		`setsid -f sh -c 'echo $$ >>%[1]s; trap "" TERM HUP INT; sleep 100; sleep 100'; `+
		`while [ "$(wc -l <%[1]s)" -lt 3 ]; do sleep 0.01; done`, file)
}

func TestNothingSurvivesARun(t *testing.T) {
	runner := newRunner(t)
	for _, withGroup := range []bool{true, false} {
		t.Run(fmt.Sprintf("cgroup %v", withGroup), func(t *testing.T) {
			if group := runner.group; !withGroup {
				runner.group = nil
				defer func() { runner.group = group }()
			}
			s := spec(t, "")
			file := filepath.Join(s.CaseDir, "pids")
			s.Command = daemons(file)
			run := mustRun(t, runner, s)
			if run.Outlived < 3 {
				t.Errorf("%d processes are said to have outlived the command", run.Outlived)
			}
			for _, pid := range pidsFrom(t, file, 3) {
				if !gone(pid, 0) {
					t.Errorf("process %d is still there", pid)
				}
			}
			if left := host.Children(os.Getpid()); len(left) != 1 || left[0] != runner.guardian.pid {
				t.Errorf("children left: %v, the guardian is %d", left, runner.guardian.pid)
			}
		})
	}
}

func TestTimeoutAndCancelKillTheTree(t *testing.T) {
	runner := newRunner(t)
	s := spec(t, "")
	file := filepath.Join(s.CaseDir, "pids")
	s.Command = daemons(file) + "; echo waiting; sleep 100"
	s.Timeout = 400 * time.Millisecond
	_, err := runner.Run(context.Background(), s)
	failed := asFailed(t, err)
	if failed.Timeout != s.Timeout || !strings.Contains(err.Error(), "timeout") ||
		!strings.Contains(err.Error(), "waiting") {
		t.Errorf("%v", err)
	}
	for _, pid := range pidsFrom(t, file, 3) {
		if !gone(pid, 0) {
			t.Errorf("process %d is still there after the timeout", pid)
		}
	}

	s = spec(t, "")
	file = filepath.Join(s.CaseDir, "pids")
	s.Command = daemons(file) + "; sleep 100"
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := runner.Run(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled run: %v", err)
	}
	for _, pid := range pidsFrom(t, file, 3) {
		if !gone(pid, 0) {
			t.Errorf("process %d is still there after the cancel", pid)
		}
	}
}

func TestNothingSurvivesKillOfCulprit(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	file := filepath.Join(directory, "pids")
	culprit := exec.Command(path)
	culprit.Env = append(os.Environ(), "CASE="+directory, roleVariable+"=culprit "+daemons(file)+
		"; echo $$ >>"+file+"; sleep 100")
	var complaint strings.Builder
	culprit.Stderr = &complaint
	if err := culprit.Start(); err != nil {
		t.Fatal(err)
	}
	pids := pidsFrom(t, file, 4)
	guarded := filepath.Join(directory, "unused")
	if group, err := host.OwnGroup("/"); err == nil {
		guarded = filepath.Join(group, fmt.Sprintf("culprit-trial-%d", culprit.Process.Pid))
	}
	culprit.Process.Kill()
	culprit.Wait()
	runner := newRunner(t)
	for i, pid := range pids {
		leftTheGroup := i != len(pids)-1
		if leftTheGroup && runner.group == nil {
			// Not guaranteed without a cgroup; this is what the package promises.
			syscall.Kill(pid, syscall.SIGKILL)
			continue
		}
		if !gone(pid, 20*time.Second) {
			t.Errorf("process %d outlived culprit", pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for range 1000 {
		if _, err = os.Stat(guarded); err != nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err == nil {
		t.Errorf("the guardian has left %s", guarded)
	}
	if complaint.Len() > 0 {
		t.Errorf("%s", complaint.String())
	}
}

// Whatever a command leaves behind, nothing that carries its mark is left after the run.
func TestHardToKill(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for processes that do not end: -short leaves it out")
	}
	runner := newRunner(t)
	commands := map[string]string{
		"stopped":       "sleep 100 & kill -STOP $!; setsid sh -c 'kill -STOP $$' & sleep 0.05",
		"many":          "i=0; while [ $i -lt 200 ]; do sleep 100 & i=$((i+1)); done",
		"storm":         "storm() { while :; do (setsid sh -c : &); done; }; storm & storm & sleep 0.2",
		"own namespace": "unshare --pid --fork sh -c 'setsid sleep 100 & sleep 100' & sleep 0.1",
		"deaf to signals": "sh -c 'sleep 100; :' & " +
			"(setsid sh -c 'trap \"\" INT TERM HUP; while :; do sleep 1; done' &); sleep 0.05",
		"timeout": "(setsid sh -c 'while :; do sleep 0.01; done' &); sleep 100",
	}
	for name, command := range commands {
		for _, withGroup := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, cgroup %v", name, withGroup), func(t *testing.T) {
				if group := runner.group; !withGroup {
					runner.group = nil
					defer func() { runner.group = group }()
				}
				s := spec(t, command)
				mark := fmt.Sprintf("TRIAL_MARK=%d.%d", os.Getpid(), time.Now().UnixNano())
				s.Env = []string{mark}
				if name == "timeout" {
					s.Timeout = 600 * time.Millisecond
				}
				begin := time.Now()
				if _, err := runner.Run(context.Background(), s); (err != nil) != (name == "timeout") {
					t.Error(err)
				}
				if took := time.Since(begin); took > s.Timeout+10*time.Second {
					t.Errorf("took %s", took)
				}
				if left := marked(t, mark); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
				if left := host.Children(os.Getpid()); len(left) != 1 {
					t.Errorf("children left: %v", left)
				}
			})
		}
	}
}

// marked lists the processes with a variable in their environment.
func marked(t *testing.T, mark string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), mark) {
			found = append(found, file)
		}
	}
	return found
}
