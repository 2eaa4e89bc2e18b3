package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"culprit/internal/corpus"

	"go.yaml.in/yaml/v3"
)

// scenarioFile is the file that makes a folder of the lineup a scenario.
const scenarioFile = "scenario.yaml"

// scenarioBytesMax bounds what is read of one scenario file.
const scenarioBytesMax = 64 << 10

// Scenario is two commands and the truth about them.
type Scenario struct {
	Name     string   `yaml:"-"` // its folder's name
	Folder   string   `yaml:"-"` // absolute
	Title    string   `yaml:"title"`
	Family   string   `yaml:"family"`
	Language string   `yaml:"language"`
	Needs    string   `yaml:"needs"`    // a tool that may be missing: then it is left out and no miss
	Packages []string `yaml:"packages"` // Debian packages that bring Needs: installed on demand
	Build    []string `yaml:"build"`    // shell commands
	Cleanup  []string `yaml:"cleanup"`  // shell commands that are run after the investigation, whatever came of it
	A        string   `yaml:"a"`
	B        string   `yaml:"b"`
	Load     string   `yaml:"load"`    // A and B are servers: this is put on them
	Live     string   `yaml:"live"`    // they run before the investigation, and are named by pid, port or cgroup
	Monitor  string   `yaml:"monitor"` // what watches live side B, by {pid}, or both where Both says so
	Both     bool     `yaml:"both"`
	Metric   string   `yaml:"metric"` // passed on as --metric; "" leaves the choice to culprit
	Truth    Truth    `yaml:"truth"`
	Notes    string   `yaml:"notes"`
	Release  `yaml:",inline"`
}

// Truth is what was planted.
type Truth = corpus.Truth

// interpreters are the programs that scenarios may name in braces.
var interpreters = map[string]string{"python": "python3", "java": "java", "node": "node", "ruby": "ruby", "php": "php"}

// compilers are what a language's build commands call.
var compilers = map[string]string{"C": "gcc", "C++": "g++", "Go": "go", "Java": "javac", "Rust": "rustc"}

// loadScenarios reads the scenarios below root whose names match the pattern, in order of name.
func loadScenarios(root, pattern string) ([]Scenario, error) {
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("parse -run %q: %w", pattern, err)
	}
	files, err := filepath.Glob(filepath.Join(root, "*", scenarioFile))
	if err != nil {
		return nil, fmt.Errorf("list scenarios: %w", err)
	}
	slices.Sort(files)
	var scenarios []Scenario
	for _, file := range files {
		if !wanted.MatchString(filepath.Base(filepath.Dir(file))) {
			continue
		}
		scenario, err := loadScenario(file)
		if err != nil {
			return nil, err
		}
		scenarios = append(scenarios, scenario)
	}
	if len(scenarios) == 0 {
		return nil, fmt.Errorf("no scenario below %s matches -run %q: their names are those of the folders there",
			root, pattern)
	}
	return scenarios, nil
}

func loadScenario(path string) (Scenario, error) {
	file, err := os.Open(path)
	if err != nil {
		return Scenario{}, fmt.Errorf("open scenario: %w", err)
	}
	defer file.Close()
	scenario, err := parseScenario(file)
	if err != nil {
		return Scenario{}, fmt.Errorf("read scenario %s: %w", path, err)
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return Scenario{}, fmt.Errorf("find scenario %s: %w", path, err)
	}
	scenario.Folder, scenario.Name = folder, filepath.Base(folder)
	return scenario, nil
}

func parseScenario(r io.Reader) (Scenario, error) {
	var scenario Scenario
	decoder := yaml.NewDecoder(io.LimitReader(r, scenarioBytesMax))
	decoder.KnownFields(true)
	if err := decoder.Decode(&scenario); err != nil {
		return Scenario{}, fmt.Errorf("parse yaml: %w", err)
	}
	return scenario, scenario.check()
}

func (s Scenario) check() error {
	if s.Title == "" || s.Family == "" || s.Language == "" || s.A == "" || s.B == "" {
		return errors.New("title, family, language, a and b must all be given")
	}
	if !slices.Contains([]string{"", livePid, livePort, liveCgroup}, s.Live) || s.Live != "" && s.Load == "" {
		return fmt.Errorf("live %q: give pid, port or cgroup, and a load", s.Live)
	}
	if s.Monitor != "" && (s.Live == "" || !strings.Contains(s.Monitor, pidWord)) || s.Both && s.Monitor == "" {
		return fmt.Errorf("monitor %q: it watches services that are live, and has %s in it", s.Monitor, pidWord)
	}
	switch s.Truth.Outcome {
	case "worse":
		if len(s.Truth.Causes) == 0 || s.Truth.Place == "" {
			return errors.New("truth: worse needs causes and place")
		}
	case "same":
		if len(s.Truth.Causes) != 0 || s.Truth.Place != "" {
			return errors.New("truth: same has neither causes nor place")
		}
		if s.A != s.B && !s.isUpgrade() {
			return errors.New("truth: same needs the same command on both sides, or two releases of one package")
		}
	default:
		return fmt.Errorf("truth: outcome %q must be worse or same", s.Truth.Outcome)
	}
	if _, err := regexp.Compile(s.Truth.Place); err != nil {
		return fmt.Errorf("truth: place: %w", err)
	}
	return s.Release.check()
}

// missingTool names the first program that the scenario needs and that is not installed.
func (s Scenario) missingTool(installed func(program string) bool) string {
	programs := []string{compilers[s.Language], s.Needs}
	for placeholder, program := range interpreters {
		if strings.Contains(s.A+s.B+s.Load, "{"+placeholder+"}") {
			programs = append(programs, program)
		}
	}
	slices.Sort(programs)
	for _, program := range programs {
		if program != "" && !installed(program) {
			return program
		}
	}
	return ""
}
