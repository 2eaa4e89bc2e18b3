package explain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"culprit/internal/compare/units"
	"culprit/recording"
)

// ErrNothingRecorded says that a case holds no recordings.
var ErrNothingRecorded = errors.New("the case holds no recordings, so that there is nothing to " +
	"judge again: nothing was shown to differ, or this host could not record")

// Open reads the recordings of a case directory that were judged, and what their judgement rested
// on.
func Open(dir string) (*Evidence, *Context, error) {
	if _, err := os.Stat(filepath.Join(dir, Recordings)); errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: %w", dir, ErrNothingRecorded)
	}
	known, err := Load(dir)
	if err != nil {
		return nil, nil, err
	}
	read := func(names []string) ([]*recording.Recording, error) {
		var group []*recording.Recording
		for _, name := range names {
			if filepath.Base(name) != name {
				return nil, fmt.Errorf("%s names %q: not a file of the case's recordings",
					filepath.Join(dir, ContextFile), name)
			}
			rec, err := recording.Open(filepath.Join(dir, Recordings, name))
			if err != nil {
				return nil, err
			}
			group = append(group, rec)
		}
		return group, nil
	}
	a, err := read(known.A)
	if err != nil {
		return nil, nil, err
	}
	b, err := read(known.B)
	if err != nil {
		return nil, nil, err
	}
	shown, err := Read(a, b, units.PerAuto)
	return shown, known, err
}

// About has the context ask for another of the metrics, MetricAuto for the one that it was made
// for.
func (c *Context) About(metric string) error {
	if metric == MetricAuto {
		return nil
	}
	if err := checkMetric(metric); err != nil {
		return err
	}
	known := c.measured(metric)
	if known == nil && len(c.Measured) > 0 {
		return fmt.Errorf("metric %s was not tested in this case, so that nothing is known of its change",
			metric)
	}
	if c.Metric = metric; known != nil {
		c.Outcome = known.Outcome
	}
	return nil
}
