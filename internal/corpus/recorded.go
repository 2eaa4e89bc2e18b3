package corpus

import (
	"fmt"
	"path/filepath"

	"culprit/internal/compare"
	"culprit/recording"
)

// Recordings opens those of one side in a folder: A-1.culprit, A-2.culprit and so on.
func Recordings(folder string, side compare.Side) (group []*recording.Recording, err error) {
	files, err := filepath.Glob(filepath.Join(folder, string(side)+"-*.culprit"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no recording of %s in %s: %w", side, folder, err)
	}
	for _, file := range files {
		rec, err := recording.Open(file)
		if err != nil {
			return nil, fmt.Errorf("read recordings of %s: %w", side, err)
		}
		group = append(group, rec)
	}
	return group, nil
}

// Compare puts what recordings show in the place of what the pair's own ones showed.
func (p *Pair) Compare(a, b []*recording.Recording) (err error) {
	in := &p.Input
	explained := in.Result.Metric
	in.FactsA, in.FactsB = compare.FactsOf(a), compare.FactsOf(b)
	both, err := compare.Compare(a, b, compare.Options{})
	if err != nil {
		return fmt.Errorf("compare recordings of %s: %w", p.Name, err)
	}
	in.CPU, in.Wall = both.CPU, both.Wall
	if in.Result = in.Wall; explained == compare.MetricCPU {
		in.Result = in.CPU
	}
	return nil
}
