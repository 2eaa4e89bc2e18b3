package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"
)

// tailRoot is where the services lie of which some requests are slow.
const tailRoot = "lineup/tail"

// tailScenario is a service, a load on it, and why some of its requests are slow.
type tailScenario struct {
	Title    string    `yaml:"title"`
	Language string    `yaml:"language"`
	Needs    string    `yaml:"needs"`
	Build    []string  `yaml:"build"`
	Cleanup  []string  `yaml:"cleanup"`
	Serve    string    `yaml:"serve"` // with {port}; {other} is a second free port
	Watch    string    `yaml:"watch"` // what culprit tail is given; "" is the service's process
	Load     tailLoad  `yaml:"load"`
	Truth    tailTruth `yaml:"truth"`
	Notes    string    `yaml:"notes"`
}

// tailTruth is what was planted.
type tailTruth struct {
	Causes []string `yaml:"causes"`
	Place  string   `yaml:"place"`
	Flat   bool     `yaml:"flat"` // nothing: there is to be no suspect
}

// starved is the cause of requests that waited for a CPU which others had.
const starved = "cpu.starved"

// tailAnswer is what of culprit's answer is judged.
type tailAnswer struct {
	Schema   string `json:"schema"`
	Suspects []struct {
		Cause string   `json:"cause"`
		Where []string `json:"where"`
		Share struct {
			Value, Low, High float64
		} `json:"share"`
	} `json:"suspects"`
	Why string `json:"why"`
}

// tails judges culprit tail on all scenarios below tailRoot whose names match.
func (o Options) tails(ctx context.Context, stdout io.Writer) (int, error) {
	wanted, err := regexp.Compile(o.run)
	if err != nil {
		return exitError, fmt.Errorf("parse -run %q: %w", o.run, err)
	}
	files, err := filepath.Glob(filepath.Join(tailRoot, "*", scenarioFile))
	if err != nil || len(files) == 0 {
		return exitError, fmt.Errorf("no scenario below %s (%v)", tailRoot, err)
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		return !wanted.MatchString(filepath.Base(filepath.Dir(file)))
	})
	if o.list {
		return exitRight, listTails(stdout, files)
	}
	right, placed, judged, failed := 0, 0, 0, 0
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		verdict, err := o.tailOne(ctx, name, file)
		switch {
		case errors.Is(err, errLeftOut):
			fmt.Fprintf(stdout, "%-26s left out: %v\n", name, err)
			continue
		case ctx.Err() != nil:
			return exitError, fmt.Errorf("%s: %w", name, err)
		case err != nil:
			fmt.Fprintf(stdout, "%-26s failed: %v\n", name, err)
			failed++
			continue
		}
		fmt.Fprintf(stdout, "%-26s %s\n", name, verdict)
		if verdict.busy {
			continue
		}
		judged++
		if verdict.right {
			right++
		}
		if verdict.placed {
			placed++
		}
	}
	fmt.Fprintf(stdout, "%d of %d right, %d with the place\n", right, judged, placed)
	switch {
	case failed > 0:
		return exitError, fmt.Errorf("%d could not be judged", failed)
	case right < judged:
		return exitMissed, nil
	}
	return exitRight, nil
}

func readTail(file string) (s tailScenario, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return s, fmt.Errorf("read scenario: %w", err)
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&s); err != nil {
		return s, fmt.Errorf("read %s: %w", file, err)
	}
	return s, nil
}

// listTails lists the services with what is planted in them.
func listTails(w io.Writer, files []string) error {
	for _, file := range files {
		s, err := readTail(file)
		if err != nil {
			return err
		}
		truth := "nothing"
		if !s.Truth.Flat {
			truth = strings.Join(s.Truth.Causes, " or ") + " at " + s.Truth.Place
		}
		name := filepath.Base(filepath.Dir(file))
		if _, err := fmt.Fprintf(w, "%-26s %s\n%-26s   truth: %s\n", name, s.Title, "", truth); err != nil {
			return fmt.Errorf("write list: %w", err)
		}
	}
	return nil
}

var errLeftOut = errors.New("not installed")

// tailVerdict is how an answer stands to the truth.
type tailVerdict struct {
	right, placed bool
	busy          bool // others had the CPU: nothing can be said of a flat tail on such a host
	said          string
}

// String is one line of the board.
func (v tailVerdict) String() string {
	word := "MISSED"
	switch {
	case v.busy:
		word = "host too busy"
	case v.right && !v.placed:
		word = "right, not its place"
	case v.right:
		word = "right"
	}
	return fmt.Sprintf("%-20s %s", word, v.said)
}

