package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
	"culprit/internal/stat"
)

func TestOutputIsCapturedAndInputClosed(t *testing.T) {
	runner := newRunner(t)
	// What this test was handed itself, by flock or make, is not handed on.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		t.Logf("descriptors of others stay: %v", err) // before Linux 5.11
	}
	const listing = "ls /proc/self/fd | wc -l"
	plain := exec.Command("/bin/sh", "-c", listing) // what any child of this test inherits
	plainText, err := plain.Output()
	if err != nil {
		t.Fatal(err)
	}
	s := spec(t, `read line && echo "got $line"; echo out; echo err >&2; echo "$NAME" "$PWD"; `+listing)
	s.Env, s.Dir = []string{"NAME=it's \"quoted\" $HOME"}, t.TempDir()
	run := mustRun(t, runner, s)
	out := outputText(t, s, run.Stdout)
	want := "out\nit's \"quoted\" $HOME " + s.Dir + "\n"
	if !strings.HasPrefix(out, want) {
		t.Errorf("standard output is %q, want %q", out, want)
	}
	if lines := strings.Split(out, "\n"); lines[len(lines)-2]+"\n" != string(plainText) {
		t.Errorf("the command sees %s open descriptors, want %s: one of culprit's is handed down",
			lines[len(lines)-2], plainText)
	}
	if got := outputText(t, s, run.Stderr); got != "err\n" {
		t.Errorf("standard error is %q", got)
	}

	s = spec(t, "head -c 3000000 /dev/zero | tr '\\0' x; echo last=7")
	s.Printed = []Printed{mustPrinted(t, "last", `last=(\d+)`)}
	run = mustRun(t, runner, s)
	out = outputText(t, s, run.Stdout)
	if len(out) > keepOutputBytes+100 || !strings.HasPrefix(out, "[culprit left out") ||
		!strings.HasSuffix(out, "last=7\n") {
		t.Errorf("long output is kept as %d bytes: %.60q", len(out), out)
	}
}

func TestFloodOfOutputIsStopped(t *testing.T) {
	runner := newRunner(t)
	s := spec(t, "yes abc")
	s.MaxOutputBytes = 2 << 20
	run, err := runner.Run(context.Background(), s)
	if failed := asFailed(t, err); failed.Flood != s.MaxOutputBytes ||
		!strings.Contains(err.Error(), "printed more than") {
		t.Errorf("%v", err)
	}
	if kept := len(outputText(t, s, run.Stdout)); kept > keepOutputBytes+100 {
		t.Errorf("%d bytes are kept", kept)
	}
}

func TestPrintedMetrics(t *testing.T) {
	runner := newRunner(t)
	s := spec(t, "echo rate=1.5 ops; echo 'rate=2.5e3 ops'; echo p99: 12 ms >&2")
	s.Printed = []Printed{mustPrinted(t, "rate", `^rate=(\S+) ops$`), mustPrinted(t, "p99", `p99: (\d+) ms`)}
	run := mustRun(t, runner, s)
	if run.Metrics["rate"] != 2500 || run.Metrics["p99"] != 12 {
		t.Errorf("%v", run.Metrics)
	}
	s.Command = "echo nothing here; echo rate=fast ops"
	_, err := runner.Run(context.Background(), s)
	if err == nil || !strings.Contains(err.Error(), "metric rate") ||
		!strings.Contains(err.Error(), `"fast" is not a number`) {
		t.Errorf("%v", err)
	}
	s.Printed = s.Printed[1:]
	_, err = runner.Run(context.Background(), s)
	if err == nil || !strings.Contains(err.Error(), "metric p99") || !strings.Contains(err.Error(), "nothing here") {
		t.Errorf("%v", err)
	}
	for name, pattern := range map[string]string{"cpu": `(\d)`, "server_cpu": `(\d)`, "x": `\d`, "y": `(`, "a b": `(\d)`,
		"": `(\d)`} {
		if printed, err := NewPrinted(name, pattern); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("metric %q with %q: %v, %v", name, pattern, printed, err)
		}
	}
}

func TestFailedCommands(t *testing.T) {
	runner := newRunner(t)
	tests := []struct {
		command string
		exit    int
		signal  syscall.Signal
		text    string
	}{
		{`echo one; printf 'two\033[31m\a three\r\n' >&2; exit 3`, 3, 0, "exit status 3: "},
		{"kill -SEGV $$", 0, syscall.SIGSEGV, "signal 11"},
		{"/nonexistent/program", 127, 0, "command not found"},
		{"/dev/null", 126, 0, "not executable"},
		{"if", 2, 0, "exit status 2"},
		{"sh -c 'kill -9 $$'; exit $?", 137, 0, "as if killed by signal 9"},
	}
	for _, test := range tests {
		run, err := runner.Run(context.Background(), spec(t, test.command))
		failed := asFailed(t, err)
		if failed.ExitCode != test.exit || failed.Signal != test.signal || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %+v: %v", test.command, failed, err)
		}
		if run.ExitCode == 0 {
			t.Errorf("%s: the run has exit code 0", test.command)
		}
	}
	for _, bad := range []Spec{
		{Command: " ", CaseDir: t.TempDir()},
		{Command: "true", CaseDir: t.TempDir(), Dir: "/nonexistent"},
		{Command: "true", CaseDir: t.TempDir(), Dir: "/dev/null"},
		{Command: "tr\x00ue", CaseDir: t.TempDir()},
		{Command: "true", CaseDir: "/dev/null/case"},
		{Command: "true" + strings.Repeat(" x", 100_000), CaseDir: t.TempDir()},
	} {
		if _, err := runner.Run(context.Background(), bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q in %q: %v", bad.Command, bad.Dir, err)
		}
	}
}

