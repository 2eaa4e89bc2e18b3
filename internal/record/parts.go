package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"culprit/recording"
)

// PartsSuffix follows the name of a recording in that of the folder with its parts, as long as it
// is not whole.
const PartsSuffix = ".parts"

// partEvery is how often a long recording writes down what it has: so much is lost when the
// recorder is killed, and so much is kept in its memory. Each time nothing is recorded for a
// moment, which stands among the recording's gaps.
const partEvery = time.Minute

// A part is full, and is written down at the earliest partLeast after it began, when fullAt bytes
// of the recorder's heap are alive and fullBy of them are its own: what the recorder keeps of the
// host's files from part to part does not become less by writing one down.
const (
	fullAt    = 28 << 20
	fullBy    = 14 << 20
	partLeast = 10 * time.Second
)

// Parts makes one recording of several windows: a long one, one that checks its own effect, one
// that keeps to a budget. What is there so far lies in the folder Path + PartsSuffix; Finish joins
// it and removes the folder.
type Parts struct {
	recorder *Recorder
	target   Target
	path     string
	parts    []string
	open     bool
	sum      Summary
	thinned  []recording.Thinning // those of the part that is open or comes next
	restarts []recording.Restart  // those too, by the time since it began
	began    time.Time            // the part that is open
	lengthNs int64                // of the parts that are written
	least    int64                // bytes of the heap that the part that is open began with; 0: not looked at
	held     *os.File             // the folder, against Salvage
}

// NewParts refuses a path beside which the parts of a killed recording lie: they may be all there
// is of it.
func NewParts(recorder *Recorder, target Target, path string) (*Parts, error) {
	if err := NoParts(path); err != nil {
		return nil, err
	}
	return &Parts{recorder: recorder, target: target, path: path}, nil
}

// NoParts returns an error when the parts of a killed recording lie beside a path.
func NoParts(path string) error {
	if _, err := os.Lstat(path + PartsSuffix); err == nil {
		return fmt.Errorf("%s is what a killed recording left; make it whole with "+
			"`culprit record --salvage %s -o FILE`, or remove it", path+PartsSuffix, path+PartsSuffix)
	}
	return nil
}

// Begin opens a part; why is told in the gap before it.
func (p *Parts) Begin(ctx context.Context, why string) error {
	p.target.Gap, p.target.Salvage = why, p.next()
	if err := p.recorder.Begin(ctx, p.target); err != nil {
		return err
	}
	p.open, p.target.Resume, p.least, p.began = true, true, 0, time.Now()
	return nil
}

// full tells whether a part is to be written down, of which so many bytes of the recorder's heap
// are alive.
func (p *Parts) full(live int64) bool {
	if p.least == 0 || live < p.least {
		p.least = live // right after it began, some of the part before it is still alive
	}
	return live >= max(fullAt, p.least+fullBy)
}

// next is the file of the part that is open or comes next.
func (p *Parts) next() string {
	return filepath.Join(p.path+PartsSuffix, fmt.Sprintf("%04d.culprit", len(p.parts)+1))
}

// End closes the part that is open and writes it down.
func (p *Parts) End(ctx context.Context) error { return p.end(ctx, false) }

// EndToGoOn does so where Begin follows at once.
func (p *Parts) EndToGoOn(ctx context.Context) error { return p.end(ctx, true) }

func (p *Parts) end(ctx context.Context, goesOn bool) error {
	if !p.open {
		return nil
	}
	p.open = false
	if len(p.parts) == 0 {
		if err := os.Mkdir(p.path+PartsSuffix, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make folder for parts of %s: %w", p.path, err)
		}
		p.held = holdParts(p.path + PartsSuffix)
	}
	path := p.next()
	summary, err := p.recorder.End(ctx, Finish{Path: path, Part: true, GoesOn: goesOn, Thinned: p.thinned,
		Restarts: p.restarts})
	if err != nil {
		return fmt.Errorf("write part: %w", err)
	}
	p.parts, p.thinned, p.restarts = append(p.parts, path), nil, nil
	p.lengthNs += summary.WindowNs
	p.sum.add(summary)
	return nil
}

