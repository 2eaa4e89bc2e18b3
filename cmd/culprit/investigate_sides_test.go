package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/internal/explain"
)

// A side beside one that runs may be files, parts of them, or the side of a case: of two sides the
// newer one unless A is named.
func TestSidesThatWereRecordedEarlier(t *testing.T) {
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	made := func(name string, minute int) {
		madeService(t, file(name), time.Date(2026, 11, 1, 0, minute, 0, 0, time.UTC), 5)
	}
	caseOf := func(name string, known explain.Context) {
		if err := os.MkdirAll(file(name+"/recordings"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file(name+"/case.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		for i, recorded := range append(slices.Clone(known.A), known.B...) {
			if filepath.Base(recorded) == recorded {
				made(name+"/recordings/"+recorded, 10+i)
			}
		}
		if err := known.Save(file(name)); err != nil {
			t.Fatal(err)
		}
	}
	made("old-1.culprit", 1)
	made("old-2.culprit", 2)
	caseOf("two", explain.Context{A: []string{"A-1.culprit"}, B: []string{"B-1.culprit", "B-2.culprit"}})
	caseOf("one", explain.Context{A: []string{"A-1.culprit"}})
	caseOf("hostile", explain.Context{A: []string{"../../old-1.culprit"}})
	for _, c := range []struct {
		words []string
		files string
		err   string
	}{
		{[]string{"old-1.culprit", "old-2.culprit"}, "old-1.culprit old-2.culprit", ""},
		{[]string{"old-1.culprit@0s..30s"}, "old-1.culprit@0s..30s", ""},
		{[]string{"two"}, "B-1.culprit B-2.culprit", ""},
		{[]string{"two/B"}, "B-1.culprit B-2.culprit", ""},
		{[]string{"two/A"}, "A-1.culprit", ""},
		{[]string{"one"}, "A-1.culprit", ""},
		{[]string{"one/B"}, "", "holds no recordings of side B"},
		{[]string{"hostile"}, "", "not a file of the case's recordings"},
		{[]string{"two/recordings"}, "", "the directory of no case"},
		{[]string{"old-1.culprit", "old-1.culprit"}, "", "are the same recording"},
		{[]string{"none.culprit"}, "", "none.culprit"},
	} {
		var words []string
		for _, word := range c.words {
			words = append(words, file(word))
		}
		side, err := investigateFlags{}.earlierSide(world{}, "A", words)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: %v, want %q", c.words, err, c.err)
			}
		case err != nil || strings.Join(side.Files, " ") != c.files || len(side.Recordings) != len(side.Files):
			t.Errorf("%v: %+v, %v", c.words, side, err)
		}
	}
}

// Sides that cannot be compared so are refused in one line, and nothing is left.
func TestSidesThatAreNoPair(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	madeService(t, "old.culprit", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), 5)
	madeRecording(t, "none.culprit", 10, 10, 1)
	whole, err := os.ReadFile("old.culprit")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"cut.culprit": whole[:len(whole)/2], "notes.txt": []byte("hello\n")} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs := fmt.Sprintf("pid:%d", os.Getppid())
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--a", "none-such.culprit", "--b", runs}, "none-such.culprit"},
		{[]string{"--a", "notes.txt", "--b", runs}, "notes.txt"},
		{[]string{"--a", "cut.culprit", "--b", runs}, "cut.culprit"},
		{[]string{"--a", "old.culprit", "--b", "pid:99999999"}, "no process 99999999"},
		{[]string{"--a", runs, "--b", "none.culprit", "--metric", "p99"}, "none.culprit holds no requests"},
		{[]string{"--a", ".", "--b", runs}, "the directory of no case"},
		{[]string{"--a", "sleep 60", "--b", runs}, `"sleep 60", is a command`},
		{[]string{"--a", "old.culprit", "--b", "none.culprit"}, "culprit compare"},
		{[]string{"--a", "old.culprit", "--b", "sleep 60"}, "does not run"},
		{[]string{"--a", "old.culprit", "--b", runs, "--prove", "auto"}, "nothing is flipped"},
		{[]string{"--a", "old.culprit", "--b", runs, "pid:1"}, "by itself"},
		{[]string{"--a", "sleep", "60", "--b", "true"}, "quotes"},
	} {
		got := here(t, append([]string{"investigate"}, c.args...)...)
		oneLine(t, got, c.want)
	}
	if left, _ := filepath.Glob("culprit-case*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// The words of a side end at the next flag, and those behind -- belong to a command.
func TestGroupsOfWords(t *testing.T) {
	for line, want := range map[string]string{
		"investigate --a x y --b pid:1 --budget 9s": "investigate --a=x --a=y --b=pid:1 --budget 9s",
		"investigate -- ./run --a x y":              "investigate -- ./run --a x y",
		"compare --a x y --b z":                     "compare --a=x --a=y --b=z",
		"record --a x y":                            "record --a x y",
	} {
		if got := strings.Join(spreadGroups(strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
