package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// The test binary is also the program that the tests run: its truth is known to it.
const roleVariable = "CULPRIT_TRIAL_ROLE"

func TestMain(m *testing.M) {
	role, argument, _ := strings.Cut(os.Getenv(roleVariable), " ")
	os.Unsetenv(roleVariable)
	switch role {
	case "":
		os.Exit(m.Run())
	// Uses CPU for so many milliseconds and prints what the kernel has charged to the process.
	case "busy":
		runtime.LockOSThread()
		limit, _ := time.ParseDuration(argument)
		var used time.Duration
		for used < limit {
			used, _ = clockTime(unix.CLOCK_PROCESS_CPUTIME_ID)
		}
		fmt.Printf("charged=%d\n", used.Nanoseconds())
	case "memory": // touches so many MiB
		megabytes, _ := strconv.Atoi(argument)
		block := make([]byte, megabytes<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		runtime.KeepAlive(block)
	case "server":
		serveLines(argument)
	case "requests":
		requestLines(argument)
	case "culprit": // runs a command as culprit does, to be killed with -9
		runner, err := NewRunner("/")
		if err == nil {
			fmt.Printf("blind: %q\n", runner.BlindSpots())
			s := Spec{Side: "A", Command: argument, CaseDir: os.Getenv("CASE")}
			if load := os.Getenv("LOAD"); load != "" {
				s.Load = &Load{Command: load}
			}
			_, err = runner.Run(context.Background(), s)
		}
		if err == nil {
			err = runner.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// as returns the command line that makes the test binary play a role.
func as(role string) string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s='%s' exec '%s'", roleVariable, role, path)
}

func newRunner(t *testing.T) *Runner {
	t.Helper()
	runner, err := NewRunner("/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return runner
}

func spec(t *testing.T, command string) Spec {
	return Spec{Side: "A", Order: 1, Kind: KindMeasure, Command: command, CaseDir: t.TempDir(), Timeout: 20 * time.Second}
}

func mustRun(t *testing.T, runner *Runner, s Spec) Run {
	t.Helper()
	run, err := runner.Run(context.Background(), s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return run
}

func mustPrinted(t *testing.T, name, pattern string) Printed {
	t.Helper()
	printed, err := NewPrinted(name, pattern)
	if err != nil {
		t.Fatal(err)
	}
	return printed
}

// pidsFrom reads the process ids that a command wrote to a file, one a line.
func pidsFrom(t *testing.T, path string, count int) []int {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		text, err := os.ReadFile(path)
		if fields := strings.Fields(string(text)); err == nil && len(fields) >= count {
			var pids []int
			for _, field := range fields {
				pid, err := strconv.Atoi(field)
				if err != nil {
					t.Fatal(err)
				}
				pids = append(pids, pid)
			}
			return pids
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not hold %d process ids: %q", path, count, text)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// gone waits a moment for a process to end.
func gone(pid int, within time.Duration) bool {
	for deadline := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		fields := host.StatFields(pid)
		if len(fields) == 0 || fields[0] == "Z" {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

func asFailed(t *testing.T, err error) *FailedError {
	t.Helper()
	var failed *FailedError
	if !errors.As(err, &failed) {
		t.Fatalf("want a FailedError, got %v", err)
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\r\x1b") || len(text) > 2000 {
		t.Errorf("not one clean line: %q", text)
	}
	return failed
}

func outputText(t *testing.T, s Spec, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.CaseDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
