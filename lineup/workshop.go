package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// buildTimeout bounds one build command; a cold Go or Rust build takes a few seconds.
const buildTimeout = 3 * time.Minute

// Workshop is the folder in which one scenario is built and run. When it
// renames, sources and programs get random names and each side's command hides
// in a script, so that nothing that culprit sees of a command tells the truth.
type Workshop struct {
	folder   string
	renames  bool
	names    map[string]string // placeholder → path
	programs map[string]string // interpreter placeholder → path
	packages string            // folder below which the releases that are compared are installed
}

// Commands are the two sides' shell commands, ready to run.
type Commands struct{ A, B, Load, Monitor string }

// copiesFolder takes the renamed sources; its name keeps `go vet ./...` out of it.
const copiesFolder = "_"

var placeholder = regexp.MustCompile(`\{(?:(source|built|installed):([A-Za-z0-9._-]+)|([a-z]+))\}`)

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// newWorkshop makes an empty folder below out: named as the scenario, or at random.
func newWorkshop(o Options, scenario Scenario, programs map[string]string) (*Workshop, error) {
	name := scenario.Name
	if o.renames {
		name = randomName()
	}
	folder, err := filepath.Abs(filepath.Join(o.out, name))
	if err != nil {
		return nil, fmt.Errorf("find folder %s: %w", o.out, err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return nil, fmt.Errorf("clear folder: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	return &Workshop{folder: folder, renames: o.renames, names: map[string]string{}, programs: programs,
		packages: o.packages}, nil
}

// prepare runs the scenario's build commands and returns the commands of both sides.
func (w *Workshop) prepare(ctx context.Context, scenario Scenario) (Commands, error) {
	for _, name := range scenario.sides() {
		path, err := scenario.installed(ctx, w.packages, name)
		if err != nil {
			return Commands{}, err
		}
		w.names["{installed:"+name+"}"] = path
	}
	for _, command := range scenario.Build {
		expanded, err := w.expand(scenario, command)
		if err != nil {
			return Commands{}, err
		}
		if err := runBuild(ctx, w.folder, expanded); err != nil {
			return Commands{}, fmt.Errorf("build %s: %w", scenario.Name, err)
		}
	}
	a, err := w.expand(scenario, scenario.A)
	if err != nil {
		return Commands{}, err
	}
	b, err := w.expand(scenario, scenario.B)
	if err != nil {
		return Commands{}, err
	}
	load, err := w.expand(scenario, scenario.Load)
	if err != nil {
		return Commands{}, err
	}
	monitor, err := w.expand(scenario, scenario.Monitor)
	if err != nil || !w.renames {
		return Commands{A: a, B: b, Load: load, Monitor: monitor}, err
	}
	// The same command must stay the same on both sides.
	scriptA, err := w.script(a)
	if err != nil || a == b {
		return Commands{A: scriptA, B: scriptA, Load: load, Monitor: monitor}, err
	}
	scriptB, err := w.script(b)
	return Commands{A: scriptA, B: scriptB, Load: load, Monitor: monitor}, err
}

// cleanUp runs the scenario's cleanup commands, all of them, and returns the first error.
func (w *Workshop) cleanUp(ctx context.Context, scenario Scenario) error {
	var failed error
	for _, command := range scenario.Cleanup {
		expanded, err := w.expand(scenario, command)
		if err == nil {
			err = runBuild(ctx, w.folder, expanded)
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("clean up after %s: %w", scenario.Name, err)
		}
	}
	return failed
}

// packageTimeout bounds the installation of a scenario's packages.
const packageTimeout = 5 * time.Minute

// installPackages asks Debian's package manager for what a scenario needs; scenarios start their
// servers themselves.
func installPackages(ctx context.Context, packages []string) error {
	ctx, cancel := context.WithTimeout(ctx, packageTimeout)
	defer cancel()
	install := exec.CommandContext(ctx, "apt-get", append([]string{"install", "-y", "--no-install-recommends"},
		packages...)...)
	install.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
	if output, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("install %s: %w: %s", strings.Join(packages, " "), err, lastLines(string(output), 2))
	}
	return nil
}

// expand replaces the placeholders of a command by quoted paths.
func (w *Workshop) expand(scenario Scenario, command string) (string, error) {
	var failed error
	expanded := placeholder.ReplaceAllStringFunc(command, func(text string) string {
		if text == portWord || text == pidWord {
			return text // each start of a server has another one
		}
		path, err := w.resolve(scenario, placeholder.FindStringSubmatch(text))
		if err != nil && failed == nil {
			failed = fmt.Errorf("expand %s of %s: %w", text, scenario.Name, err)
		}
		return quote(path)
	})
	return expanded, failed
}

func (w *Workshop) resolve(scenario Scenario, match []string) (string, error) {
	text, kind, name := match[0], match[1], match[2]
	if kind == "" {
		if match[3] == "group" {
			return groupName(), nil
		}
		path := w.programs[match[3]]
		if path == "" {
			return "", fmt.Errorf("not installed, or no placeholder: use {source:FILE}, {built:NAME}, {group}, %s",
				"{python}, {java}, {node}, {ruby} or {php}")
		}
		return path, nil
	}
	if path, known := w.names[text]; known {
		return path, nil
	}
	if kind == "installed" {
		return "", errors.New("nothing is installed there: install names the packages, sides are a and b")
	}
	path := filepath.Join(scenario.Folder, name)
	if kind == "built" {
		path = filepath.Join(w.folder, name)
		if w.renames {
			path = filepath.Join(w.folder, randomName())
		}
	} else if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find source: %w", err)
	} else if w.renames {
		copied := filepath.Join(w.folder, copiesFolder, randomName()+filepath.Ext(name))
		if err := copyFile(copied, path); err != nil {
			return "", err
		}
		path = copied
	}
	w.names[text] = path
	return path, nil
}

