package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"culprit/internal/serve/child"
)

type recordAsked struct {
	Command string  `json:"command,omitempty" jsonschema:"a shell command to run and record; or give pid"`
	Pid     int     `json:"pid,omitempty" jsonschema:"a running process, with its children"`
	Seconds float64 `json:"seconds,omitempty" jsonschema:"how long at most; 10 where it is not given"`
}

func (s *server) record(ctx context.Context, _ *sdk.CallToolRequest, asked recordAsked) (*sdk.CallToolResult, any,
	error) {
	if asked.Seconds == 0 {
		asked.Seconds = 10
	}
	switch {
	case (asked.Command == "") == (asked.Pid == 0):
		return nil, nil, errors.New("give one of command and pid")
	case asked.Pid < 0 || len(asked.Command) > commandMax || strings.ContainsRune(asked.Command, 0):
		return nil, nil, errors.New("that is no command and no process")
	case !(asked.Seconds >= 0.1) || asked.Seconds > recordMax.Seconds():
		return nil, nil, fmt.Errorf("seconds: give 0.1 to %g", recordMax.Seconds())
	}
	name := "assistant-" + time.Now().Format("20060102-150405.000") + ".culprit"
	args := []string{"record", "-o", name, fmt.Sprintf("--duration=%gs", asked.Seconds)}
	if asked.Pid != 0 {
		args = append(args, fmt.Sprintf("--pid=%d", asked.Pid))
	} else {
		args = append(args, "--", "sh", "-c", asked.Command)
	}
	err := s.act(ctx, args, time.Duration(asked.Seconds*float64(time.Second))+time.Minute)
	if _, missing := s.root.Lstat(name); err != nil && missing != nil {
		return nil, nil, err
	}
	return s.read(ctx, []string{"explain"}, "./"+name) // a command that failed was recorded all the same
}

type investigateAsked struct {
	A      string  `json:"a" jsonschema:"the shell command that is good"`
	B      string  `json:"b" jsonschema:"the shell command that is suspected"`
	Budget float64 `json:"budget_s,omitempty" jsonschema:"seconds for the whole investigation; 60 where it is not given"`
}

func (s *server) investigate(ctx context.Context, _ *sdk.CallToolRequest, asked investigateAsked) (*sdk.CallToolResult,
	any, error) {
	if asked.Budget == 0 {
		asked.Budget = 60
	}
	switch {
	case strings.TrimSpace(asked.A) == "" || strings.TrimSpace(asked.B) == "":
		return nil, nil, errors.New("give two commands, a and b")
	case len(asked.A)+len(asked.B) > commandMax:
		return nil, nil, errors.New("these commands are too long; put them into scripts")
	case !(asked.Budget >= 5) || asked.Budget > budgetMax.Seconds():
		return nil, nil, fmt.Errorf("budget_s: give 5 to %g", budgetMax.Seconds())
	}
	name := "assistant-" + time.Now().Format("20060102-150405")
	args := []string{"investigate", "--prove=none", "--case=" + name, fmt.Sprintf("--budget=%gs", asked.Budget),
		"--a=" + asked.A, "--b=" + asked.B}
	if err := s.act(ctx, args, time.Duration(asked.Budget*float64(time.Second))+time.Minute); err != nil {
		return nil, nil, err
	}
	return s.read(ctx, []string{"explain"}, "./"+name)
}

// act runs a child that measures, one at a time: two would disturb each other.
func (s *server) act(ctx context.Context, args []string, limit time.Duration) error {
	select {
	case s.acting <- struct{}{}:
		defer func() { <-s.acting }()
	default:
		return errors.New("something is being measured already; ask again when it is done")
	}
	ctx, end := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	defer end()
	err := child.Child{Program: s.options.Program, Args: args, Dir: s.options.Dir}.Run(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}
