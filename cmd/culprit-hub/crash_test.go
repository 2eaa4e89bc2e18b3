package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/internal/fleet/store"
	"culprit/internal/fleet/window"
)

// relink makes a file appear at another place too, or vanish from its own.
func relink(t *testing.T, from, to string, stays bool) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(from, to); err != nil {
		t.Fatal(err)
	}
	if !stays {
		if err := os.Remove(from); err != nil {
			t.Fatal(err)
		}
	}
}

// A hub that is killed while it moves the files of a window, in either direction, loses none and
// counts none twice, whether their rows are there or lost.
func TestKilledBetweenTwoMoves(t *testing.T) {
	one := fleetOf(t, 1, 1)[0]
	states := map[string]func(t *testing.T, incoming, raw string){
		"manifest in both": func(t *testing.T, incoming, raw string) {
			relink(t, raw+window.ManifestSuffix, incoming+window.ManifestSuffix, true)
		},
		"recording back, manifest in both": func(t *testing.T, incoming, raw string) {
			relink(t, raw+window.ManifestSuffix, incoming+window.ManifestSuffix, true)
			relink(t, raw+window.RecordingSuffix, incoming+window.RecordingSuffix, false)
		},
		"both back": func(t *testing.T, incoming, raw string) {
			relink(t, raw+window.ManifestSuffix, incoming+window.ManifestSuffix, false)
			relink(t, raw+window.RecordingSuffix, incoming+window.RecordingSuffix, false)
		},
	}
	for name, leave := range states {
		for _, lost := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", rows lost"}[lost], func(t *testing.T) {
				directory := t.TempDir()
				s := openStore(t, directory)
				takeAll(t, s, []upload{one})
				s.Close()
				raw := filepath.Join(directory, "raw", one.w.Start.Format(time.DateOnly), one.w.Content)
				leave(t, filepath.Join(directory, "incoming", one.w.Content), raw)
				if lost {
					if err := os.Remove(filepath.Join(directory, databaseFile)); err != nil {
						t.Fatal(err)
					}
				}
				checkOne(t, directory, one)
			})
		}
	}
}

// checkWindows says where a store does not count so many windows of one service.
func checkWindows(t *testing.T, s *store.Store, want int64) {
	t.Helper()
	services, err := s.Asking().Services(t.Context())
	if err != nil || len(services) != 1 || services[0].Windows != want {
		t.Errorf("%+v, %v; want %d windows", services, err, want)
	}
}

// checkOne opens a store that has to have a window, once, whole and for good.
func checkOne(t *testing.T, directory string, one upload) {
	t.Helper()
	s := openStore(t, directory)
	defer s.Close()
	if _, err := s.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if known := takeAll(t, s, []upload{one}); known != 1 {
		t.Error("an acknowledged window is not known")
	}
	checkWindows(t, s, 1)
	if left, _ := os.ReadDir(filepath.Join(directory, "incoming")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if kept, _ := filepath.Glob(filepath.Join(directory, "raw", "*", "*")); len(kept) != 2 {
		t.Errorf("kept %v", kept)
	}
}

// held is an engine that writes when it is let.
type held struct {
	store.Engine
	began, let chan struct{}
}

func (h held) Append(ctx context.Context, shard int, attempt int64, batches []store.Batch) error {
	h.began <- struct{}{}
	<-h.let
	return h.Engine.Append(ctx, shard, attempt, batches)
}

// An agent that lost its patience comes again while its window is still being written: it is not
// written twice.
func TestSentAgainWhileItIsWritten(t *testing.T) {
	directory := t.TempDir()
	engine, err := openDuck(t.Context(), directory, "")
	if err != nil {
		t.Fatal(err)
	}
	h := held{engine, make(chan struct{}, 10), make(chan struct{}, 10)}
	s, err := store.Open(t.Context(), directory, h, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	one := fleetOf(t, 1, 1)[0]
	gone, leave := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, _, err := s.Take(gone, bytes.NewReader(one.body), one.w.Content)
		first <- err
	}()
	<-h.began
	leave()
	if _, _, err := s.Take(t.Context(), bytes.NewReader(one.body), one.w.Content); err == nil ||
		!strings.Contains(err.Error(), "just being taken") {
		t.Errorf("taken a second time: %v", err)
	}
	h.let <- struct{}{}
	h.let <- struct{}{} // where it is written twice
	if err := <-first; err != nil {
		t.Error(err)
	}
	if known := takeAll(t, s, []upload{one}); known != 1 {
		t.Error("it is not known")
	}
	checkWindows(t, s, 1)
}

// A window whose file could not be kept is not acknowledged; its rows are not written a second time
// when it comes again.
func TestAFileThatCannotBeKept(t *testing.T) {
	directory := t.TempDir()
	s := openStore(t, directory)
	defer s.Close()
	one := fleetOf(t, 1, 1)[0]
	day := filepath.Join(directory, "raw", one.w.Start.Format(time.DateOnly))
	if err := os.WriteFile(day, nil, 0o600); err != nil { // a file where the folder of the day is to be
		t.Fatal(err)
	}
	if _, _, err := s.Take(t.Context(), bytes.NewReader(one.body), one.w.Content); err == nil {
		t.Fatal("acknowledged though its file is not kept")
	}
	if err := os.Remove(day); err != nil {
		t.Fatal(err)
	}
	if known := takeAll(t, s, []upload{one}); known != 1 {
		t.Error("its rows are not known")
	}
	checkWindows(t, s, 1)
}
