package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// worseExamples compare two commands of which B is plainly worse: their answer is exit status 1.
var worseExamples = []string{"culprit investigate --a ", "culprit bisect "}

// Every example of every verb's help is run as it stands, in order, in one folder per verb.
func TestExamples(t *testing.T) {
	needsRoot(t)
	tools := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(tools, "culprit")); err != nil {
		t.Fatal(err)
	}
	for _, verb := range verbs(t) {
		t.Run(verb.Name(), func(t *testing.T) {
			t.Parallel() // most of them wait for the time that they were given
			folder := t.TempDir()
			for line := range strings.Lines(verb.Example) {
				line = strings.TrimSpace(line)
				t.Run(line, func(t *testing.T) { runExample(t, line, folder, tools) })
			}
		})
	}
}

// runExample runs one line of a help text in its verb's folder.
func runExample(t *testing.T, line, folder, tools string) {
	t.Helper()
	if !strings.HasPrefix(line, "culprit ") {
		t.Fatalf("the example does not begin with culprit")
	}
	shell := exec.Command("/bin/sh", "-c", line)
	shell.Dir = folder
	shell.Env = append(os.Environ(), asCulprit+"=1", "PATH="+tools+":"+os.Getenv("PATH"),
		"CULPRIT_STATE="+filepath.Join(folder, "state"), "XDG_CACHE_HOME="+filepath.Join(folder, "cache"))
	got := finish(t, shell)
	want := exitDone
	for _, worse := range worseExamples {
		if strings.HasPrefix(line, worse) {
			want = exitWorse
		}
	}
	if got.status != want && !hostIsNoisy(got) {
		t.Errorf("exit status %d, want %d\n%s%s", got.status, want, got.stdout, got.stderr)
	}
	if strings.Contains(got.stdout+got.stderr, "\x1b") {
		t.Errorf("escape codes where nothing is a terminal: %q", got.stdout+got.stderr)
	}
	for said := range strings.Lines(got.stdout) {
		if page, found := strings.CutPrefix(said, "report  "); found && strings.HasSuffix(said, ".html\n") {
			page = strings.TrimSpace(page)
			if !filepath.IsAbs(page) {
				page = filepath.Join(folder, page)
			}
			checkPage(t, page)
		}
	}
}

// hostIsNoisy tells whether ci refused to judge what runs differ by anyhow: another process on a
// host of two CPUs is enough for that, and it is what ci is to say then.
func hostIsNoisy(got outcome) bool {
	return got.status == exitError && strings.Contains(got.stderr, "not judged: this host cannot show a change of ")
}

// checkPage fails unless the page that the last line names is there, whole.
func checkPage(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	} else if !strings.Contains(string(text), "<title>culprit") || !strings.Contains(string(text), "</html>") {
		t.Errorf("%s is no whole page", path)
	}
}