// Finish closes the part that is open and writes the whole: check, unless nil, is what the recorder
// found out of its own effect. After an error the parts that are written stay where they are.
func (p *Parts) Finish(ctx context.Context, check *recording.SelfCheck) (*Summary, error) {
	defer func() { letGo(p.held) }()
	if p.open && len(p.parts) == 0 { // the usual case: there is nothing to join
		p.open = false
		return p.recorder.End(ctx, Finish{Path: p.path, Thinned: p.thinned, Check: check, Restarts: p.restarts})
	}
	if err := p.End(ctx); err != nil {
		return nil, p.kept(err)
	}
	if len(p.parts) == 0 {
		return nil, fmt.Errorf("record %s: nothing was recorded", p.target)
	}
	err := joined(p.path, p.parts, func(manifest *recording.Manifest) {
		manifest.Cost.Check = check
		if check != nil {
			manifest.BlindSpots = append(manifest.BlindSpots,
				recording.BlindSpot{Kind: recording.BlindChecked, What: check.String()})
		}
		for i := range p.restarts { // of a service that did not come back
			p.restarts[i].TimeNs += p.lengthNs
		}
		manifest.AddRestarts(p.restarts...)
		p.sum.Losses, p.sum.Cost, p.sum.Unseen = manifest.Losses, manifest.Cost, manifest.BlindSpots
		p.sum.Gaps, p.sum.Thinned, p.sum.WindowNs = manifest.Gaps, manifest.Thinned, manifest.WindowNs
		p.sum.Restarts = manifest.Restarts
	})
	if err != nil {
		return nil, fmt.Errorf("%w; its parts stay in %s", err, p.path+PartsSuffix)
	}
	return &p.sum, removeParts(p.path+PartsSuffix, p.parts)
}

// kept says beside an error what there is of the recording, and leaves no empty folder behind.
func (p *Parts) kept(err error) error {
	folder := p.path + PartsSuffix
	if err == nil || len(p.parts) == 0 {
		_ = os.Remove(folder) // it may not be there; one that holds something stays
		return err
	}
	return fmt.Errorf("%w; what was recorded before lies in %s: make it whole with `culprit record --salvage %s -o FILE`",
		err, folder, folder)
}

// removeParts removes the parts and their folder, and nothing that somebody else put there.
func removeParts(folder string, parts []string) error {
	for _, part := range parts {
		if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove part of recording: %w", err)
		}
	}
	if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove folder of parts: %w", err)
	}
	return nil
}

// add takes over what a part's summary adds to that of the whole.
func (s *Summary) add(part *Summary) {
	s.Samples += part.Samples
	s.Waits += part.Waits
	s.Broken += part.Broken
	s.RunTimes = WithRunTimes(s.RunTimes, part.RunTimes...)
	s.Throttled = addThrottled(s.Throttled, part.Throttled...)
	for _, off := range part.Off {
		if !slices.ContainsFunc(s.Off, func(o recording.ProbeStatus) bool { return o.Name == off.Name }) {
			s.Off = append(s.Off, off)
		}
	}
}

// joined joins parts with little garbage beside what is alive: their totals are all in memory.
func joined(path string, parts []string, edit func(*recording.Manifest)) error {
	defer debug.SetGCPercent(debug.SetGCPercent(endingGCPercent))
	return recording.Join(path, parts, edit)
}

// Salvage makes one recording of the parts that a killed one left in a folder, and removes them. A
// recorder whose owner was killed may still write the last of them: Salvage waits for it.
func Salvage(folder, path string) (parts int, err error) {
	held, err := takeParts(folder, salvageWait)
	if err != nil {
		return 0, err
	}
	defer letGo(held)
	files, err := filepath.Glob(filepath.Join(escapeGlob(folder), "[0-9][0-9][0-9][0-9]*.culprit"))
	if err != nil {
		return 0, fmt.Errorf("find parts in %s: %w", folder, err)
	}
	if len(files) == 0 {
		return 0, fmt.Errorf("%s holds no part of a recording; give the folder that a killed one left, FILE%s",
			folder, PartsSuffix)
	}
	slices.SortFunc(files, func(a, b string) int { // "10000" follows "9999"
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		if a < b {
			return -1
		}
		return 1
	})
	err = joined(path, files, func(manifest *recording.Manifest) {
		manifest.BlindSpots = append(manifest.BlindSpots,
			recording.BlindSpot{Kind: recording.BlindKilled})
	})
	if err != nil {
		return 0, err
	}
	return len(files), removeParts(folder, files)
}

// escapeGlob makes a folder's name stand for itself.
func escapeGlob(name string) string {
	var escaped []rune
	for _, r := range name {
		switch r {
		case '*', '?', '[', '\\':
			escaped = append(escaped, '\\')
		}
		escaped = append(escaped, r)
	}
	return string(escaped)
}
