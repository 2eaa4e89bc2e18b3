package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the lineup of published releases must have, by issue.
const (
	releasesPairs, releasesUpgrades, releasesEqual, releasesLanguages = 30, 18, 4, 5
	releasesLeastRatio                                                = 1.08
)

func TestReleasesHaveWhatTheyNeed(t *testing.T) {
	scenarios, err := loadScenarios("releases", "")
	if err != nil {
		t.Fatal(err)
	}
	upgrades, equal, languages := 0, 0, map[string]bool{}
	for _, s := range scenarios {
		if s.Change == (Change{}) || !strings.HasPrefix(s.Source, "https://") || s.Why == "" {
			t.Errorf("%s: want a change, why, and the address of its source", s.Name)
		}
		switch {
		case s.Truth.Outcome == "same":
			equal++
		case s.isUpgrade():
			upgrades++
			languages[s.Language] = true
		}
		if s.Truth.Outcome != "same" && s.Ratio < releasesLeastRatio {
			t.Errorf("%s: ratio %.2f, want at least %.2f as measured here", s.Name, s.Ratio, releasesLeastRatio)
		}
	}
	if len(scenarios) < releasesPairs || upgrades < releasesUpgrades || equal < releasesEqual ||
		len(languages) < releasesLanguages {
		t.Errorf("%d pairs, %d upgrades in %d languages, %d equal: want %d, %d in %d, %d", len(scenarios), upgrades,
			len(languages), equal, releasesPairs, releasesUpgrades, releasesLanguages, releasesEqual)
	}
}

func TestReleaseRefused(t *testing.T) {
	good := "title: t\nfamily: release\nlanguage: Python\nsource: s\nwhy: w\n" +
		"change: {kind: pypi, name: n, from: '1', to: '2'}\na: x\nb: y\ntruth: {outcome: same}\n"
	if _, err := parseScenario(strings.NewReader(good)); err != nil {
		t.Fatalf("good release refused: %v", err)
	}
	for _, c := range []struct {
		want    string
		changes []string
	}{
		{"cpan", []string{"kind: pypi", "kind: cpan", "b: y", "b: x"}},
		{"differ", []string{"to: '2'", "to: '1'"}},
		{"name", []string{"name: n, ", ""}},
		{"why", []string{"why: w\n", ""}},
		{"same command", []string{"kind: pypi", "kind: setting"}},
		{"cpan", []string{"kind: pypi", "kind: setting", "b: y", "b: x\ninstall: {kind: cpan}"}},
	} {
		_, err := parseScenario(strings.NewReader(strings.NewReplacer(c.changes...).Replace(good)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.changes, err, c.want)
		}
	}
}

func TestSidesThatAreInstalled(t *testing.T) {
	for _, c := range []struct {
		release Release
		want    string
	}{
		{Release{}, ""},
		{Release{Change: Change{Kind: "npm"}}, "a b"},
		{Release{Change: Change{Kind: settingKind}}, ""},
		{Release{Change: Change{Kind: settingKind}, Install: Install{Kind: "maven"}}, "a"},
		{Release{Change: Change{Kind: settingKind}, Install: Install{Kind: "crate", B: []string{"x"}}}, "a b"},
	} {
		if got := strings.Join(c.release.sides(), " "); got != c.want {
			t.Errorf("%+v: sides %q, want %q", c.release, got, c.want)
		}
	}
}

func TestInstalledOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pair", "a")
	one := side{folder: folder}
	commands := []string{"echo run >> log; cp text copy"}
	for _, text := range []string{"1", "1", "2"} {
		if err := one.install(context.Background(), map[string]string{"text": text}, commands); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(filepath.Join(folder, "copy")); string(got) != text {
			t.Errorf("copy is %q, want %q", got, text)
		}
		if runs, _ := os.ReadFile(filepath.Join(folder, "log")); string(runs) != "run\n" {
			t.Errorf("ran %q since the folder was cleared, want once", runs)
		}
	}
	if err := one.install(context.Background(), nil, []string{"false"}); err == nil {
		t.Error("a command that fails is no error")
	}
	if _, err := os.Stat(filepath.Join(folder, ".plan")); err == nil {
		t.Error("what failed counts as installed")
	}
}

func TestChangeTold(t *testing.T) {
	upgrade := Change{Kind: "pypi", Name: "ruamel.yaml", From: "1.0", To: "1.1"}
	maven := Change{Kind: "maven", Name: "org.jsoup:jsoup", From: "1.0", To: "1.1"}
	setting := Change{Kind: settingKind, Name: "GODEBUG=cpu.sha", From: "on", To: "off"}
	other := Difference{Name: "six", A: "1", B: "2"}
	for _, c := range []struct {
		change Change
		list   []Difference
		want   string
	}{
		{upgrade, nil, toldNone},
		{upgrade, []Difference{}, toldNot},
		{upgrade, []Difference{{Name: "ruamel_yaml", A: "1.0", B: "1.1"}, other}, toldFirst},
		{upgrade, []Difference{other, {Name: "ruamel.yaml", A: "v1.0", B: "v1.1"}}, "2 of 2"},
		{upgrade, []Difference{{Name: "ruamel.yaml", A: "1.0", B: "1.2"}}, toldNot},
		{maven, []Difference{{Name: "jsoup", A: "1.0", B: "1.1"}}, toldFirst},
		{setting, []Difference{{Kind: "variable", Name: "GODEBUG", B: "cpu.sha=off"}}, toldFirst},
	} {
		if got := c.change.told(c.list); got != c.want {
			t.Errorf("%s in %v: %q, want %q", c.change.Name, c.list, got, c.want)
		}
	}
}

func TestNameOfThePairIsNoPlace(t *testing.T) {
	scenario := Scenario{Name: "marked-node", Folder: "/lineup/releases/marked-node"}
	suspects := []Suspect{{Where: []string{"file /lineup/releases/marked-node/main.js",
		"file /packages/marked-node/b/node_modules/marked/lib/marked.js"}}}
	scenario.forgetName(suspects, "/packages")
	want := "file main.js, file b/node_modules/marked/lib/marked.js"
	if got := strings.Join(suspects[0].Where, ", "); got != want {
		t.Errorf("places %s, want %s", got, want)
	}
}
