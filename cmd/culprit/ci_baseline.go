package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"culprit/internal/ci"
	"culprit/internal/fleet/baseline"
	"culprit/internal/investigate"
	"culprit/internal/report"
)

// saveBatch measures and adds what it measured to the baseline.
func (f ciFlags) saveBatch(ctx context.Context, w world, o ci.Options) error {
	if err := os.MkdirAll(f.baseline, 0o755); err != nil {
		return fmt.Errorf("make baseline %s: %w", f.baseline, err)
	}
	o.Case = filepath.Join(f.baseline, baseline.BatchOf(time.Now()))
	if _, err := investigate.Run(ctx, o.Options); err != nil {
		return err
	}
	kept, err := prune(f.baseline, f.keep)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.stdout, "%s: %d stored\n", o.Case, kept)
	return err
}

// againstBaseline measures and holds it against what is stored.
func (f ciFlags) againstBaseline(ctx context.Context, o ci.Options) (*ci.Result, error) {
	batches, err := readBatches(ctx, f.baseline)
	if err != nil {
		return nil, err
	}
	if len(batches) < ci.LeastBatches {
		return nil, fmt.Errorf("%s holds %d batches and %d are needed; add them with --save", f.baseline, len(batches),
			ci.LeastBatches)
	}
	if err := os.Mkdir(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory of the check: %w", err)
	}
	o.Case = filepath.Join(o.Dir, "case")
	now, err := investigate.Run(ctx, o.Options)
	if err != nil {
		_ = os.Remove(o.Dir) // one that holds something stays
		return nil, err
	}
	var metrics []investigate.Metric
	for _, name := range o.Metric.Names() {
		metrics = append(metrics, o.Metric.Of(name))
	}
	kept, leftOut := ci.OfKind(batches, now)
	result, err := ci.Against(kept, now, metrics, o.FailOver)
	if err != nil {
		return nil, err
	}
	result.Dir, result.LeftOut = o.Dir, leftOut
	if result.Outcome == investigate.Worse {
		err = f.suspectsOf(ctx, kept, now, result)
	}
	return result, err
}

// suspectsOf compares the recordings of the latest batch with those of now.
func (f ciFlags) suspectsOf(ctx context.Context, kept []ci.Batch, now *investigate.Case, result *ci.Result) error {
	before := recordingsOf(filepath.Join(f.baseline, kept[len(kept)-1].Name))
	after := recordingsOf(filepath.Join(result.Dir, "case"))
	if len(before) == 0 || len(after) == 0 {
		result.Warnings = append(result.Warnings, "no suspects: one of the sides has no recordings")
		return nil
	}
	options := compareOptions{per: "auto", metric: "auto"}
	a, err := options.readSide(before, "", nil)
	if err != nil {
		return err
	}
	b, err := options.readSide(after, "", nil)
	if err != nil {
		return err
	}
	if metric := result.Metrics[0].Metric.Name; metric == "wall" || metric == "cpu" {
		options.metric = metric
	}
	compared, err := compareGroups(ctx, a, b, options, compareLimits{smallest: result.FailOver})
	if err != nil {
		result.Warnings = append(result.Warnings, "no suspects: "+report.Line(err))
		return nil
	}
	result.Suspects = compared.Suspects
	result.Warnings = append(result.Warnings, compared.Warnings...)
	return report.ComparisonHTML(filepath.Join(result.Dir, "comparison.html"), compared, report.RequestSide{},
		report.RequestSide{})
}

func recordingsOf(folder string) []string {
	found, _ := filepath.Glob(filepath.Join(folder, "recordings", "*.culprit")) // the pattern is sound
	return found
}

// readBatches reads what is stored, in the order of time.
func readBatches(ctx context.Context, folder string) ([]ci.Batch, error) {
	names, err := batchNames(folder)
	if err != nil {
		return nil, err
	}
	var batches []ci.Batch
	for _, name := range names {
		c, _, err := readCase(ctx, filepath.Join(folder, name))
		if err != nil {
			return nil, fmt.Errorf("baseline: %w; remove that batch", err)
		}
		taken, _ := baseline.Taken(name) // it is one of batchNames
		batches = append(batches, ci.Batch{Name: name, Taken: taken, Case: c})
	}
	return batches, nil
}

func batchNames(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no baseline %s; make it with --save", folder)
	}
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	var names []string
	for _, entry := range entries { // nothing else in a baseline is read or removed
		if _, is := baseline.Taken(entry.Name()); is && entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// prune removes all but the latest batches.
func prune(folder string, keep int) (kept int, err error) {
	names, err := batchNames(folder)
	if err != nil {
		return 0, err
	}
	for ; len(names) > keep; names = names[1:] {
		if err := os.RemoveAll(filepath.Join(folder, names[0])); err != nil {
			return len(names), fmt.Errorf("remove an old batch: %w", err)
		}
	}
	return len(names), nil
}
