package bisect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/investigate"
	"culprit/internal/shell"
)

// Inside is what an investigation of a culprit against the candidate before it found.
type Inside struct {
	Case     string              `json:"case"` // directory
	Outcome  investigate.Outcome `json:"outcome"`
	Effect   *cause.Effect       `json:"effect,omitempty"`
	Suspects []cause.Suspect     `json:"suspects"`
	Why      string              `json:"why,omitempty"` // there is none
}

// explain investigates the largest culprits, and looks up what their changes did to the functions
// that grew.
func (s *state) explain(ctx context.Context) error {
	for i := range s.result.Culprits {
		c := &s.result.Culprits[i]
		if s.options.Investigate {
			if err := s.inside(ctx, i, c); err != nil {
				return err
			}
		}
		if len(c.Among) > 0 {
			continue // the change of several is no one's
		}
		if err := s.touched(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) inside(ctx context.Context, number int, c *Culprit) error {
	dir := filepath.Join(s.options.Case, fmt.Sprintf("culprit-%d", number+1))
	// Of an earlier process that was killed meanwhile: it is made anew.
	for _, left := range []string{dir, dir + ".partial"} {
		if err := os.RemoveAll(left); err != nil {
			return fmt.Errorf("clear %s: %w", left, err)
		}
	}
	for _, position := range []int{c.Before, c.Position} {
		if err := s.lab.make(ctx, position); err != nil {
			return err
		}
	}
	// The verdict is made already: what is left to do is to say where.
	metric, err := investigate.ParseMetric(s.options.MetricText)
	if err != nil {
		return err
	}
	if metric.Auto {
		metric = investigate.MetricChoice{Name: s.result.Metric.Name}
	}
	s.options.Progress("investigating " + s.options.Candidates[c.Position].short())
	found, err := investigate.Run(ctx, investigate.Options{A: s.sideCommand(c.Before), B: s.sideCommand(c.Position),
		Budget: investigate.UsualBudget, MayGrow: true, Timeout: s.options.Timeout, Metric: metric,
		Smallest: s.options.Smallest, Case: dir, Seed: s.options.Seed, Prove: investigate.ProveNone,
		Program: s.options.Program, Progress: s.options.Progress, Write: s.options.Write})
	c.Inside = &Inside{Case: dir, Suspects: []cause.Suspect{}}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.Inside.Why = err.Error()
		return nil
	}
	c.Inside.Outcome, c.Inside.Effect, c.Inside.Suspects = found.Outcome, found.Effect, found.Suspects
	return nil
}

// sideCommand is the command on one candidate, as a shell command of its own.
func (s *state) sideCommand(position int) string {
	var text strings.Builder
	text.WriteString("cd " + shell.Quote(s.source.workFolder(position)) + " && ")
	for _, variable := range s.source.environment(position) {
		name, value, _ := strings.Cut(variable, "=")
		text.WriteString("export " + name + "=" + shell.Quote(value) + " && ")
	}
	text.WriteString(s.options.Command)
	return text.String()
}
