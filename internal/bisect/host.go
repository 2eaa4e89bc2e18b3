package bisect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"culprit/internal/trial"
)

// source is where candidates come from.
type source interface {
	// list puts the candidates in a line, the good end first.
	list(ctx context.Context) ([]Candidate, error)
	// identity tells caches of different searches apart.
	identity() string
	// enter gives the source a folder for what it makes.
	enter(ctx context.Context, room string) error
	// fetch makes a candidate's folder; build is the command that completes it, "" for none.
	fetch(ctx context.Context, position int) error
	build(position int) string
	folder(position int) string
	buildFolder(position int) string
	workFolder(position int) string
	// environment are the variables of builds and runs.
	environment(position int) []string
	// diff is what changed between two candidates, as a unified diff.
	diff(ctx context.Context, before, after int) (string, error)
	// read returns a file of a candidate, by its name in the diff.
	read(ctx context.Context, position int, name string) (string, error)
	discard(ctx context.Context, position int) error
}

// hostLab makes and runs candidates on this host.
type hostLab struct {
	options *Options
	source  source
	runner  *trial.Runner
	dir     string
	order   int
}

// stamp lies beside the folder of a candidate that is complete.
func (l *hostLab) stamp(position int) string { return l.source.folder(position) + ".built" }

func (l *hostLab) prepare(ctx context.Context, position int) (time.Duration, error) {
	begin := time.Now()
	err := l.make(ctx, position)
	return time.Since(begin), err
}

// skipError is why a candidate is skipped.
type skipError string

func (e skipError) Error() string        { return string(e) }
func (e skipError) Is(target error) bool { return target == errSkip }

// make builds a candidate, unless its folder is complete.
func (l *hostLab) make(ctx context.Context, position int) error {
	if _, err := os.Stat(l.stamp(position)); err == nil {
		return nil
	}
	name := l.options.Candidates[position].short()
	l.options.Progress("building " + name)
	if err := l.source.fetch(ctx, position); err != nil {
		return err
	}
	if command := l.source.build(position); command != "" {
		l.order++
		_, err := l.runner.Run(ctx, trial.Spec{Side: "build-" + name, Order: l.order, Kind: buildEvent, Command: command,
			Dir: l.source.buildFolder(position), Env: l.source.environment(position), Timeout: l.options.BuildLimit,
			CaseDir: l.dir, OutDir: "builds"})
		if err != nil {
			return l.asSkip(ctx, "build", err)
		}
	}
	if err := os.WriteFile(l.stamp(position), nil, 0o644); err != nil {
		return fmt.Errorf("mark %s as built: %w", name, err)
	}
	return nil
}

// asSkip tells a command that failed from a host on which nothing can run.
func (l *hostLab) asSkip(ctx context.Context, what string, err error) error {
	var failed *trial.FailedError
	if ctx.Err() != nil || !errors.As(err, &failed) && !errors.Is(err, trial.ErrNotPrinted) {
		return err
	}
	return skipError(what + " fails: " + strings.TrimPrefix(err.Error(), "run "))
}

// run makes one run. A folder that went since it was built, because an earlier process built it, is
// built again.
func (l *hostLab) run(ctx context.Context, position int) (map[string]float64, error) {
	if err := l.make(ctx, position); err != nil {
		return nil, err
	}
	l.order++
	spec := trial.Spec{Side: l.options.Candidates[position].short(), Order: l.order, Kind: trial.KindMeasure,
		Command: l.options.Command, Dir: l.source.workFolder(position), Env: padded(l.source.environment(position)),
		Timeout: l.options.Timeout, CaseDir: l.dir}
	if l.options.Printed != nil {
		spec.Printed = []trial.Printed{*l.options.Printed}
	}
	run, err := l.runner.Run(ctx, spec)
	if err != nil {
		return nil, l.asSkip(ctx, "command", err)
	}
	for _, name := range []string{run.Stdout, run.Stderr} {
		if err := os.Remove(filepath.Join(l.dir, name)); err != nil { // hundreds of runs print the same
			return nil, fmt.Errorf("remove output of a run: %w", err)
		}
	}
	return run.Metrics, nil
}

// padded makes the environment of each candidate as long as that of any other: a program's speed
// can hang on where its stack begins.
func padded(variables []string) []string {
	const room = 512
	length := 0
	for _, variable := range variables {
		length += len(variable)
	}
	return append(variables, "CULPRIT_PAD="+strings.Repeat("x", max(0, room-length)))
}

// short names a candidate for people.
func (c Candidate) short() string {
	if len(c.Name) == 40 && isHex(c.Name) {
		return c.Name[:12]
	}
	return c.Name
}

func isHex(text string) bool {
	return strings.Trim(text, "0123456789abcdef") == ""
}
