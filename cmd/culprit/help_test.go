package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"culprit/internal/cause"
)

// verbs lists what may be typed: all but the words that culprit starts itself with.
func verbs(t *testing.T) []*cobra.Command {
	t.Helper()
	var list []*cobra.Command
	for _, verb := range newRoot(world{}).Commands() {
		if !verb.Hidden || verb.Name() == "man" {
			list = append(list, verb)
		}
	}
	if len(list) < 6 {
		t.Fatalf("only %d verbs in the table", len(list))
	}
	return list
}

func TestHelp(t *testing.T) {
	for _, verb := range verbs(t) {
		args := []string{verb.Name(), "--help"}
		got := here(t, args...)
		if got.status != exitDone || got.stderr != "" {
			t.Errorf("%v: status %d, %q", args, got.status, got.stderr)
		}
		golden(t, args, got.stdout)
	}
	golden(t, []string{"--help"}, here(t, "--help").stdout)
	if got := here(t); got.status != exitDone || !strings.Contains(got.stdout, "investigate") {
		t.Errorf("culprit alone does not print its help: %+v", got)
	}
	if got := here(t, "--version"); got.stdout != "culprit "+version+"\n" {
		t.Errorf("version is %q", got.stdout)
	}
}

// Every verb says what it does, has an example, and its flags say what they are for.
func TestEveryVerbIsExplained(t *testing.T) {
	for _, verb := range verbs(t) {
		if verb.Short == "" || verb.Long == "" || !strings.Contains(verb.Example, "culprit "+verb.Name()) {
			t.Errorf("%s lacks a sentence, a text or an example", verb.Name())
		}
		verb.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Usage == "" {
				t.Errorf("%s --%s says nothing", verb.Name(), flag.Name)
			}
		})
	}
}

// The guide has a page for every verb, and the page has every flag.
func TestGuideNamesEveryVerbAndFlag(t *testing.T) {
	const guide = "../../docs/guide"
	for _, verb := range verbs(t) {
		path := filepath.Join(guide, verb.Name()+".md")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("no page for %s: %v", verb.Name(), err)
			continue
		}
		text := string(content)
		if !strings.Contains(text, "culprit "+verb.Name()) {
			t.Errorf("%s does not show `culprit %s`", path, verb.Name())
		}
		verb.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Hidden || flag.Name == "help" {
				return
			}
			if !regexp.MustCompile("`(-., )?--" + regexp.QuoteMeta(flag.Name) + "[ `=]").MatchString(text) {
				t.Errorf("%s does not explain --%s", path, flag.Name)
			}
		})
	}
}

func TestManualPages(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man1")
	if got := here(t, "man", folder); got.status != exitDone {
		t.Fatal(got)
	}
	for _, verb := range verbs(t) {
		if verb.Hidden {
			continue
		}
		page, err := os.ReadFile(filepath.Join(folder, "culprit-"+verb.Name()+".1"))
		if err != nil || !bytes.Contains(page, []byte(".SH EXAMPLE")) {
			t.Errorf("page of %s: %v, %d bytes", verb.Name(), err, len(page))
		}
	}
	if again := here(t, "man", filepath.Join(folder, "culprit.1")); again.status != exitError {
		t.Errorf("manual pages into a file: %+v", again)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if got := here(t, "completion", shell); got.status != exitDone || !strings.Contains(got.stdout, "culprit") {
			t.Errorf("completion for %s: status %d, %d bytes", shell, got.status, len(got.stdout))
		}
	}
	got := here(t, "__complete", "explain", "")
	for _, id := range cause.IDs() {
		if !strings.Contains(got.stdout, string(id)+"\t") {
			t.Errorf("completion of explain does not offer %s", id)
		}
	}
	for flag, want := range map[string]string{"--prove": "auto", "--metric": "cpu"} {
		if got := here(t, "__complete", "investigate", flag, ""); !strings.Contains(got.stdout, want) {
			t.Errorf("completion of investigate %s offers %q", flag, got.stdout)
		}
	}
	if got := here(t, "__complete", "investigate", "--metric", ""); strings.Contains(got.stderr, "rror") {
		t.Errorf("completion complains: %s", got.stderr)
	}
}