// script writes a shell script with a random name that becomes the command.
func (w *Workshop) script(command string) (string, error) {
	path := filepath.Join(w.folder, randomName())
	if assignment.MatchString(command) {
		command = "env " + command // exec takes no assignments
	}
	body, argument := "exec "+command, ""
	if strings.Contains(command, portWord) {
		hidden := path + ".text"
		if err := os.WriteFile(hidden, []byte("exec "+command+"\n"), 0o644); err != nil {
			return "", fmt.Errorf("write script: %w", err)
		}
		body = fmt.Sprintf(`exec sh -c "$(sed "s/%s/$1/g" %s)"`, portWord, quote(hidden))
		argument = " " + portWord
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		return "", fmt.Errorf("write script: %w", err)
	}
	return quote(path) + argument, nil
}

func runBuild(ctx context.Context, folder, command string) error {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	build := exec.CommandContext(ctx, "sh", "-c", command)
	build.Dir = folder
	build.WaitDelay = time.Second // a server that a command left behind holds its output open
	output, err := build.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", command, err, lastLines(string(output), 5))
	}
	return nil
}

// findPrograms resolves the interpreters to their own paths: a shim such as
// pyenv's is a shell script that would start processes of its own in each trial.
func findPrograms(ctx context.Context) map[string]string {
	programs := map[string]string{}
	for name, program := range interpreters {
		path, err := exec.LookPath(program)
		if err != nil {
			continue
		}
		if name == "python" {
			output, err := exec.CommandContext(ctx, path, "-c", "import sys; print(sys.executable)").Output()
			if err == nil && strings.TrimSpace(string(output)) != "" {
				path = strings.TrimSpace(string(output))
			}
		}
		programs[name] = path
	}
	return programs
}

func isInstalled(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func copyFile(target, source string) error {
	content, err := os.ReadFile(source)
	if err != nil {
		return fmt.Errorf("copy source: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("copy source: %w", err)
	}
	if err := os.WriteFile(target, content, 0o644); err != nil {
		return fmt.Errorf("copy source: %w", err)
	}
	return nil
}

// randomName is eight letters that mean nothing: consonants, which make no word by chance either.
func randomName() string {
	const consonants = "bcdfghjklmnpqrstvwxz"
	letters := make([]byte, 8)
	for i := range letters {
		letters[i] = consonants[rand.IntN(len(consonants))]
	}
	return string(letters)
}

// quote makes a path one word of a shell command; plain paths stay readable.
func quote(path string) string {
	for _, c := range path {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !plain && !strings.ContainsRune("/._-+,:", c) {
			return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
		}
	}
	return path
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], " | ")
}
