package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Change is what a published release, or a documented setting, changed between the two sides.
type Change struct {
	Kind string `yaml:"kind" json:"kind"` // of installers, or setting
	Name string `yaml:"name" json:"name"` // of the package, or of the setting
	From string `yaml:"from" json:"from"` // A's version or value
	To   string `yaml:"to" json:"to"`     // B's
}

// Release is what is known of a pair that was published: where, why, and how large it is here.
type Release struct {
	Source  string  `yaml:"source"`  // the issue, release note or page of the manual
	Why     string  `yaml:"why"`     // the root cause in a sentence
	Ratio   float64 `yaml:"ratio"`   // B over A as measured here, of the metric of the truth
	Change  Change  `yaml:"change"`  // the dependency or setting
	Install Install `yaml:"install"` // what each side needs
}

// Install lists the packages that each side gets in a folder of its own. {version} stands for the
// version of the side.
type Install struct {
	Kind     string   `yaml:"kind"`     // of the packages, where the change is of a setting
	Packages []string `yaml:"packages"` // the changed one and what it needs, all pinned
	A        []string `yaml:"a"`        // packages of A alone
	B        []string `yaml:"b"`        // packages of B alone
	Program  string   `yaml:"program"`  // the source file, where the language links its packages
	Before   string   `yaml:"before"`   // npm: what the packages depend on is older than this day
}

// settingKind is the kind of a change of a setting: both sides run the same packages.
const settingKind = "setting"

// side is one installation: the packages of a side in a folder.
type side struct {
	folder, cache, program, before string
	packages                       []string
}

// installers make the folder of a side, by kind of package.
var installers = map[string]func(side) (files map[string]string, commands []string){
	"pypi": installPython, "npm": installNode, "go": installGo, "maven": installJava, "crate": installRust,
}

func (r Release) check() error {
	if r.Change == (Change{}) {
		return nil
	}
	c := r.Change
	switch {
	case c.Name == "" || c.From == c.To:
		return errors.New("change: want name, and from and to that differ")
	case c.Kind != settingKind && installers[c.Kind] == nil:
		return fmt.Errorf("change: kind %q must be pypi, npm, go, maven, crate or setting", c.Kind)
	case r.registry() != "" && installers[r.registry()] == nil:
		return fmt.Errorf("install: kind %q must be pypi, npm, go, maven or crate", r.registry())
	case r.Source == "" || r.Why == "":
		return errors.New("a published change needs source and why")
	}
	return nil
}

// isUpgrade tells whether the sides run two versions of a package.
func (r Release) isUpgrade() bool { return installers[r.Change.Kind] != nil }

// sides are the installations that a scenario needs.
func (r Release) sides() []string {
	switch {
	case r.registry() == "":
		return nil
	case r.isUpgrade() || len(r.Install.A)+len(r.Install.B) > 0:
		return []string{"a", "b"}
	}
	return []string{"a"} // both sides run it
}

// registry is the kind of the packages that a scenario needs, "" for none.
func (r Release) registry() string {
	if r.isUpgrade() {
		return r.Change.Kind
	}
	return r.Install.Kind
}

// installed makes the folder of a side, "a" or "b", below the cache if it is not there yet, and
// returns it.
func (s Scenario) installed(ctx context.Context, cache, name string) (string, error) {
	version, own := s.Change.From, s.Install.A
	if name == "b" {
		version, own = s.Change.To, s.Install.B
	}
	cache, err := filepath.Abs(cache)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", cache, err)
	}
	wanted := side{folder: filepath.Join(cache, s.Name, name), cache: cache,
		before: cmp.Or(s.Install.Before, "2026-01-01")}
	for _, text := range slices.Concat(s.Install.Packages, own) {
		wanted.packages = append(wanted.packages, strings.ReplaceAll(text, "{version}", version))
	}
	if s.Install.Program != "" {
		wanted.program = filepath.Join(s.Folder, s.Install.Program)
	}
	files, commands := installers[s.registry()](wanted)
	if err := wanted.install(ctx, files, commands); err != nil {
		return "", fmt.Errorf("install %s: %w", s.Name, err)
	}
	return wanted.folder, nil
}

// install writes the files and runs the commands, unless an earlier run did just that.
func (s side) install(ctx context.Context, files map[string]string, commands []string) error {
	plan := fmt.Sprint(files, commands)
	if s.program != "" {
		source, err := os.ReadFile(s.program)
		if err != nil {
			return fmt.Errorf("read program: %w", err)
		}
		plan += string(source)
	}
	stamp, sum := filepath.Join(s.folder, ".plan"), fmt.Sprintf("%x\n", sha256.Sum256([]byte(plan)))
	if done, err := os.ReadFile(stamp); err == nil && string(done) == sum {
		return nil
	}
	if err := os.RemoveAll(s.folder); err != nil {
		return fmt.Errorf("clear folder: %w", err)
	}
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	for _, command := range commands {
		if err := runBuild(ctx, s.folder, command); err != nil {
			return err
		}
	}
	if err := os.WriteFile(stamp, []byte(sum), 0o644); err != nil {
		return fmt.Errorf("write stamp: %w", err)
	}
	return nil
}

// forgetName takes the pair's own folders out of the places: their names tell the package that
// changed, so that any file of the program would count as a place in it.
func (s Scenario) forgetName(suspects []Suspect, cache string) {
	folders := []string{s.Folder + string(filepath.Separator)}
	if path, err := filepath.Abs(filepath.Join(cache, s.Name)); err == nil {
		folders = append(folders, path+string(filepath.Separator))
	}
	for _, suspect := range suspects {
		for i := range suspect.Where {
			for _, folder := range folders {
				suspect.Where[i] = strings.ReplaceAll(suspect.Where[i], folder, "")
			}
		}
	}
}