func TestHooks(t *testing.T) {
	runner := newRunner(t)
	var order []string
	s := spec(t, "echo $$ >pid; [ -e held ] || exit 1; sleep 0.05")
	s.Dir = t.TempDir()
	pidFile := filepath.Join(s.Dir, "pid")
	var held int
	var helper *exec.Cmd
	s.Ready = func(pid int) error {
		held = pid
		time.Sleep(300 * time.Millisecond)
		if _, err := os.Stat(pidFile); err == nil {
			order = append(order, "the command ran before the gate opened")
		}
		order = append(order, "ready")
		// A recorder that is started here is no part of the tree.
		helper = exec.Command("sleep", "60")
		return errors.Join(helper.Start(), os.WriteFile(filepath.Join(s.Dir, "held"), nil, 0o644))
	}
	s.Done = func(run Run, w Window) error {
		order = append(order, "done")
		if run.Metrics[MetricWall] != w.Ended.Sub(w.Opened).Seconds() || run.Metrics["cpu"] <= 0 {
			t.Errorf("Done was given %+v", run)
		}
		if w.Pid != held || w.Ended.Sub(w.Opened) < 50*time.Millisecond || !gone(w.Pid, 0) {
			t.Errorf("window %+v, held %d", w, held)
		}
		return nil
	}
	begun := time.Now()
	run := mustRun(t, runner, s)
	whole := time.Since(begun).Seconds()
	if got := strings.Join(order, ", "); got != "ready, done" {
		t.Errorf("hooks: %s", got)
	}
	if pids := pidsFrom(t, pidFile, 1); pids[0] != held {
		t.Errorf("the command's shell is process %d, Ready was told %d", pids[0], held)
	}
	if wall := run.Metrics[MetricWall]; wall < 0.05 || wall > whole-0.3 {
		t.Errorf("wall %.3f s: time at the gate must not count", wall)
	}
	if err := helper.Process.Signal(syscall.Signal(0)); err != nil || helper.Process.Kill() != nil {
		t.Errorf("what Ready started was killed: %v", err)
	}
	helper.Wait()

	failing := spec(t, "exit 4")
	failing.Done = func(run Run, _ Window) error {
		order = append(order, fmt.Sprintf("done %d", run.ExitCode))
		return errors.New("write recording: a consequence")
	}
	if _, err := runner.Run(context.Background(), failing); asFailed(t, err).ExitCode != 4 {
		t.Error(err)
	}
	s.Ready = func(int) error { return errors.New("attach probes: refused") }
	if _, err := runner.Run(context.Background(), s); err == nil || !strings.Contains(err.Error(), "attach probes") {
		t.Errorf("%v", err)
	}
	if got := strings.Join(order, ", "); got != "ready, done, done 4" {
		t.Errorf("hooks: %s; want Done after a command that failed, and not when Ready failed", got)
	}
	if left := host.Children(os.Getpid()); len(left) != 1 {
		t.Errorf("children left: %v", left)
	}
}

// Without privileges there is no cgroup and no taskstats: the runs are made all the same, and it
// says what is missing.
func TestRunsWithoutPrivileges(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("this test is run without privileges anyway")
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	directory, err := os.MkdirTemp("", "trial")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(directory)
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(directory, "trial.test")
	if err := errors.Join(os.WriteFile(copied, binary, 0o755), os.Chmod(directory, 0o777)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(directory, "pids")
	culprit := exec.Command(copied)
	culprit.Dir = directory
	culprit.Env = append(os.Environ(), "CASE="+directory, roleVariable+"=culprit "+daemons(file))
	if os.Getuid() == 0 {
		culprit.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	text, err := culprit.CombinedOutput()
	t.Logf("%s", text)
	if err != nil || !strings.Contains(string(text), "run-queue delay") || !strings.Contains(string(text), "cgroup") {
		t.Errorf("%v: %s", err, text)
	}
	for _, pid := range pidsFrom(t, file, 3) {
		if !gone(pid, 0) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

// What the gate and the shell add to the shortest command, for the record: a bound of seconds,
// because hosts differ.
func TestGateOverhead(t *testing.T) {
	runner := newRunner(t)
	var walls, cpus []float64
	begin := time.Now()
	for range 30 {
		run := mustRun(t, runner, spec(t, "true"))
		walls = append(walls, run.Metrics[MetricWall])
		cpus = append(cpus, run.Metrics[MetricCPU])
	}
	t.Logf("true: wall median %.2f ms, cpu median %.2f ms; %.1f ms a run in all", 1e3*stat.Middle(walls),
		1e3*stat.Middle(cpus), time.Since(begin).Seconds()/30*1e3)
	if stat.Middle(walls) > 1 {
		t.Errorf("the gate adds %.1f ms", 1e3*stat.Middle(walls))
	}
}
