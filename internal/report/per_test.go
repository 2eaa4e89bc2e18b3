package report

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"culprit/internal/cause"
)

// A case of something that runs on has no runs: no text may speak of them, on a terminal or on the
// page.
func TestAmountsOfAServiceAreNotPerRun(t *testing.T) {
	c := listedCase()
	c.Per = "second"
	for i := range c.Suspects {
		for k := range c.Suspects[i].Evidence {
			e := &c.Suspects[i].Evidence[k]
			e.Unit = strings.Replace(e.Unit, "/run", "/second", 1)
		}
	}
	text := textOf(t, c, TextOptions{Width: 120})
	for _, want := range []string{"per second: where it goes", "recording"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if found := regexp.MustCompile(`(per |/)run|\b[0-9]+ runs?\b`).FindString(text); found != "" {
		t.Errorf("%q is in\n%s", found, text)
	}
	if words := verdictOf(c); words.Per != "second" || words.Kept != "recording" {
		t.Errorf("the page says per %s of a %s", words.Per, words.Kept)
	}
	c.Per = "" // as in cases that were written before
	if words := verdictOf(c); words.Per != "run" || words.Kept != "run" {
		t.Errorf("an old case's page says per %s of a %s", words.Per, words.Kept)
	}
}

// What amounts are per has one source, perOf: nothing that formats may write the unit itself.
func TestUnitHasOneSource(t *testing.T) {
	literal := regexp.MustCompile(`(?i)[>" (]per (run|second|request|window)\b`)
	look := func(folder, ending string) {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ending) || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for number, line := range strings.Split(string(text), "\n") {
				code, _, _ := strings.Cut(line, "//")
				if found := literal.FindString(code); found != "" {
					t.Errorf("%s:%d writes %q: the unit is a case's Per", path, number+1, found)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	look(".", ".go")
	look(filepath.Join(webFolder, "src"), ".tsx")
}

// What was strange but small is told in one line each, with its cost.
func TestAlsoSeen(t *testing.T) {
	c := listedCase()
	c.AlsoSeen = []cause.Seen{{Cause: "file.journal", Function: "do_get_write_access", Call: "write", Object: "/log/a\x1b",
		Stalls: 2, Seconds: 0.2, Shortest: 0.04, Longest: 0.1, Share: 0.02}}
	lines := alsoSeen(c)
	want := "2 stalls over 40 ms, in write: do_get_write_access (file.journal), 200 ms in all, 2 % of the wall time, " +
		`the longest 100 ms, /log/a\x1b`
	if len(lines) != 1 || strings.ReplaceAll(lines[0], space, " ") != want {
		t.Errorf("got %q, want %q", lines, want)
	}
	text := strings.ReplaceAll(textOf(t, c, TextOptions{}), space, " ")
	if !strings.Contains(text, "also seen  2 stalls over 40 ms, in write") {
		t.Errorf("the terminal lacks it:\n%s", text)
	}
}
