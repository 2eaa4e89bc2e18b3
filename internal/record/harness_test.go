package record

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
	"culprit/recording"
)

// needs skips a test on a host that cannot record, and fails it on one that ought to.
func needs(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("recording needs root: -short leaves it out")
	}
	if err := Permitted(); err != nil {
		if missing := oughtToRecord(); missing != "" {
			t.Skipf("%v (and it need not: %s)", err, missing)
		}
		t.Fatalf("this host ought to be able to record: %v", err)
	}
}

// oughtToRecord names what a host lacks that need not be able to record; "" when it has everything.
func oughtToRecord() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return err.Error()
	}
	var major, minor int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		return err.Error()
	}
	set, err := host.EffectiveCapabilities()
	switch {
	case major < 5 || major == 5 && minor < 15:
		return "a kernel before 5.15"
	case os.Geteuid() != 0:
		return "not root"
	case err != nil || set>>unix.CAP_BPF&1 == 0 || set>>unix.CAP_PERFMON&1 == 0:
		return "no CAP_BPF or CAP_PERFMON"
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		return "no BTF"
	}
	return ""
}

// mustProbe fails when a probe that this host ought to run did not.
func mustProbe(t *testing.T, statuses []recording.ProbeStatus) {
	t.Helper()
	for _, status := range statuses {
		if !status.On {
			t.Fatalf("probe %s is off: %s", status.Name, status.Why)
		}
	}
}

// start loads a recorder for one test.
func start(t *testing.T, options Options) *Recorder {
	t.Helper()
	needs(t)
	recorder, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Close)
	mustProbe(t, recorder.Probes)
	return recorder
}

// standing is the recorder that most tests use: one process for many windows, as in an
// investigation.
var standing standingRecorder

type standingRecorder struct {
	once     sync.Once
	recorder *Recorder
	err      error
}

func (s *standingRecorder) get(t *testing.T) *Recorder {
	t.Helper()
	needs(t)
	s.once.Do(func() {
		s.recorder, s.err = Start(context.Background(), Options{Hz: 499, Wait: 50 * time.Microsecond})
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	mustProbe(t, s.recorder.Probes)
	return s.recorder
}

func (s *standingRecorder) close() {
	if s.recorder != nil {
		s.recorder.Close()
	}
}

// held is a command that waits at a gate until it is released.
type held struct {
	command *exec.Cmd
	gate    *os.File
	output  *bytes.Buffer
}

// hold starts a command behind a gate.
func hold(t *testing.T, words ...string) *held {
	t.Helper()
	wait, gate, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer wait.Close()
	ready, there, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	h := &held{gate: gate, output: &bytes.Buffer{}}
	h.command = exec.Command("/bin/sh", append([]string{"-c",
		`exec 4>&-; read -r _ <&3; exec 3<&-; exec "$@"`, "sh"}, words...)...)
	h.command.ExtraFiles = []*os.File{wait, there}
	h.command.Stdout, h.command.Stderr = h.output, h.output
	h.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := h.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.kill)
	there.Close()
	if _, err := io.Copy(io.Discard, ready); err != nil { // until the shell has closed its end: it has started up
		t.Fatal(err)
	}
	return h
}

func (h *held) pid() int { return h.command.Process.Pid }

func (h *held) release() { h.gate.Close() }

// wait lets it run to its end and returns the CPU time of it and all it waited for.
func (h *held) wait(t *testing.T) time.Duration {
	t.Helper()
	if err := h.command.Wait(); err != nil {
		t.Fatalf("%v: %v: %s", h.command.Args, err, h.output)
	}
	state := h.command.ProcessState
	return state.UserTime() + state.SystemTime()
}

// kill ends what is left of it.
func (h *held) kill() {
	h.gate.Close()
	if h.command.ProcessState == nil {
		_ = syscall.Kill(-h.pid(), syscall.SIGKILL) // it may have ended just now
		_ = h.command.Wait()
	}
}

// seen is a window with what the kernel and the program itself say of it.
type seen struct {
	*recording.Recording
	summary *Summary
	pid     int32
	cpu     time.Duration
	output  string
}

// watchCommand records one command from its start to its end.
func watchCommand(t *testing.T, recorder *Recorder, words ...string) seen {
	t.Helper()
	h := hold(t, words...)
	target := Target{Kind: "command", Command: strings.Join(words, " "), Pid: h.pid()}
	if err := recorder.Begin(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	h.release()
	cpu := h.wait(t)
	result := endWindow(t, recorder)
	result.pid, result.cpu, result.output = int32(h.pid()), cpu, h.output.String()
	return result
}

// endWindow ends the open window and reads back the file that was written.
func endWindow(t *testing.T, recorder *Recorder) seen {
	t.Helper()
	path := filepath.Join(t.TempDir(), "window.culprit")
	summary, err := recorder.End(t.Context(), Finish{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return seen{Recording: rec, summary: summary}
}

// lossless fails when a probe dropped anything. The kernel does not run a program that an event of
// the same hook interrupts on its CPU, and gives a program no memory for a thread where that takes
// a lock which is held: it counts the first, the program the second, and now and then there is one.
// A thread is asked again the next time.
func (s seen) lossless(t *testing.T, probe string, mayLose ...string) {
	t.Helper()
	for _, loss := range s.Manifest.Losses {
		if strings.HasPrefix(loss.What, probe+":") {
			t.Logf("lost: %s: %d", loss.What, loss.Count)
			rare := strings.HasSuffix(loss.What, "could not run") || strings.HasSuffix(loss.What, "could not be watched")
			if (loss.Count > 5 || !rare) && !slices.Contains(mayLose, loss.What) {
				t.Fail()
			}
		}
	}
}

// numbers reads lines "name value" that a truth program printed.
func numbers(t *testing.T, text string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var name string
		var value float64
		if _, err := fmt.Sscan(line, &name, &value); err == nil {
			values[name] = value
		}
	}
	if len(values) == 0 {
		t.Fatalf("the truth program printed no numbers: %q", text)
	}
	return values
}

// about fails unless a value is within a part of the truth, or within slack of it.
func about(t *testing.T, what string, got, want, part, slack float64) {
	t.Helper()
	if difference := got - want; difference > max(want*part, slack) || -difference > max(want*part, slack) {
		t.Errorf("%s: %.6g, the truth is %.6g", what, got, want)
	}
}
