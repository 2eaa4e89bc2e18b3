package knob

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ownerVerb makes the test binary the owner of a change that can be killed.
const ownerVerb = "owner-of-a-change"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == GuardianVerb {
		exit(RunGuardian(os.Args[2:]))
	}
	if len(os.Args) > 3 && os.Args[1] == ownerVerb {
		exit(holdChange(os.Args[2], os.Args[3]))
	}
	if len(os.Args) > 2 && os.Args[1] == severalVerb {
		exit(holdSeveral(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// holdChange flips the clock source below root, says so, and holds it until standard input ends.
func holdChange(root, value string) error {
	change, err := Begin(context.Background(), ClockSource(root))
	if err != nil {
		return err
	}
	if err := change.Set("clocksource", value); err != nil {
		return err
	}
	fmt.Println("changed", change.guardian.process.Pid)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return change.Restore()
}

// severalVerb makes it the owner of several knobs of this machine, given as NAME=VALUE.
const severalVerb = "owner-of-several"

func holdSeveral(pairs []string) error {
	var knobs []Knob
	var levels []Level
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		found, err := Find(name, Target{})
		if err != nil {
			return err
		}
		knobs, levels = append(knobs, found), append(levels, Level{name, value})
	}
	change, err := Begin(context.Background(), knobs...)
	if err != nil {
		return err
	}
	if err := change.SetAll(levels...); err != nil {
		return both(err, change.Restore())
	}
	fmt.Println("changed")
	_, err = io.Copy(io.Discard, os.Stdin)
	time.Sleep(time.Minute)
	return both(err, change.Restore())
}

// ownerProcess is a process of its own that holds a change open.
type ownerProcess struct {
	command  *exec.Cmd
	input    io.Closer
	guardian int
}

// startOwner starts one in its own process group and waits until the value is set.
func startOwner(t *testing.T, stateDir, root, value string) *ownerProcess {
	t.Helper()
	command := exec.Command("/proc/self/exe", ownerVerb, root, value)
	command.Env = append(os.Environ(), stateVariable+"="+stateDir)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	process := &ownerProcess{command: command, input: input}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("owner did not set the value: %v", err)
	}
	if _, err := fmt.Sscanf(line, "changed %d", &process.guardian); err != nil {
		t.Fatalf("owner says %q: %v", line, err)
	}
	return process
}

// machine makes a tree with a clock source.
func machine(t *testing.T, current string, available ...string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, clockSourceFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, clockSourceFolder, "available_clocksource"), strings.Join(available, " ")+" \n")
	put(t, settingOf(root), current+"\n")
	return root
}

func settingOf(root string) string {
	return filepath.Join(root, clockSourceFolder, "current_clocksource")
}

// newState makes a state directory and makes Begin use it.
func newState(t *testing.T) string {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	t.Setenv(stateVariable, state)
	return state
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// value reads a setting; it must be there.
func value(t *testing.T, root string) string {
	t.Helper()
	current, err := ClockSource(root).Current()
	if err != nil {
		t.Fatal(err)
	}
	return current
}

// holds tells whether a setting has a value by now. Unlike the kernel's files,
// one of a fixture is empty for a moment while it is written.
func holds(root, wanted string) bool {
	current, err := ClockSource(root).Current()
	return err == nil && current == wanted
}

// entries lists what is in the journal of a state directory besides its lock.
func entries(t *testing.T, state string) []string {
	t.Helper()
	listed, err := os.ReadDir(filepath.Join(state, journalFolder))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, each := range listed {
		if each.Name() != lockName {
			names = append(names, each.Name())
		}
	}
	return names
}

// eventually waits for a condition and returns how long it took.
func eventually(t *testing.T, limit time.Duration, what string, condition func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	for !condition() {
		if time.Since(start) > limit {
			t.Fatalf("%s: not within %v", what, limit)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(start)
}

// must fails the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that an error is there and names each word.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted; an error with %q was due", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not name %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error is more than one line: %q", err)
	}
}