func (o Options) tailOne(ctx context.Context, name, file string) (tailVerdict, error) {
	s, err := readTail(file)
	if err != nil {
		return tailVerdict{}, err
	}
	if s.Needs != "" && !isInstalled(s.Needs) {
		return tailVerdict{}, fmt.Errorf("%w: %s", errLeftOut, s.Needs)
	}
	folder, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return tailVerdict{}, fmt.Errorf("find folder of %s: %w", file, err)
	}
	ports, err := freePorts(2)
	if err != nil {
		return tailVerdict{}, err
	}
	programs := maps.Clone(findPrograms(ctx))
	programs["other"] = strconv.Itoa(ports[1])
	scenario := Scenario{Name: name, Folder: folder, Build: s.Build, A: s.Serve, B: s.Serve, Cleanup: s.Cleanup}
	workshop, err := newWorkshop(o, scenario, programs)
	if err != nil {
		return tailVerdict{}, err
	}
	commands, err := workshop.prepare(ctx, scenario)
	if err != nil {
		return tailVerdict{}, err
	}
	serve := strings.ReplaceAll(commands.A, portWord, strconv.Itoa(ports[0]))
	answer, err := o.watchService(ctx, &s, serve, ports, workshop.folder)
	if err := errors.Join(err, workshop.cleanUp(ctx, scenario)); err != nil {
		return tailVerdict{}, err
	}
	place := strings.ReplaceAll(s.Truth.Place, "{other}", strconv.Itoa(ports[1]))
	return s.Truth.judge(answer, place)
}

// judge holds an answer to the truth.
func (t *tailTruth) judge(answer *tailAnswer, place string) (verdict tailVerdict, err error) {
	if len(answer.Suspects) == 0 {
		return tailVerdict{right: t.Flat, placed: t.Flat, said: "no suspect: " + answer.Why}, nil
	}
	first := answer.Suspects[0]
	verdict.said = fmt.Sprintf("%s %.0f %% (%.0f to %.0f) %s", first.Cause, 100*first.Share.Value,
		100*first.Share.Low, 100*first.Share.High, strings.Join(first.Where, " | "))
	verdict.right = slices.Contains(t.Causes, first.Cause)
	verdict.busy = t.Flat && first.Cause == starved
	where, err := regexp.Compile(place)
	if err != nil {
		return verdict, fmt.Errorf("parse place %q: %w", place, err)
	}
	verdict.placed = verdict.right && where.MatchString(strings.Join(first.Where, "\n"))
	return verdict, nil
}

// watchService runs the service under its load while culprit tail watches it.
func (o Options) watchService(ctx context.Context, s *tailScenario, serve string, ports []int,
	folder string) (*tailAnswer, error) {
	server := exec.CommandContext(ctx, "sh", "-c", "exec "+serve)
	server.Dir = folder
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start the service: %w", err)
	}
	defer func() {
		_ = syscall.Kill(-server.Process.Pid, syscall.SIGTERM) // the group may have ended
		time.AfterFunc(3*time.Second, func() { _ = syscall.Kill(-server.Process.Pid, syscall.SIGKILL) })
		_ = server.Wait() // it was killed
	}()
	if err := awaitPort(ctx, ports[0]); err != nil {
		return nil, err
	}
	load, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- s.Load.run(load, ports[0], folder) }()
	watch := "pid:" + strconv.Itoa(server.Process.Pid)
	if s.Watch != "" {
		watch = strings.NewReplacer("{port}", strconv.Itoa(ports[0]), "{other}", strconv.Itoa(ports[1])).Replace(s.Watch)
	}
	document := filepath.Join(folder, "tail.json")
	words := []string{"tail", watch, "-d", o.budget.String(), "--json", document}
	tail := exec.CommandContext(ctx, o.program, append(words, strings.Fields(o.extra)...)...)
	output, err := tail.CombinedOutput()
	if o.show {
		os.Stdout.Write(output)
	}
	if err != nil {
		return nil, fmt.Errorf("culprit tail: %w: %s", err, lastLines(string(output), 3))
	}
	stop()
	if err := <-done; err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	answer := &tailAnswer{}
	if err := json.Unmarshal(text, answer); err != nil || answer.Schema != "culprit.tail/1" {
		return nil, fmt.Errorf("read the answer: schema %q (%v)", answer.Schema, err)
	}
	return answer, nil
}

// freePorts are some that nobody listens at.
func freePorts(count int) (ports []int, err error) {
	for range count {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
