package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/fleet/rows"
	"culprit/internal/fleet/window"
)

const (
	// together are written in one commit, or what came within patience: a commit costs as much as tens of windows.
	together = 100
	patience = 30 * time.Millisecond
)

// commitAll writes what comes until the store is closed.
func (s *Store) commitAll() {
	for {
		var first *pending
		select {
		case first = <-s.queue:
		case <-s.stop:
			return
		}
		group := []*pending{first}
		timer := time.NewTimer(patience)
	more:
		for len(group) < together {
			select {
			case next := <-s.queue:
				group = append(group, next)
			case <-timer.C:
				break more
			case <-s.stop:
				break more
			}
		}
		timer.Stop()
		err := s.write(group)
		for _, p := range group {
			if err != nil {
				s.discard(p.rows.Window.Content)
			}
			p.done <- err
		}
	}
}

// write puts files and rows on the disk, in this order, and then moves the files to where they stay.
func (s *Store) write(group []*pending) error {
	if err := s.sync(); err != nil {
		return err
	}
	next := s.known.draft()
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
	// Not the context of one upload: others are in the group.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.engine.Append(ctx, ordered); err != nil {
		var contents []string
		for _, p := range group {
			contents = append(contents, p.rows.Window.Content)
		}
		s.known.doubt(next, contents)
		s.log.Error("windows could not be written", "windows", len(group), "error", err)
		return fmt.Errorf("write %d windows: %w", len(group), err)
	}
	s.known.take(next)
	for _, p := range group {
		if err := s.keep(p.rows.Window); err != nil {
			return err
		}
	}
	return nil
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
	from, to := s.incoming(w.Content), s.file(w.Start, w.Content)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("keep window: %w", err)
	}
	for _, suffix := range []string{window.ManifestSuffix, window.RecordingSuffix} {
		if err := os.Rename(from+suffix, to+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("keep window: %w", err)
		}
	}
	return nil
}

// add makes the rows of all tables out of one window's.
func (s *Store) add(batches map[string]*Batch, next *draft, made *rows.Rows) {
	row := func(table string, values ...any) {
		if batches[table] == nil {
			batches[table] = &Batch{Table: table}
		}
		batches[table].Rows = append(batches[table].Rows, values)
	}
	w := made.Window
	number, start := next.number(), w.Start.Unix()
	row("windows", number, next.attempt, w.Content, w.Host, w.Kind, start, w.LengthNs, s.now().Unix(), w.Bytes,
		w.Cost.CPUNs, w.Cost.MemoryBytes, w.Boot, w.Sequence, w.Dropped, made.Kernel, w.Why)
	versions := map[string]string{}
	for _, service := range made.Services {
		versions[service.Name] = service.Version
		labels, _ := json.Marshal(service.Labels) // a map of text
		started := int64(0)
		if !service.Started.IsZero() {
			started = service.Started.Unix()
		}
		row("services", number, next.attempt, w.Host, service.Name, service.Version, string(labels), service.Cgroup, start,
			w.LengthNs, service.CPUNs, orUnknown(service.Requests), orUnknown(service.LatencyNs), service.Process, started,
			service.Samples)
		for name, value := range service.Metrics {
			row("metrics", next.attempt, w.Host, service.Name, start, name, value)
		}
	}
	for _, sample := range made.Samples {
		row("samples", next.attempt, w.Host, sample.Service, versions[sample.Service], start, sample.Signal, sample.Stack,
			sample.ValueNs, sample.Count)
	}
	for _, frame := range made.Frames {
		if next.newFrame(frame.ID) {
			row("frames", frame.ID, frame.Name, string(frame.Kind), frame.Module, frame.BuildID, frame.File, int64(frame.Line))
		}
	}
	for _, stack := range made.Stacks {
		if !next.newStack(stack.ID) {
			continue
		}
		for _, frame := range stack.Frames {
			leaf := int64(0)
			if frame == stack.Leaf {
				leaf = 1
			}
			row("stack_frames", stack.ID, frame, leaf)
		}
	}
	for _, fact := range next.changed(w.Host, start, made.Facts) {
		row("facts", next.attempt, w.Host, fact.Name, fact.Value, fact.Source, start)
	}
}

func orUnknown(count *int64) int64 {
	if count == nil {
		return -1
	}
	return *count
}
