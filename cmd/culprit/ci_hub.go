package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"culprit/internal/ci"
	"culprit/internal/fleet/baseline"
	"culprit/internal/investigate"
)

// saveInHub measures and adds what it measured to a baseline of the hub. The hub is asked first: it
// may be away, or the token may be no good. What was measured stays in the directory of the check.
func (f ciFlags) saveInHub(ctx context.Context, w world, o ci.Options) error {
	if err := f.hub.MaySave(ctx, f.baseline); err != nil {
		return err
	}
	if err := os.Mkdir(o.Dir, 0o755); err != nil {
		return fmt.Errorf("make directory of the check: %w", err)
	}
	o.Case = filepath.Join(o.Dir, "case")
	if _, err := investigate.Run(ctx, o.Options); err != nil {
		_ = os.Remove(o.Dir) // one that holds something stays
		return err
	}
	name := baseline.BatchOf(time.Now())
	kept, err := f.hub.SaveBatch(ctx, f.baseline, name, o.Case, f.keep)
	if err != nil {
		return fmt.Errorf("%w; what was measured is in %s", err, o.Case)
	}
	_, err = fmt.Fprintf(w.stdout, "%s of baseline %s in %s: %d stored\n", name, f.baseline, f.hub.Hub, len(kept.Batches))
	return err
}

// againstHub measures and holds it against what the hub keeps, which is looked for before anything
// is measured.
func (f ciFlags) againstHub(ctx context.Context, o ci.Options) (*ci.Result, error) {
	if !baseline.IsName(f.baseline) {
		return nil, fmt.Errorf("baseline %q: small letters, digits, . _ and -, at most 63", f.baseline)
	}
	listed, err := f.hub.Baseline(ctx, f.baseline)
	if err != nil {
		return nil, err
	}
	if len(listed.Batches) < ci.LeastBatches {
		return nil, fmt.Errorf("baseline %s of %s holds %d batches and %d are needed; add them with --save", f.baseline,
			f.hub.Hub, len(listed.Batches), ci.LeastBatches)
	}
	folder, err := os.MkdirTemp("", "culprit-baseline-")
	if err != nil {
		return nil, fmt.Errorf("make room for the baseline: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // it can be fetched again
	for _, batch := range listed.Batches {
		if err := f.hub.FetchBatch(ctx, f.baseline, batch.Name, filepath.Join(folder, batch.Name)); err != nil {
			return nil, err
		}
	}
	f.baseline = folder
	return f.againstBaseline(ctx, o)
}
