package bisect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/trial"
)

// state is that of one Run.
type state struct {
	options Options
	source  source
	lab     *hostLab
	journal *journal
	lock    *os.File
	made    bool // the case directory, by this process
	result  *Result
}

// Run searches. The error is for people: one line that names the thing and the way out.
func Run(ctx context.Context, options Options) (*Result, error) {
	begin := time.Now()
	s := &state{options: options, result: &Result{Schema: Schema, Culprits: []Culprit{}, Rests: []Rest{},
		Skipped:   []Skip{},
		Decisions: []Decision{}}}
	err := s.open(ctx)
	if err == nil {
		err = s.search(ctx)
	}
	if err == nil {
		s.result.ElapsedS = time.Since(begin).Seconds() + s.journal.spent()
		err = save(filepath.Join(s.options.Case, ResultName), s.result)
	}
	if err == nil && !s.options.Keep {
		err = s.clear(ctx)
	}
	if err != nil {
		err = errors.Join(err, s.withdraw(ctx))
	}
	if err = errors.Join(err, s.close()); err != nil {
		return nil, err
	}
	return s.result, nil
}

// withdraw removes what a search made that failed before its first run: there is nothing to go on
// from.
func (s *state) withdraw(ctx context.Context) error {
	if !s.made || s.journal != nil && s.journal.runs > 0 {
		return nil
	}
	var err error
	if s.lab != nil && !s.options.Keep && ctx.Err() == nil {
		err = s.clear(ctx)
	}
	if errRemove := os.RemoveAll(s.options.Case); errRemove != nil {
		err = errors.Join(err, fmt.Errorf("remove unfinished case: %w", errRemove))
	}
	return err
}

// clear removes what was built, but for the culprits and what they were compared with: those are
// worth a look.
func (s *state) clear(ctx context.Context) error {
	kept := map[int]bool{}
	for _, c := range s.result.Culprits {
		kept[c.Position], kept[c.Before] = true, true
	}
	for position := range s.options.Candidates {
		if _, err := os.Lstat(s.source.folder(position)); err != nil || kept[position] {
			continue
		}
		if err := os.RemoveAll(s.lab.stamp(position)); err != nil {
			return fmt.Errorf("remove builds: %w", err)
		}
		if err := s.source.discard(ctx, position); err != nil {
			return err
		}
	}
	return nil
}

// open makes or finds the case directory, the folder for builds, and what trials need.
func (s *state) open(ctx context.Context) error {
	if s.options.Resume {
		if err := s.readDesign(); err != nil {
			return err
		}
	}
	if err := s.options.settle(); err != nil {
		return err
	}
	if err := s.options.check(); err != nil {
		return err
	}
	var err error
	if s.source, err = openSource(ctx, &s.options); err != nil {
		return err
	}
	if !s.options.Resume {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	s.lab = &hostLab{options: &s.options, source: s.source, dir: s.options.Case}
	if s.journal, err = openJournal(s.options.Case); err != nil {
		return err
	}
	s.lab.runner, err = trial.NewRunner("/")
	return err
}

// openSource chooses where candidates come from.
func openSource(ctx context.Context, options *Options) (source, error) {
	if options.Package != "" {
		return openVersions(options)
	}
	return openCommits(ctx, options)
}

// begin lists the candidates and makes the case directory.
func (s *state) begin(ctx context.Context) error {
	candidates, err := s.source.list(ctx)
	if err != nil {
		return err
	}
	s.options.Candidates = candidates
	dir, err := filepath.Abs(s.options.Case)
	if err != nil {
		return fmt.Errorf("find folder of case %s: %w", s.options.Case, err)
	}
	if err := os.Mkdir(dir, 0o755); errors.Is(err, os.ErrExist) {
		return fmt.Errorf("case directory %s exists; give another --case DIR, or --resume %s to go on with it",
			s.options.Case, s.options.Case)
	} else if err != nil {
		return fmt.Errorf("make case directory: %w", err)
	}
	s.options.Case, s.options.Schema, s.made = dir, optionsSchema, true
	return save(filepath.Join(dir, DesignName), s.options)
}

// readDesign reads what is searched from the case directory.
func (s *state) readDesign() error {
	dir, err := filepath.Abs(s.options.Case)
	if err != nil {
		return fmt.Errorf("find folder of case %s: %w", s.options.Case, err)
	}
	file, err := os.Open(filepath.Join(dir, DesignName))
	if err != nil {
		return fmt.Errorf("resume %s: no search is there: %w", s.options.Case, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxDesign))
	if err != nil {
		return fmt.Errorf("resume %s: %w", s.options.Case, err)
	}
	read := s.options
	if err := json.Unmarshal(text, &read); err != nil {
		return fmt.Errorf("resume %s: %s is damaged: %w", s.options.Case, DesignName, err)
	}
	if read.Schema != optionsSchema || len(read.Candidates) < 2 {
		return fmt.Errorf("resume %s: schema is %q, want %q: was it written by another culprit?", s.options.Case,
			read.Schema, optionsSchema)
	}
	read.Case = dir
	s.options = read
	return nil
}

// enter takes the folder for builds for this process alone.
func (s *state) enter(ctx context.Context) error {
	sum := sha256.Sum256([]byte(s.source.identity()))
	room := filepath.Join(s.options.Cache, hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(room, 0o755); err != nil {
		return fmt.Errorf("make folder for builds: %w; give another --cache DIR", err)
	}
	lock, err := os.OpenFile(filepath.Join(room, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("open folder for builds: %w; give another --cache DIR", err)
	}
	s.lock = lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("another culprit builds the same candidates in %s; wait for it, or give another --cache DIR", room)
	}
	return s.source.enter(ctx, room)
}

// search runs the engine and tells the names of what it found.
func (s *state) search(ctx context.Context) error {
	last := len(s.options.Candidates) - 1
	if s.options.Listed != nil {
		s.options.Listed(last, s.options.Linear)
	}
	x := newEngine(s.options, last, remembered{s.lab, s.journal}, s.result)
	if err := x.run(ctx); err != nil {
		switch {
		case ctx.Err() == nil:
			return err
		case s.journal.runs == 0 && s.made:
			return errors.New("interrupted; nothing was kept")
		}
		return fmt.Errorf("interrupted; culprit bisect --resume %s goes on", s.options.Case)
	}
	s.result.Decisions = x.made()
	s.name()
	return s.explain(ctx)
}

// name fills in candidates where the engine knows positions alone.
func (s *state) name() {
	candidates := s.options.Candidates
	r := s.result
	r.Good, r.Bad, r.Candidates = candidates[0], candidates[len(candidates)-1], len(candidates)-1
	r.Order, r.Package, r.Command, r.Dir, r.Seed = s.options.Linear, s.options.Package, s.options.Command, s.options.Case,
		s.options.Seed
	for i := range r.Decisions {
		r.Decisions[i].Name = candidates[r.Decisions[i].Position].Name
	}
	for i := range r.Skipped {
		r.Skipped[i].Name = candidates[r.Skipped[i].Position].Name
	}
	for i := range r.Culprits {
		c := &r.Culprits[i]
		c.Candidate, c.Parent = candidates[c.Position], candidates[c.Before]
		c.Folder = s.source.folder(c.Position)
	}
	for i := range r.Rests {
		r.Rests[i].From, r.Rests[i].To = candidates[r.Rests[i].Low], candidates[r.Rests[i].High]
	}
}

func (s *state) close() error {
	var err error
	if s.lab != nil && s.lab.runner != nil {
		err = s.lab.runner.Close()
	}
	if s.journal != nil {
		err = errors.Join(err, s.journal.close())
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}
