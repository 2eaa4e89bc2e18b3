package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/knob"
	"culprit/internal/record"
	"culprit/internal/report/browser"
)

// asCulprit in the environment makes the test binary the program that it tests.
const asCulprit = "CULPRIT_TEST_AS_CULPRIT"

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestMain(m *testing.M) {
	// The recorder and the guardian are this same file, started again under a hidden word.
	hidden := len(os.Args) > 1 && (os.Args[1] == record.Verb || os.Args[1] == knob.GuardianVerb)
	if hidden || os.Getenv(asCulprit) != "" {
		main()
		return // main exits; only a bug comes here
	}
	os.Exit(browser.Run(m))
}

// outcome is what one command line gave.
type outcome struct {
	stdout, stderr string
	status         int
}

// here runs one command line inside the test.
func here(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), world{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}, args)
	return outcome{stdout.String(), stderr.String(), status}
}

// command makes culprit a process of its own, in a folder.
func command(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	made := exec.Command(program, args...)
	made.Dir = folder
	made.Env = append(os.Environ(), asCulprit+"=1", "CULPRIT_STATE="+filepath.Join(t.TempDir(), "state"),
		"XDG_CACHE_HOME="+filepath.Join(t.TempDir(), "cache"))
	return made
}

// finish runs a process and returns what it gave; death by a signal has status -1.
func finish(t *testing.T, made *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if made.Stdout == nil {
		made.Stdout = &stdout
	}
	made.Stderr = &stderr
	err := made.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), made.ProcessState.ExitCode()}
}

// apart runs one command line as a process of its own.
func apart(t *testing.T, folder string, args ...string) outcome {
	t.Helper()
	return finish(t, command(t, folder, args...))
}

// needsRoot leaves a test out for users who may not record at all; root must be able to.
func needsRoot(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("recording needs root: -short leaves it out")
	}
	if os.Geteuid() != 0 {
		t.Skip("recording needs root")
	}
	if err := record.Permitted(); err != nil {
		t.Fatalf("root may not record here: %v", err)
	}
}

// golden compares text with the file that is named after the arguments.
func golden(t *testing.T, args []string, text string) {
	t.Helper()
	name := strings.Trim(strings.NewReplacer("-", "", "/", "_", " ", "_", ".", "_").Replace(strings.Join(args, " ")), "_")
	if name == "" {
		name = "nothing"
	}
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./cmd/culprit -update writes it)", err)
	}
	if string(want) != text {
		t.Errorf("%s is not what is printed now (-update writes it):\n%s", path, text)
	}
}
