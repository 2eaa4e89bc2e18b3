package try

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"culprit/internal/ground"
)

// grounds are the file systems that the factor ground names. Each trial gets a fresh one, and it
// alone is there: what an earlier trial wrote is gone, and no other file system writes back beside
// it.
type grounds struct {
	factor int
	specs  map[string]ground.Spec
	notes  []string
	paths  []string // that were made
}

// planGrounds reads the factor ground and says what this host lacks for it; nil when it is not
// varied.
func planGrounds(e Experiment) (*grounds, error) {
	for f, factor := range e.Factors {
		if factor.Kind != KindGround {
			continue
		}
		g := &grounds{factor: f, specs: map[string]ground.Spec{}}
		for _, level := range factor.Levels {
			spec, err := ground.Parse(level.Value)
			if err != nil {
				return nil, err
			}
			if err := spec.Supported(); err != nil {
				return nil, err
			}
			g.specs[level.Value] = spec
		}
		return g, nil
	}
	return nil, nil
}

// prepare makes the ground of a condition and returns its folder and what removes it; "" where none
// is varied.
func (g *grounds) prepare(ctx context.Context, e Experiment, condition condition) (string, func() error, error) {
	if g == nil {
		return "", func() error { return nil }, nil
	}
	level := e.Factors[g.factor].Levels[condition.levels[g.factor]]
	made, err := ground.Prepare(ctx, g.specs[level.Value])
	if err != nil {
		return "", nil, err
	}
	for _, note := range made.Notes {
		if text := fmt.Sprintf("ground %s: %s", level.Name, note); !slices.Contains(g.notes, text) {
			g.notes = append(g.notes, text)
		}
	}
	g.paths = append(g.paths, made.Path)
	return made.Path, func() error { return persistently(made.Close) }, nil
}

// persistently tries again what may be held for a moment by somebody else: a loop device that udev
// or another monitor has open goes only when that lets it go.
func persistently(remove func() error) error {
	const attempts = 5
	var err error
	for range attempts {
		if err = remove(); err == nil {
			return nil
		}
		time.Sleep(removePause)
	}
	return err
}

const removePause = 500 * time.Millisecond

// gone tells whether nothing is left of any ground.
func (g *grounds) gone() bool {
	return g == nil || !slices.ContainsFunc(g.paths, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// said is what the grounds have to say about themselves.
func (g *grounds) said() []string {
	if g == nil {
		return nil
	}
	return g.notes
}
