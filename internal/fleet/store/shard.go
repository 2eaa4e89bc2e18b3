package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/fleet/rows"
	"culprit/internal/fleet/window"
)

const (
	// together are written in one commit, or what came within patience: a commit costs as much as
	// tens of windows.
	together = 100
	patience = 30 * time.Millisecond
	// appendTime is what one commit may take.
	appendTime = time.Minute
	// downFor is how long a shard that failed is left alone.
	downFor = 5 * time.Second
)

// shard has a committer of its own: one that is down keeps no other waiting. A DuckDB store has
// one.
type shard struct {
	number int
	store  *Store
	queue  chan *pending
	jobs   chan func()
	// known is nil until the first rows are written: who only asks does not read what the shard has
	// of facts and stacks, millions of rows with thousands of hosts. Only the committer uses it.
	known *dictionary
	until time.Time // it is left alone until then

	mutex sync.Mutex
	// doubtful contents were not acknowledged; their rows may be committed all the same.
	doubtful map[string]bool
}

// pending is a window on its way: its rows, and who waits for them.
type pending struct {
	rows *rows.Rows
	done chan error
	// fresh windows are given back to their agent where they cannot be written; others stay in
	// incoming.
	fresh bool
}

func newShard(s *Store, number int) *shard {
	return &shard{number: number, store: s, queue: make(chan *pending, queued), jobs: make(chan func()),
		doubtful: map[string]bool{}}
}

func (d *shard) readKnown(ctx context.Context) error {
	known, err := readDictionary(ctx, d.store.engine, d.number, d.store.now().Unix())
	if err == nil {
		d.known = known
	}
	return err
}

// commit waits until the rows are written, or the window waits for its shard. It waits also where
// who sent it is gone: the window is claimed until then, so that it is not written twice when it
// comes again.
func (d *shard) commit(made *rows.Rows, fresh bool) error {
	p := &pending{rows: made, done: make(chan error, 1), fresh: fresh}
	select {
	case d.queue <- p:
	case <-d.store.stop:
		return ErrBusy
	default:
		if fresh {
			d.store.discard(made.Window.Content)
		}
		return ErrBusy
	}
	select {
	case err := <-p.done:
		return err
	case <-d.store.stop:
		return ErrBusy
	}
}

// commitAll writes what comes until the store is closed.
func (d *shard) commitAll() {
	for {
		select {
		case first := <-d.queue:
			d.commitGroup(d.group(first))
		case job := <-d.jobs:
			job()
		case <-d.store.stop:
			return
		}
	}
}

// do runs something between two commits.
func (d *shard) do(job func() error) error {
	done := make(chan error, 1)
	select {
	case d.jobs <- func() { done <- job() }:
		return <-done
	case <-d.store.stop:
		return ErrBusy
	}
}

func (d *shard) group(first *pending) []*pending {
	group := []*pending{first}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for len(group) < together {
		select {
		case next := <-d.queue:
			group = append(group, next)
		case <-timer.C:
			return group
		case <-d.store.stop:
			return group
		}
	}
	return group
}

func (d *shard) commitGroup(group []*pending) {
	s := d.store
	err := s.sync() // the files first: what is acknowledged is on the disk whatever the engine does
	if err == nil {
		err = d.write(group)
	}
	for _, p := range group {
		switch {
		case err == nil:
			err := s.keep(p.rows.Window)
			if err != nil { // its rows are there when it comes again
				d.doubt(p.rows.Window.Content)
			}
			s.waiting.remove(p.rows.Window.Content)
			p.done <- err
		case errors.Is(err, ErrDown):
			s.waiting.add(p.rows.Window.Content, d.number, s.now(), err)
			p.done <- nil
		default:
			if p.fresh {
				s.discard(p.rows.Window.Content)
			}
			p.done <- err
		}
	}
}

// write puts the rows of a group into the engine.
func (d *shard) write(group []*pending) error {
	s := d.store
	if s.now().Before(d.until) {
		return fmt.Errorf("shard %d failed a moment ago: %w", d.number+1, ErrDown)
	}
	// Not the context of one upload: others are in the group.
	ctx, cancel := context.WithTimeout(context.Background(), appendTime)
	defer cancel()
	if d.known == nil || d.known.week != weekOf(s.now().Unix()) {
		if err := d.readKnown(ctx); err != nil {
			d.failed(len(group), err)
			return err
		}
	}
	next := d.known.draft()
	batches := map[string]*Batch{}
	for _, p := range group {
		s.add(batches, next, p.rows)
	}
	ordered := make([]Batch, 0, len(batches))
	for _, table := range Tables {
		if batch := batches[table.Name]; batch != nil {
			ordered = append(ordered, *batch)
		}
	}
	if err := s.engine.Append(ctx, d.number, next.attempt, ordered); err != nil {
		if d.known.giveUp(next); errors.Is(err, ErrDown) {
			d.known = nil // it may come back with less than it had
		}
		for _, p := range group {
			d.doubt(p.rows.Window.Content)
		}
		d.failed(len(group), err)
		return fmt.Errorf("write %d windows: %w", len(group), err)
	}
	d.known.take(next)
	return nil
}

// failed says so once in a while.
func (d *shard) failed(windows int, err error) {
	d.store.log.Error("windows could not be written", "windows", windows, "shard", d.number+1, "error", err)
	if errors.Is(err, ErrDown) {
		d.until = d.store.now().Add(downFor)
	}
}

func (d *shard) doubt(content string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.doubtful[content] = true
}

// takeDoubt tells whether a content has to be looked for, once.
func (d *shard) takeDoubt(content string) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	doubtful := d.doubtful[content]
	delete(d.doubtful, content)
	return doubtful
}

// sync writes the files of a group with one call.
func (s *Store) sync() error {
	directory, err := os.Open(filepath.Join(s.directory, incoming))
	if err != nil {
		return fmt.Errorf("write windows: %w", err)
	}
	defer directory.Close()
	if err := unix.Syncfs(int(directory.Fd())); err != nil {
		return fmt.Errorf("write windows: %w", err)
	}
	return nil
}

// keep moves a window whose rows are committed.
func (s *Store) keep(w *window.Window) error {
	to := s.file(w.Start, w.Content)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("keep window: %w", err)
	}
	if err := move(s.incoming(w.Content), to); err != nil {
		return fmt.Errorf("keep window: %w", err)
	}
	return nil
}
