package bisect

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a git repository and returns a function that runs git in it.
func repository(t *testing.T) (folder string, run func(arguments ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	folder = t.TempDir()
	run = func(arguments ...string) string {
		t.Helper()
		fixed := []string{"-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}
		text, err := exec.Command("git", append(fixed, arguments...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, text)
		}
		return strings.TrimSpace(string(text))
	}
	run("init", "--quiet", "--initial-branch=main")
	return folder, run
}

// commit writes files and commits them.
func commit(t *testing.T, folder string, run func(...string) string, title string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run("add", "--all")
	run("commit", "--quiet", "--allow-empty", "-m", title)
	return run("rev-parse", "HEAD")
}

func listed(t *testing.T, folder string, options Options) ([]Candidate, Options, error) {
	t.Helper()
	options.Folder = folder
	commits, err := openCommits(t.Context(), &options)
	if err != nil {
		return nil, options, err
	}
	candidates, err := commits.list(t.Context())
	return candidates, options, err
}

// A side branch is one step along first parents, and its commits are steps of their own in
// topological order.
func TestOrderOfCommits(t *testing.T) {
	folder, run := repository(t)
	good := commit(t, folder, run, "first", nil)
	run("checkout", "--quiet", "-b", "side")
	side := commit(t, folder, run, "on the side", map[string]string{"side": "1"})
	run("checkout", "--quiet", "main")
	second := commit(t, folder, run, "second", map[string]string{"main": "1"})
	run("merge", "--quiet", "--no-ff", "-m", "merge", "side")
	last := commit(t, folder, run, "last", map[string]string{"main": "2"})
	names := func(candidates []Candidate) (text string) {
		for _, c := range candidates {
			text += c.Title + ";"
		}
		return text
	}
	line, options, err := listed(t, folder, Options{Good: good, Bad: last})
	if err != nil || names(line) != "first;second;merge;last;" || options.Linear != FirstParent || !line[2].Merge {
		t.Errorf("%s, %s, %v", names(line), options.Linear, err)
	}
	line, options, err = listed(t, folder, Options{Good: good, Bad: last, Order: Topological})
	if err != nil || len(line) != 5 || options.Linear != Topological {
		t.Errorf("%s, %s, %v", names(line), options.Linear, err)
	}
	// From a commit of the side branch only the topological order leads on.
	line, options, err = listed(t, folder, Options{Good: side, Bad: last})
	if err != nil || names(line) != "on the side;merge;last;" || options.Linear != Topological {
		t.Errorf("%s, %s, %v", names(line), options.Linear, err)
	}
	for _, each := range []struct {
		options Options
		want    string
	}{
		{Options{Good: "none", Bad: last}, `--good "none" is no commit`},
		{Options{Good: good, Bad: "-x; true"}, `--bad "-x; true" is no commit`},
		{Options{Good: good, Bad: "v1\n"}, `is no commit`},
		{Options{Good: last, Bad: good}, "exchange them"},
		{Options{Good: second, Bad: side}, "is no ancestor"},
		{Options{Good: last, Bad: "HEAD"}, "the same commit"},
		{Options{Good: side, Bad: last, Order: FirstParent}, "--order topological"},
		{Options{Good: good, Bad: last, Repo: "/nowhere"}, "/nowhere is not a folder"},
		{Options{Good: good, Bad: last, Repo: "/proc"}, "/proc is in no git repository"},
	} {
		if _, _, err := listed(t, folder, each.options); err == nil || !strings.Contains(err.Error(), each.want) {
			t.Errorf("%+v: %v, want %q", each.options, err, each.want)
		}
	}
}

// A whole search in a repository whose program is a shell script that sleeps, with a commit that
// does not build. Neither the user's working tree nor the repository's own list of worktrees
// changes.
func TestSearchesARepository(t *testing.T) {
	if testing.Short() {
		t.Skip("searches for seconds: -short leaves it out")
	}
	folder, run := repository(t)
	const script = "#!/bin/sh\nsleep 0.0%\n"
	slow := ""
	for i := range 13 {
		files := map[string]string{"below/note": strings.Repeat("x", i+1), "below/build.sh": "#!/bin/sh\nexit 0\n",
			"below/work.sh": strings.ReplaceAll(script, "%", "2")}
		if i == 5 {
			files["below/build.sh"] = "#!/bin/sh\necho broken >&2\nexit 1\n"
		}
		if i >= 8 {
			files["below/work.sh"] = strings.ReplaceAll(script, "%", "4")
		}
		if hash := commit(t, folder, run, "change "+string(rune('a'+i)), files); i == 8 {
			slow = hash
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "below", "work.sh"), []byte("unfinished work"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := run("status", "--short") + run("worktree", "list") + run("branch", "--all")
	place := t.TempDir()
	result, err := Run(t.Context(), Options{Good: "HEAD~12", Bad: "HEAD",
		Repo: filepath.Join(folder, "below"), Folder: place, Build: "./build.sh", Words: []string{"./work.sh"},
		MetricText: "wall", Smallest: 0.02, Trials: 60, Seed: 3, Cache: filepath.Join(place, "cache"),
		Case: filepath.Join(place, "case")})
	if err != nil {
		t.Fatal(err)
	}
	if result.Outcome != Worse || len(result.Culprits) != 1 || result.Culprits[0].Candidate.Name != slow {
		t.Fatalf("%s, %+v", result.Outcome, result.Culprits)
	}
	c := result.Culprits[0]
	if c.Effect.Ratio < 1.3 || c.Change == nil || strings.Join(c.Change.Files, " ") != "below/note below/work.sh" {
		t.Errorf("%+v, %+v", c.Effect, c.Change)
	}
	for _, skip := range result.Skipped {
		if skip.Position != 5 || !strings.Contains(skip.Why, "broken") {
			t.Errorf("skipped %+v", skip)
		}
	}
	if after := run("status", "--short") + run("worktree", "list") + run("branch", "--all"); after != before {
		t.Errorf("the user's repository was\n%s and is\n%s", before, after)
	}
	if _, err := os.Stat(filepath.Join(place, "case", ResultName)); err != nil {
		t.Error(err)
	}
	builds, err := filepath.Glob(filepath.Join(place, "cache", "*", "*.built"))
	if err != nil || len(builds) != 2 {
		t.Errorf("of the builds %v are left, want the culprit and the one before it: %v", builds, err)
	}
}

// Ends that cannot be built are an error, and leave no case directory.
func TestEndsMustBuild(t *testing.T) {
	folder, run := repository(t)
	for _, title := range []string{"a", "b", "c"} {
		commit(t, folder, run, title, nil)
	}
	place := t.TempDir()
	options := Options{Good: "HEAD~2", Bad: "HEAD", Folder: folder, Build: "echo why >&2; false", Words: []string{"true"},
		MetricText: "wall", Smallest: 0.02, Trials: 20, Seed: 1, Cache: filepath.Join(place, "cache"),
		Case: filepath.Join(place, "case")}
	_, err := Run(t.Context(), options)
	if err == nil || !strings.Contains(err.Error(), "the good end HEAD~2: build fails") ||
		!strings.Contains(err.Error(), "why") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(options.Case); err == nil {
		t.Error("a case directory is left")
	}
}
