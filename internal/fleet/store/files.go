package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"culprit/internal/fleet/window"
)

// errTorn says that a file of incoming is not what its manifest says: it was never acknowledged.
var errTorn = errors.New("it is not whole")

// place is where the files of a window lie, without their suffixes.
func (s *Store) place(content string) (string, error) {
	if window.IsContentID(content) {
		found, err := filepath.Glob(filepath.Join(s.directory, raw, "*", content+window.RecordingSuffix))
		if err == nil && len(found) > 0 {
			return strings.TrimSuffix(found[0], window.RecordingSuffix), nil
		}
		if s.waiting.has(content) {
			return s.incoming(content), nil
		}
	}
	return "", errors.New("there is no such window")
}

// Recording opens the recording of a window.
func (s *Store) Recording(content string) (*os.File, error) {
	at, err := s.place(content)
	if err != nil {
		return nil, err
	}
	return os.Open(at + window.RecordingSuffix)
}

// Window gives a window whole: its manifest, and its recording, which the caller closes.
func (s *Store) Window(content string) (*window.Window, *os.File, error) {
	at, err := s.place(content)
	if err != nil {
		return nil, nil, err
	}
	w, file, err := openWindow(at, content)
	if err != nil {
		return nil, nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		file.Close()
		return nil, nil, err
	}
	return w, file, nil
}

// Forget throws away what is older than that, rows and files, by whole days.
func (s *Store) Forget(ctx context.Context, before time.Time) error {
	second := before.Unix() - before.Unix()%Day
	var failures []error
	for _, one := range s.shards {
		failures = append(failures, one.do(func() error {
			err := s.engine.Forget(ctx, one.number, second)
			one.known = nil // hosts without windows have no facts any more
			return err
		}))
	}
	days, err := os.ReadDir(filepath.Join(s.directory, raw))
	if err != nil {
		failures = append(failures, err)
	}
	for _, day := range days {
		at, err := time.Parse(time.DateOnly, day.Name())
		if err == nil && at.Unix()+Day <= second {
			failures = append(failures, os.RemoveAll(filepath.Join(s.directory, raw, day.Name())))
		}
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	return nil
}

// recover writes what lies in incoming: a window whose rows are committed already is only moved.
func (s *Store) recover(ctx context.Context) error {
	entries, err := os.ReadDir(filepath.Join(s.directory, incoming))
	if err != nil {
		return err
	}
	var contents []string
	for _, entry := range entries {
		content, isRecording := strings.CutSuffix(entry.Name(), window.RecordingSuffix)
		manifestOf, isManifest := strings.CutSuffix(entry.Name(), window.ManifestSuffix)
		switch {
		case strings.HasPrefix(entry.Name(), "upload-"):
			os.Remove(filepath.Join(s.directory, incoming, entry.Name()))
		case isRecording && window.IsContentID(content):
			contents = append(contents, content)
		case isManifest:
			if _, err := os.Stat(s.incoming(manifestOf) + window.RecordingSuffix); errors.Is(err, fs.ErrNotExist) {
				os.Remove(filepath.Join(s.directory, incoming, entry.Name()))
			}
		}
	}
	s.recoverAll(ctx, contents)
	return nil
}

// recoverOne writes the rows of a window in incoming, or has it wait.
func (s *Store) recoverOne(ctx context.Context, content string) error {
	w, file, err := openWindow(s.incoming(content), content)
	if err != nil {
		return err
	}
	defer file.Close()
	of := s.shardOf(w.Host)
	written, err := s.written(ctx, w)
	switch {
	case errors.Is(err, ErrDown):
		s.waiting.add(content, of.number, s.now(), err)
		return nil
	case err != nil:
		return err
	case written:
		s.waiting.remove(content)
		return s.keep(w)
	}
	made, err := s.read(ctx, w, file)
	if errors.Is(err, window.ErrRefused) {
		return fmt.Errorf("%w: %w", errTorn, err)
	}
	if err != nil {
		return err
	}
	return of.commit(made, false)
}

// move moves the two files of a window. It lies where its recording is, so that the manifest is
// there before the recording comes, and stays until the recording is gone: a crash leaves a whole
// window in one of both places.
func move(from, to string) error {
	err := os.Link(from+window.ManifestSuffix, to+window.ManifestSuffix)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Rename(from+window.RecordingSuffix, to+window.RecordingSuffix); err != nil {
		return err
	}
	return os.Remove(from + window.ManifestSuffix)
}

// openWindow opens the two files of a window and checks that they are whole.
func openWindow(at, content string) (*window.Window, *os.File, error) {
	text, err := os.ReadFile(at + window.ManifestSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%w: no manifest", errTorn)
	}
	if err != nil {
		return nil, nil, err
	}
	w := &window.Window{}
	if err := json.Unmarshal(text, w); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errTorn, err)
	}
	if err := w.Check(); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errTorn, err)
	}
	file, err := os.Open(at + window.RecordingSuffix)
	if err != nil {
		return nil, nil, err
	}
	id, size, err := window.ContentID(file)
	if err == nil && (id != content || size != w.Bytes) {
		err = fmt.Errorf("%w: %d of %d bytes", errTorn, size, w.Bytes)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return w, file, nil
}

