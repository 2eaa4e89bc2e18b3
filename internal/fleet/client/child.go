package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"culprit/internal/fleet/ask"
)

// askChild asks a directory by a child.
func (w Where) askChild(ctx context.Context, question []byte, tell func(string)) (*ask.Answer, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	arguments, environment := []string{"ask", "--lines"}, os.Environ()
	if w.isCluster() { // its password is for no list of processes
		environment = append(environment, "CULPRIT_HUB_DSN="+w.Store)
	} else {
		arguments = append(arguments, "--store="+w.Store)
	}
	if w.Tenant != "" {
		arguments = append(arguments, "--tenant="+w.Tenant)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, path, arguments...)
	command.Stdin, command.Env = bytes.NewReader(question), environment
	var failure bytes.Buffer
	command.Stderr = &failure
	command.WaitDelay = time.Second // what it started may hold its output
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	answer, broken := readLines(w.bounded(out), tell)
	ended := ctx.Err()
	if broken != nil {
		cancel() // it may have more to say than anybody reads
	}
	err = command.Wait()
	lines := strings.Split(strings.TrimSpace(failure.String()), "\n")
	last := strings.TrimPrefix(lines[len(lines)-1], program+": ")
	switch {
	case ended != nil:
		return nil, fmt.Errorf("run %s: %w", path, ended)
	case broken == nil && err == nil:
		return answer, nil
	case last != "":
		return nil, errors.New(last)
	}
	return nil, fmt.Errorf("run %s: %w", path, cmp.Or(broken, err))
}

// find looks beside culprit first: both come in one package.
func find() (string, error) {
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), program)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%s is needed for --store, and is neither beside culprit nor in PATH: 'make hub' builds it",
			program)
	}
	return path, nil
}
