package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"culprit/cases/child"
)

// Two processes of one program do the same work. Their threads' words lie on the main thread's
// stack, which the kernel puts somewhere else each time: in one of two they share a cache line.
// Each process prints which it is, for the pair to be found; culprit is told nothing of it.

const (
	tally     = "lineup/line-luck-c/tally.c"
	mostTries = 40
	together  = "together"
	apart     = "apart"
)

// process is one of the program's.
type process struct {
	command *exec.Cmd
	layout  string
}

func (p *process) end() {
	_ = p.command.Process.Kill()
	_ = p.command.Wait() // it was killed
}

// luck compares a process whose words share a line with one whose words do not, and two whose words
// do not.
func (s *subtype) luck(ctx context.Context) error {
	program := filepath.Join(s.folder, "tally")
	build := child.Command(ctx, "gcc", "-O2", "-g", "-o", program, tally, "-lpthread")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build tally: %w: %s", err, text)
	}
	fmt.Fprintf(s.out, "\nTwo processes of one program, laid out otherwise: words of threads %s in A, %s in B\n\n", apart,
		together)
	told, err := s.pair(ctx, program, together, "luck")
	wrong := []error{err}
	if err == nil && !told.isLuck() {
		wrong = append(wrong, fmt.Errorf("the line and the layout are not told: %+v", told))
	}
	fmt.Fprintf(s.out, "\nThe near miss: words %s in both\n\n", apart)
	told, err = s.pair(ctx, program, apart, "alike")
	if wrong = append(wrong, err); err == nil && told.line() {
		wrong = append(wrong, fmt.Errorf("a line is told of processes that share none: %+v", told))
	}
	return errors.Join(wrong...)
}

// verdict is what is read of a case.
type verdict struct {
	Outcome  string `json:"outcome"`
	Suspects []struct {
		Cause string `json:"cause"`
		Claim string `json:"claim"`
	} `json:"suspects"`
}

func (v *verdict) isLuck() bool {
	return v.Outcome == "worse" && len(v.Suspects) > 0 && v.Suspects[0].Cause == "line.false-sharing" &&
		strings.Contains(v.Suspects[0].Claim, "the same program")
}

func (v *verdict) line() bool {
	for _, one := range v.Suspects {
		if strings.HasPrefix(one.Cause, "line.") {
			return true
		}
	}
	return false
}

// pair investigates two live processes: A with its words apart, B as told.
func (s *subtype) pair(ctx context.Context, program, layout, name string) (told verdict, err error) {
	var kept []*process
	defer func() {
		for _, one := range kept {
			one.end()
		}
	}()
	for _, wanted := range []string{apart, layout} {
		one, err := s.find(ctx, program, wanted, kept)
		if err != nil {
			return told, err
		}
		kept = append(kept, one)
	}
	pid := func(i int) string { return fmt.Sprintf("pid:%d", kept[i].command.Process.Pid) }
	file := filepath.Join(s.folder, name+".json")
	investigate := child.Command(ctx, s.culprit, "investigate", "--a", pid(0), "--b", pid(1), "--metric", "cpu",
		"--confirm", "--prove", "none", "--budget", "1m", "--case", filepath.Join(s.folder, name), "--json", file)
	investigate.Dir, investigate.Stdout, investigate.Stderr = s.folder, s.out, os.Stderr
	if err := investigate.Run(); err != nil && investigate.ProcessState.ExitCode() != 1 {
		return told, fmt.Errorf("investigate: %w", err)
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &told)
	}
	return told, err
}

// find starts processes until one has the layout, and works while the others of the pair rest.
func (s *subtype) find(ctx context.Context, program, wanted string, others []*process) (*process, error) {
	for range mostTries {
		// Ahead of others in the queue: the two threads are to run at the same time.
		one := &process{command: child.Command(ctx, "nice", "-n", "-20", program, "-1500000", "1", "atomic")}
		out, err := one.command.StdoutPipe()
		if err == nil {
			err = one.command.Start()
		}
		if err != nil {
			return nil, fmt.Errorf("start tally: %w", err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		one.layout = strings.TrimSpace(line)
		if err == nil && one.layout == wanted && (len(others) == 0 || one.turn() != others[0].turn()) {
			return one, nil
		}
		one.end()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, fmt.Errorf("no process of %d had its words %s", mostTries, wanted)
}

// turn is when a process has its turns: of two with different ones never both.
func (p *process) turn() int { return p.command.Process.Pid % 2 }
