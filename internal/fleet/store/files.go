package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"culprit/internal/fleet/window"
)

// Recording opens the recording of a window.
func (s *Store) Recording(content string) (*os.File, error) {
	if window.IsContentID(content) {
		found, err := filepath.Glob(filepath.Join(s.directory, raw, "*", content+window.RecordingSuffix))
		if err == nil && len(found) > 0 {
			return os.Open(found[0])
		}
	}
	return nil, errors.New("there is no such window")
}

// Forget throws away what is older than that, rows and files; the files by whole days.
func (s *Store) Forget(ctx context.Context, before time.Time) error {
	if err := s.engine.Forget(ctx, before.Unix()); err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	days, err := os.ReadDir(filepath.Join(s.directory, raw))
	if err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	for _, day := range days {
		at, err := time.Parse(time.DateOnly, day.Name())
		if err == nil && !at.AddDate(0, 0, 1).After(before) {
			if err := os.RemoveAll(filepath.Join(s.directory, raw, day.Name())); err != nil {
				return fmt.Errorf("forget: %w", err)
			}
		}
	}
	return nil
}

// recover writes what lies in incoming: a window whose rows are committed already is only moved.
func (s *Store) recover(ctx context.Context) error {
	entries, err := os.ReadDir(filepath.Join(s.directory, incoming))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		content, isRecording := strings.CutSuffix(entry.Name(), window.RecordingSuffix)
		if strings.HasPrefix(entry.Name(), "upload-") {
			os.Remove(filepath.Join(s.directory, incoming, entry.Name()))
		}
		if !isRecording || !window.IsContentID(content) {
			continue
		}
		if err := s.recoverOne(ctx, content); err != nil {
			// Never acknowledged, and the agent has it still.
			s.log.Warn("a window of the last run is left out", "content", content, "error", err)
			s.discard(content)
		}
	}
	return nil
}

func (s *Store) recoverOne(ctx context.Context, content string) error {
	text, err := os.ReadFile(s.incoming(content) + window.ManifestSuffix)
	if err != nil {
		return err
	}
	w := &window.Window{}
	if err := json.Unmarshal(text, w); err != nil {
		return err
	}
	if err := w.Check(); err != nil {
		return err
	}
	written, err := s.written(ctx, w)
	if err != nil {
		return err
	}
	if written {
		return s.keep(w)
	}
	file, err := os.Open(s.incoming(content) + window.RecordingSuffix)
	if err != nil {
		return err
	}
	defer file.Close()
	id, size, err := window.ContentID(file)
	if err != nil || id != content || size != w.Bytes {
		return fmt.Errorf("%d of %d bytes were written: %w", size, w.Bytes, err)
	}
	made, err := s.read(ctx, w, file)
	if err != nil {
		return err
	}
	return s.commit(ctx, made)
}

// written tells whether the rows of a window are committed.
func (s *Store) written(ctx context.Context, w *window.Window) (bool, error) {
	found, err := s.engine.Query(ctx, `SELECT count(*) FROM windows WHERE start_s = ? AND content = ?
AND attempt NOT IN (SELECT attempt FROM aborted)`, w.Start.Unix(), w.Content)
	if err != nil {
		return false, fmt.Errorf("look for a window: %w", err)
	}
	count := int64(0)
	_, err = collect(found, func(scan func(...any) error) (struct{}, error) { return struct{}{}, scan(&count) })
	return count > 0, err
}
