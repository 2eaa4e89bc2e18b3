// Package store keeps the windows of one tenant: their files as they came, in a directory, and
// their rows in an engine, DuckDB in the same directory or a ClickHouse cluster.
//
// A window is acknowledged when its file is on the disk and its rows are committed, or wait there
// for a shard that is down. Many windows are committed together. Where a crash comes between, the
// file lies in "incoming" and is looked at again at the next start: nothing acknowledged is lost,
// and nothing is counted twice.
//
//	s, err := store.Open(ctx, dir, engine, log)
//	w, known, err := s.Take(ctx, body, id) // of an upload
//	asking := s.Asking()
//	hosts, err := asking.Hosts(ctx, "web", store.Span{From: from, Until: until})
//	incomplete := asking.Incomplete() // what hosts does not have
//
// It refuses windows and recordings that their readers refuse, with window.ErrRefused; ErrBusy says
// that more came than could be written, and to send it again.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"culprit/internal/fleet/rows"
	"culprit/internal/fleet/window"
	"culprit/recording"
)

// ErrBusy says that the store has too much to do; nothing was taken.
var ErrBusy = errors.New("the store is busy")

// Store is one tenant's. It is safe for concurrent use.
type Store struct {
	directory string
	engine    Engine
	log       *slog.Logger
	shards    []*shard
	stop      chan struct{}
	stopped   sync.WaitGroup
	reading   chan struct{} // bounds how many recordings are in memory at once
	now       func() time.Time
	waiting   *waiting

	mutex   sync.Mutex
	claimed map[string]bool // contents that are being taken
}

const (
	incoming = "incoming"
	raw      = "raw"
	// queued windows wait for the committer of a shard; more are refused, and agents come again.
	queued = 256
	// readers make rows out of recordings; each may have one of hundreds of MB in memory.
	readers = 4
	// maxRows is what the rows of one may take in memory. A full window of 64 busy CPUs has some
	// ten MB.
	maxRows = 256 << 20
	// maxSmall is up to which size a recording is read into memory as a whole.
	maxSmall = 4 << 20
)

// Open opens a store and takes up what an earlier end left undone.
func Open(ctx context.Context, directory string, engine Engine, log *slog.Logger) (*Store, error) {
	for _, name := range []string{incoming, raw} {
		if err := os.MkdirAll(filepath.Join(directory, name), 0o700); err != nil {
			return nil, fmt.Errorf("open store: %w", err)
		}
	}
	s := &Store{directory: directory, engine: engine, log: log, stop: make(chan struct{}),
		reading: make(chan struct{}, readers), now: time.Now, waiting: newWaiting(), claimed: map[string]bool{}}
	for number := range engine.Shards() {
		s.shards = append(s.shards, newShard(s, number))
	}
	for _, one := range s.shards {
		s.stopped.Go(one.commitAll)
	}
	if err := s.recover(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open store: %w", err)
	}
	s.stopped.Go(s.fillOften)
	return s, nil
}

// OpenToRead opens rows that another store writes, to ask them. It has no files: windows are not
// named, and what waits at the other store for a shard that is down is not known.
func OpenToRead(engine Engine) *Store {
	return &Store{engine: engine, stop: make(chan struct{}), waiting: newWaiting()}
}

// Close waits for what was taken and closes the engine.
func (s *Store) Close() error {
	close(s.stop)
	s.stopped.Wait()
	return s.engine.Close()
}

// Take reads an upload that claims to be this content and keeps it for good; known tells that it
// was there before. When it returns without an error the window survives a crash.
func (s *Store) Take(ctx context.Context, body io.Reader, content string) (w *window.Window, known bool, err error) {
	file, err := os.CreateTemp(filepath.Join(s.directory, incoming), "upload-")
	if err != nil {
		return nil, false, fmt.Errorf("take window: %w", err)
	}
	defer func() {
		file.Close()
		os.Remove(file.Name()) // not there any more when it was taken
	}()
	if w, err = window.ReadBody(body, file); err != nil {
		return nil, false, err
	}
	if w.Content != content {
		return nil, false, fmt.Errorf("%w: it came as %s and is %s", window.ErrRefused, content, w.Content)
	}
	if s.has(w) {
		return w, true, nil
	}
	made, err := s.read(ctx, w, file)
	if err != nil {
		return nil, false, err
	}
	if !s.claim(w.Content) {
		return nil, false, fmt.Errorf("take window: it is just being taken: %w", ErrBusy)
	}
	defer s.release(w.Content)
	if s.has(w) { // another upload has ended since
		return w, true, nil
	}
	if err := s.put(w, file.Name()); err != nil {
		s.discard(w.Content)
		return nil, false, err
	}
	of := s.shardOf(w.Host)
	if of.takeDoubt(w.Content) {
		written, err := s.written(ctx, w)
		if err != nil {
			of.doubt(w.Content)
			s.discard(w.Content)
			return nil, false, err
		}
		if written {
			return w, true, s.keep(w)
		}
	}
	return w, false, of.commit(made, true)
}

// read makes rows out of a recording, a few at a time.
func (s *Store) read(ctx context.Context, w *window.Window, file *os.File) (*rows.Rows, error) {
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	source, err := inMemory(file, w.Bytes)
	if err != nil {
		return nil, fmt.Errorf("take window: %w", err)
	}
	r, err := recording.ReadWithin(source, w.Bytes, maxRows)
	if errors.Is(err, recording.ErrDamaged) || errors.Is(err, recording.ErrLaterSchema) {
		return nil, fmt.Errorf("%w: %w", window.ErrRefused, err)
	}
	if err != nil {
		return nil, fmt.Errorf("take window: %w", err)
	}
	return rows.Make(w, r), nil
}

// inMemory is a recording of so many bytes, read at once where it is small: its tables are read in
// hundreds of pieces.
func inMemory(file *os.File, size int64) (io.ReaderAt, error) {
	if size > maxSmall {
		return file, nil
	}
	content := make([]byte, size)
	if _, err := file.ReadAt(content, 0); err != nil {
		return nil, err
	}
	return bytes.NewReader(content), nil
}

// put moves an upload to the place where the next start finds it, its manifest first.
func (s *Store) put(w *window.Window, upload string) error {
	line, err := w.Manifest()
	if err != nil {
		return err
	}
	at := s.incoming(w.Content)
	if err := os.WriteFile(at+window.ManifestSuffix, line, 0o600); err != nil {
		return fmt.Errorf("take window: %w", err)
	}
	if err := os.Rename(upload, at+window.RecordingSuffix); err != nil {
		return fmt.Errorf("take window: %w", err)
	}
	return nil
}

// claim says that a content is being taken; false where it already is.
func (s *Store) claim(content string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.claimed[content] {
		return false
	}
	s.claimed[content] = true
	return true
}

func (s *Store) release(content string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.claimed, content)
}

func (s *Store) discard(content string) {
	os.Remove(s.incoming(content) + window.RecordingSuffix)
	os.Remove(s.incoming(content) + window.ManifestSuffix)
}

func (s *Store) incoming(content string) string { return filepath.Join(s.directory, incoming, content) }

// file is where a window's recording lies for good, without its suffix: by day, which is what is
// kept and thrown away.
func (s *Store) file(start time.Time, content string) string {
	return filepath.Join(s.directory, raw, start.UTC().Format(time.DateOnly), content)
}

// has tells whether a window is acknowledged.
func (s *Store) has(w *window.Window) bool {
	if s.waiting.has(w.Content) {
		return true
	}
	_, err := os.Stat(s.file(w.Start, w.Content) + window.RecordingSuffix)
	return err == nil
}
