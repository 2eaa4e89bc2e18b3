package ci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"culprit/internal/investigate"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// Options are what a check is to do: an investigation of A and B, and what fails.
type Options struct {
	investigate.Options
	FailOver float64
	Dir      string // to make: holds the cases
}

// The folders of a check.
const (
	noiseFolder = "noise"
	caseFolder  = "case"
)

// Parts of the budget: A against itself, and what of the rest goes into pairs of A and B.
const (
	noisePart = 1.0 / 3
	pairsPart = 0.7
)

// Check refuses what makes no sense before anything runs.
func (o *Options) Check() error {
	if !(o.FailOver >= 0.001) || o.FailOver > 0.5 {
		return fmt.Errorf("--fail-over %g %%: give a part from 0.1%% to 50%%", 100*o.FailOver)
	}
	if _, err := os.Lstat(o.Dir); err == nil {
		return fmt.Errorf("%s exists; give another directory with --case", o.Dir)
	}
	return nil
}

// Compare runs A against itself, and where that shows that the host can tell, A against B.
func Compare(ctx context.Context, o Options) (*Result, error) {
	if err := o.makeDir(); err != nil {
		return nil, err
	}
	began := time.Now()
	o.Smallest, o.MayGrow, o.Prove = MustShow(o.FailOver), false, investigate.ProveNone
	self := o.Options
	self.B, self.Case, self.Confirm = self.A, filepath.Join(o.Dir, noiseFolder), false
	self.Budget, self.Found = time.Duration(noisePart*float64(o.Budget)), nil
	self.Progress = func(stage string) { o.tell("A against itself: " + stage) }
	aa, err := investigate.Run(ctx, self)
	if err != nil {
		return nil, o.giveUp(fmt.Errorf("A against itself: %w", err))
	}
	o.Budget -= time.Since(began)
	noise := NoiseOf(aa, pairsIn(time.Duration(pairsPart*float64(o.Budget)), aa), o.FailOver)
	if why := Refuse(aa, noise, o.FailOver); why != "" {
		r := NoAnswer(o.A, o.B, why, noise, o.FailOver, aa.Host)
		r.Dir = o.Dir
		return r, nil
	}
	both := o.Options
	both.Case = filepath.Join(o.Dir, caseFolder)
	ab, err := investigate.Run(ctx, both)
	if err != nil {
		return nil, fmt.Errorf("A and B: %w", err)
	}
	r := Judge(ab, noise, o.FailOver)
	r.Dir = o.Dir
	return r, nil
}

func (o *Options) tell(stage string) {
	if o.Progress != nil {
		o.Progress(stage)
	}
}

func (o *Options) makeDir() error {
	if err := os.Mkdir(o.Dir, 0o755); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("folder %s does not exist; make it, or give another --case", filepath.Dir(o.Dir))
		}
		return fmt.Errorf("make directory of the check: %w", err)
	}
	return nil
}

// giveUp removes a directory in which nothing came to stand.
func (o *Options) giveUp(err error) error {
	_ = os.Remove(o.Dir) // one that holds something stays
	return err
}

// pairsIn is how many pairs fit into a time, by how they followed each other in a case.
func pairsIn(budget time.Duration, c *investigate.Case) int {
	var first, last time.Time
	runs := 0
	for _, run := range c.Trials {
		if run.Kind != trial.KindMeasure {
			continue
		}
		if runs++; runs == 1 {
			first = run.Start
		}
		last = run.Start
	}
	if runs < 2 || !last.After(first) {
		return 0
	}
	pair := 2 * last.Sub(first) / time.Duration(runs-1)
	return min(int(budget/pair), stat.MaxPairs)
}
