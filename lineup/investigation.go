package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Answer is the part of `culprit investigate --json` that is judged. It is
// spelled out here, not taken from culprit's own types, so that the lineup
// holds the program to its published contract.
type Answer struct {
	Schema  string `json:"schema"`
	Outcome string `json:"outcome"`
	Metric  struct {
		Name string `json:"name"`
	} `json:"metric"`
	Effect        *Ratio          `json:"effect"`
	Suspects      []Suspect       `json:"suspects"`
	Differs       []Difference    `json:"differs"` // nil where the answer does not say
	BlindSpots    []string        `json:"blind_spots"`
	RecordingCost *Ratio          `json:"recording_cost"`
	Host          json.RawMessage `json:"host"`
	Seed          int64           `json:"seed"`
	ElapsedS      float64         `json:"elapsed_s"`
}

// Ratio is B over A, or with the recorder over without, and its interval.
type Ratio struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Suspect is one cause that was named.
type Suspect struct {
	Cause string `json:"cause"`
	Level string `json:"level"`
	Share struct {
		Value float64 `json:"value"`
		Low   float64 `json:"low"`
		High  float64 `json:"high"`
	} `json:"share"`
	Where []string `json:"where"`
}

// answerBytesMax bounds the JSON that is read back.
const answerBytesMax = 256 << 20

// Investigator runs culprit.
type Investigator struct {
	program string
	budget  time.Duration
	prove   string
	extra   []string // further arguments of culprit investigate
	show    io.Writer
}

// Investigation is one run of culprit on one scenario.
type Investigation struct {
	Answer   Answer
	ExitCode int
	ElapsedS float64
	Report   string // path of report.html, "" when there is none
}

// investigate runs culprit on two commands. What it returns has been read from the JSON file.
func (v Investigator) investigate(ctx context.Context, scenario Scenario, commands Commands,
	folder string) (result Investigation, err error) {
	if scenario.Live != "" {
		sides, stop, err := live(ctx, scenario, commands, folder)
		if err != nil {
			return result, fmt.Errorf("start services of %s: %w", scenario.Name, err)
		}
		defer func() { err = errors.Join(err, stop()) }()
		commands = sides
	}
	caseFolder, answerFile := filepath.Join(folder, "case"), filepath.Join(folder, "answer.json")
	arguments := []string{"investigate", "--a", commands.A, "--b", commands.B, "--json", answerFile,
		"--case", caseFolder, "--budget", v.budget.String(), "--prove", v.prove}
	if scenario.Load != "" && scenario.Live == "" {
		arguments = append(arguments, "--load", commands.Load)
	}
	if scenario.Metric != "" {
		arguments = append(arguments, "--metric", scenario.Metric)
	}
	arguments = append(arguments, v.extra...)
	// The budget bounds the trials; starting, symbols and the report come on top.
	ctx, cancel := context.WithTimeout(ctx, 2*v.budget+time.Minute)
	defer cancel()
	culprit := exec.CommandContext(ctx, v.program, arguments...)
	culprit.Dir = folder
	culprit.Cancel = func() error { return culprit.Process.Signal(syscall.SIGTERM) }
	culprit.WaitDelay = 10 * time.Second
	var said tail
	culprit.Stdout, culprit.Stderr = io.Discard, &said
	if v.show != nil {
		// The same writer twice, undecorated: a terminal stays one for culprit, which then shows
		// its progress.
		culprit.Stdout, culprit.Stderr = v.show, v.show
	}
	start := time.Now()
	err = culprit.Run()
	result = Investigation{ExitCode: culprit.ProcessState.ExitCode(), ElapsedS: time.Since(start).Seconds()}
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || result.ExitCode != 1) {
		return result, fmt.Errorf("run culprit on %s: %w: %s", scenario.Name, err, lastLines(said.String(), 3))
	}
	if result.Answer, err = readAnswer(answerFile); err != nil {
		return result, fmt.Errorf("read answer on %s: %w", scenario.Name, err)
	}
	if report := filepath.Join(caseFolder, "report.html"); fileExists(report) {
		result.Report = report
	}
	return result, nil
}

func readAnswer(path string) (Answer, error) {
	file, err := os.Open(path)
	if err != nil {
		return Answer{}, err
	}
	defer file.Close()
	var answer Answer
	if err := json.NewDecoder(io.LimitReader(file, answerBytesMax)).Decode(&answer); err != nil {
		return Answer{}, fmt.Errorf("parse %s: %w", path, err)
	}
	if !strings.HasPrefix(answer.Schema, "culprit.case/") {
		return Answer{}, fmt.Errorf("%s: schema is %q, want culprit.case/…", path, answer.Schema)
	}
	return answer, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// tail keeps the last few kilobytes written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	const limit = 8 << 10
	t.kept = append(t.kept, p...)
	if len(t.kept) > limit {
		t.kept = append([]byte(nil), t.kept[len(t.kept)-limit:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }
