package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"culprit/internal/bisect"
)

// sleepers is a search over twelve versions of a command that sleeps; from version 8 on it sleeps
// longer.
func sleepers(more ...string) []string {
	return append([]string{"bisect", "--package", "npm:sleeper", "--versions", "1,2,3,4,5,6,7,8,9,10,11,12", "--good", "1",
		"--bad", "12", "--install", "true", "--metric", "wall", "--no-investigate", "--cache", "cache", "--case", "found",
		"--json", "result.json"}, append(more, "--", "sleep 0.0$((CULPRIT_VERSION < 8 ? 2 : 4))")...)
}

// A search that is killed with -9 in the middle goes on: nothing that was done is done again, and
// the answer is there.
func TestBisectGoesOnAfterAKill(t *testing.T) {
	if testing.Short() {
		t.Skip("searches for seconds: -short leaves it out")
	}
	folder := t.TempDir()
	first := command(t, folder, sleepers()...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(folder, "found", bisect.EventsName)
	var before []byte
	for end := time.Now().Add(time.Minute); bytes.Count(before, []byte("\n")) < 10; before, _ = os.ReadFile(events) {
		if time.Now().After(end) {
			t.Fatal("no trials within a minute")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := first.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Fatal("it ended before it was killed")
	}
	before, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	// What a kill cuts short is taken back.
	if err := os.WriteFile(events, append(bytes.Clone(before), `{"kind":"ru`...), 0o644); err != nil {
		t.Fatal(err)
	}
	got := apart(t, folder, "bisect", "--resume", "found", "--json", "result.json")
	if got.status != exitWorse {
		t.Fatalf("%+v", got)
	}
	after, err := os.ReadFile(events)
	if err != nil || !bytes.HasPrefix(after, before) {
		t.Errorf("what was done before is not kept: %v", err)
	}
	checkFound(t, filepath.Join(folder, "result.json"), "8")
	if again := apart(t, folder, sleepers()...); again.status != exitError || !strings.Contains(again.stderr,
		"--resume found") {
		t.Errorf("into the same directory: %+v", again)
	}
}

func checkFound(t *testing.T, path, version string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var result bisect.Result
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	if result.Schema != bisect.Schema || result.Outcome != bisect.Worse || len(result.Culprits) != 1 ||
		result.Culprits[0].Candidate.Name != version {
		t.Errorf("%s", text)
	}
}

// An interrupt ends the search with one line that says how to go on.
func TestBisectIsInterrupted(t *testing.T) {
	folder := t.TempDir()
	made := command(t, folder, sleepers()...)
	var complained bytes.Buffer
	made.Stderr = &complained
	if err := made.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if events, _ := os.ReadFile(filepath.Join(folder, "found", bisect.EventsName)); bytes.Count(events,
			[]byte("\n")) > 6 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no trials within a minute")
		}
	}
	if err := made.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := made.Wait()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != exitError {
		t.Errorf("%v", err)
	}
	if text := complained.String(); !strings.Contains(text, "--resume") {
		t.Errorf("it says %q", text)
	}
}

// Ends that are equally fast are no error: there is nothing to search for, and nothing is worse.
func TestBisectOfEqualEnds(t *testing.T) {
	got := apart(t, t.TempDir(), "bisect", "--package", "npm:sleeper", "--versions", "1,2,3", "--good", "1", "--bad", "3",
		"--install", "true", "--smallest", "50%", "--metric", "wall", "--cache", "cache", "--case", "found", "--",
		"sleep 0.02")
	if got.status != exitDone || !strings.Contains(got.stdout, "SAME") {
		t.Errorf("%+v", got)
	}
}
