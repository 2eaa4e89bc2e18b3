package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"culprit/recording"
)

func TestCommandKeepsItsInputOutputAndStatus(t *testing.T) {
	needsRoot(t)
	for _, each := range []struct {
		script string
		status int
	}{
		{"cat; echo oops >&2; exit 3", 3},
		{"cat; echo oops >&2", 0},
		{"cat; echo oops >&2; kill -TERM $$", 128 + int(syscall.SIGTERM)},
	} {
		folder := t.TempDir()
		made := command(t, folder, "record", "-o", "x.culprit", "--json", "x.json", "--", "sh", "-c", each.script)
		made.Stdin = strings.NewReader("one\ntwo\n")
		got := finish(t, made)
		if got.status != each.status || got.stdout != "one\ntwo\n" ||
			!strings.HasPrefix(got.stderr, "oops\nculprit: x.culprit: ") {
			t.Errorf("%s: %+v", each.script, got)
		}
		rec, err := recording.Open(filepath.Join(folder, "x.culprit"))
		if err != nil {
			t.Fatal(err)
		}
		if rec.Manifest.Target.Kind != "command" || len(rec.Processes) == 0 || len(rec.Syscalls) == 0 {
			t.Errorf("%s: recording of %+v has %d processes, %d system calls", each.script, rec.Manifest.Target,
				len(rec.Processes), len(rec.Syscalls))
		}
		var summary recorded
		content, err := os.ReadFile(filepath.Join(folder, "x.json"))
		if err != nil || json.Unmarshal(content, &summary) != nil || summary.Schema != recordedSchema ||
			summary.Summary == nil || summary.Cost.RecorderCPUNs <= 0 {
			t.Errorf("%s: summary is %s, %v", each.script, content, err)
		}
	}
}

func TestCommandThatOutlivesItsWindow(t *testing.T) {
	needsRoot(t)
	got := apart(t, t.TempDir(), "record", "-d", "100ms", "-o", "x.culprit", "--",
		"sh", "-c", "sleep 0.6; echo end; exit 5")
	if got.status != 5 || got.stdout != "end\n" || !strings.Contains(got.stderr, "the command goes on unrecorded") {
		t.Errorf("%+v", got)
	}
}

func TestOptionsAfterTheCommandAreItsOwn(t *testing.T) {
	needsRoot(t)
	got := apart(t, t.TempDir(), "record", "-o", "x.culprit", "echo", "-n", "--bogus", "-o")
	if got.status != 0 || got.stdout != "--bogus -o" {
		t.Errorf("%+v", got)
	}
}

// started starts culprit and waits until the command it runs has written its pid.
func started(t *testing.T, folder, script string) (*os.Process, func() outcome) {
	t.Helper()
	made := command(t, folder, "record", "-d", "30s", "-o", "x.culprit", "--",
		"sh", "-c", "echo $$ >pid.part; mv pid.part pid; "+script)
	result := make(chan outcome, 1)
	begun := make(chan struct{})
	var stderr, stdout strings.Builder
	made.Stdout, made.Stderr = &stdout, &stderr
	// A group of its own, as a shell gives it: signals reach culprit alone.
	made.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	made.WaitDelay = time.Second // a command that outlives culprit holds the pipes open
	if err := made.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Process.Kill() })
	go func() {
		close(begun)
		_ = made.Wait() // its status is looked at below
		result <- outcome{stdout.String(), stderr.String(), made.ProcessState.ExitCode()}
	}()
	<-begun
	deadline := time.Now().Add(time.Minute)
	for {
		if _, err := os.Stat(filepath.Join(folder, "pid")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command did not begin")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return made.Process, func() outcome {
		select {
		case got := <-result:
			return got
		case <-time.After(time.Minute):
			t.Fatal("culprit did not end")
			return outcome{}
		}
	}
}

func TestInterruptKeepsTheRecordingAndReachesTheCommand(t *testing.T) {
	needsRoot(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		folder := t.TempDir()
		process, wait := started(t, folder, "trap 'echo got; exit 7' INT TERM; while :; do sleep 0.05; done")
		if err := process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		got := wait()
		if got.status != 7 || got.stdout != "got\n" {
			t.Errorf("%v: %+v", signal, got)
		}
		if strings.Contains(got.stderr, "goes on unrecorded") {
			t.Errorf("%v: the command has ended with it: %s", signal, got.stderr)
		}
		if _, err := recording.Open(filepath.Join(folder, "x.culprit")); err != nil {
			t.Error(err)
		}
	}
}

func TestSecondInterruptKillsAtOnce(t *testing.T) {
	needsRoot(t)
	folder := t.TempDir()
	process, wait := started(t, folder, "trap '' INT TERM; i=0; while [ $i -lt 200 ]; do sleep 0.1; i=$((i+1)); done")
	t.Cleanup(func() {
		text, err := os.ReadFile(filepath.Join(folder, "pid"))
		if pid, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // the command that outlives culprit on purpose
		}
	})
	if err := process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(folder, "x.culprit")); err == nil {
			break // the first signal has ended the recording
		}
		if time.Now().After(deadline) {
			t.Fatal("the first signal did not end the recording")
		}
	}
	time.Sleep(echoes) // or it would be taken for the first one
	if err := process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if got := wait(); got.status != -1 {
		t.Errorf("the second signal did not kill: %+v", got)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