// written tells whether the rows of a window are committed.
func (s *Store) written(ctx context.Context, w *window.Window) (bool, error) {
	found, err := s.engine.QueryShard(ctx, s.shardOf(w.Host).number, `SELECT count(*) FROM windows
WHERE start_s = ? AND content = ? AND attempt NOT IN (SELECT attempt FROM aborted)`, w.Start.Unix(), w.Content)
	if err != nil {
		return false, fmt.Errorf("look for a window: %w", err)
	}
	count := int64(0)
	_, err = collect(found, func(scan func(...any) error) (struct{}, error) { return struct{}{}, scan(&count) })
	return count > 0, err
}

// Fill writes the rows of windows whose files are kept and whose rows a shard has lost: one that
// came back with an empty or an older disk. It returns how many it wrote, and fails where a shard
// is down.
func (s *Store) Fill(ctx context.Context) (filled int, err error) {
	days, err := os.ReadDir(filepath.Join(s.directory, raw))
	if err != nil {
		return 0, fmt.Errorf("fill: %w", err)
	}
	for _, one := range s.shards { // what the shard still has is not what it had
		if err := one.do(func() error { one.known = nil; return nil }); err != nil {
			return 0, fmt.Errorf("fill: %w", err)
		}
	}
	for _, day := range days {
		at, err := time.Parse(time.DateOnly, day.Name())
		if err != nil {
			continue
		}
		more, err := s.fillDay(ctx, at)
		if filled += more; err != nil {
			return filled, fmt.Errorf("fill %s: %w", day.Name(), err)
		}
	}
	return filled, nil
}

func (s *Store) fillDay(ctx context.Context, day time.Time) (filled int, err error) {
	there := map[string]bool{}
	for _, one := range s.shards {
		found, err := s.engine.QueryShard(ctx, one.number, `SELECT content FROM windows WHERE start_s >= ? AND start_s < ?
AND attempt NOT IN (SELECT attempt FROM aborted)`, day.Unix(), day.Unix()+Day)
		if err != nil {
			return 0, err
		}
		contents, err := collect(found, func(scan func(...any) error) (content string, err error) {
			return content, scan(&content)
		})
		if err != nil {
			return 0, err
		}
		for _, content := range contents {
			there[content] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(s.directory, raw, day.Format(time.DateOnly), "*"+window.RecordingSuffix))
	if err != nil {
		return 0, err
	}
	var lost []string
	for _, file := range files {
		if content := strings.TrimSuffix(filepath.Base(file), window.RecordingSuffix); !there[content] {
			lost = append(lost, content)
			// From here on it is as one that was never written; a crash leaves it in incoming.
			if err := move(strings.TrimSuffix(file, window.RecordingSuffix), s.incoming(content)); err != nil {
				return 0, err
			}
			s.waiting.add(content, 0, s.now(), errors.New("its rows were lost"))
		}
	}
	s.recoverAll(ctx, lost)
	for deadline := time.Now().Add(fillTime); ; time.Sleep(fillEvery / 4) {
		filled = len(slices.DeleteFunc(slices.Clone(lost), s.waiting.has))
		switch {
		case filled == len(lost) || ctx.Err() != nil:
			return filled, ctx.Err()
		case time.Now().After(deadline):
			return filled, fmt.Errorf("%s: %w", strings.Join(s.waiting.words(), "; "), ErrDown)
		}
	}
}

// fillTime is how long a shard may be away while it is filled.
const fillTime = time.Minute
