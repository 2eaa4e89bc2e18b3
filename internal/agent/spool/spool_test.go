package spool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/fleet/window"
	"culprit/recording"
)

var begin = time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)

func open(t *testing.T, folder string, keep int64) *Spool {
	t.Helper()
	s, err := Open(folder, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // it may be closed, or its disk full
	return s
}

// reopen is the next start of the agent.
func reopen(t *testing.T, s *Spool) *Spool {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, s.folder, s.keep)
}

// write puts a recording where the recorder does.
func write(t *testing.T, s *Spool, entry Entry, bytes int) {
	t.Helper()
	rec := &recording.Recording{Manifest: recording.Manifest{Host: "web-1", StartedAt: entry.Start, WindowNs: 60e9}}
	for i := range bytes / 100 {
		rec.Facts = append(rec.Facts, recording.Fact{Name: "fact", Value: strings.Repeat(string(rune('a'+i%26)), 90)})
	}
	if err := recording.Write(s.Incoming(entry), rec); err != nil {
		t.Fatal(err)
	}
}

// manifestOf describes a recording.
func manifestOf(t *testing.T, path string, entry Entry) *window.Window {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	id, size, err := window.ContentID(file)
	if err != nil {
		t.Fatal(err)
	}
	return &window.Window{Schema: window.Schema, Content: id, Bytes: size, Kind: entry.Kind, Host: "web-1",
		Sequence: entry.Sequence, Start: entry.Start, End: entry.Start.Add(time.Minute), LengthNs: 60e9,
		Services: []window.Service{{Name: "web", Pids: []int32{7}}}}
}

// add makes a window.
func add(t *testing.T, s *Spool, minute int) (Entry, *window.Window) {
	t.Helper()
	entry := s.Next(begin.Add(time.Duration(minute)*time.Minute), window.Light)
	write(t, s, entry, 0)
	manifest := manifestOf(t, s.Incoming(entry), entry)
	if err := s.Add(entry, manifest); err != nil {
		t.Fatal(err)
	}
	return entry, manifest
}

func sequences(entries []Entry) (numbers []int64) {
	for _, entry := range entries {
		numbers = append(numbers, entry.Sequence)
	}
	return numbers
}

func TestWindowsAreKeptAndListed(t *testing.T) {
	s := open(t, t.TempDir(), 64<<20)
	for minute := range 3 {
		add(t, s, minute)
	}
	listed, err := List(s.folder)
	if err != nil || !slices.Equal(sequences(listed), []int64{1, 2, 3}) || !listed[1].Start.Equal(begin.Add(time.Minute)) {
		t.Fatalf("listed %+v, %v", listed, err)
	}
	manifest, err := ManifestOf(s.folder, listed[1])
	if err != nil || manifest.Sequence != 2 {
		t.Fatalf("manifest %+v, %v", manifest, err)
	}
	if rec, err := recording.Open(RecordingOf(s.folder, listed[1])); err != nil || rec.Manifest.Host != "web-1" {
		t.Fatalf("recording: %v", err)
	}
	if _, err := Open(s.folder, 64<<20); !errors.Is(err, ErrInUse) {
		t.Errorf("a second agent: %v", err)
	}
	if !InUse(s.folder) {
		t.Error("the folder is not in use")
	}
	again := reopen(t, s)
	if next := again.Next(begin, window.Light); next.Sequence != 4 {
		t.Errorf("after a restart the next number is %d", next.Sequence)
	}
}

// The oldest windows go first, and those that the hub has not are counted.
func TestBoundDropsTheOldest(t *testing.T) {
	s := open(t, t.TempDir(), LeastKeep)
	s.ShipTo("https://hub")
	first, _ := add(t, s, 0)
	s.MarkSent(first, false)
	size := s.Bytes()
	count := int(LeastKeep/size) + 3
	for minute := 1; minute < count; minute++ {
		add(t, s, minute)
	}
	kept := s.All()
	if s.Bytes() > LeastKeep || kept[0].Sequence != 4 || kept[len(kept)-1].Sequence != int64(count) {
		t.Fatalf("kept %d to %d in %d bytes", kept[0].Sequence, kept[len(kept)-1].Sequence, s.Bytes())
	}
	state := s.State()
	if state.Removed != 3 || state.Dropped != 2 || !state.DroppedFrom.Equal(begin.Add(time.Minute)) ||
		!state.DroppedTo.Equal(begin.Add(2*time.Minute)) {
		t.Errorf("state %+v", state)
	}
	_, manifest := add(t, s, count)
	if manifest.Dropped == 0 {
		t.Error("the next window does not tell of those that were dropped")
	}
	if _, manifest = add(t, s, count+1); manifest.Dropped > 1 {
		t.Errorf("the one after it tells of %d again", manifest.Dropped)
	}
	files, err := os.ReadDir(filepath.Join(s.folder, windowsFolder))
	if err != nil || len(files) != 2*len(s.All()) {
		t.Errorf("%d files for %d windows, %v", len(files), len(s.All()), err)
	}
}

// What a crash can leave: temporary files, a recording without its manifest, a manifest without its
// recording, files that are cut off or empty. Whole windows stay, the others are counted, nothing
// stops the start.
func TestCrashLeavesNothingBehind(t *testing.T) {
	s := open(t, t.TempDir(), 64<<20)
	var entries []Entry
	for minute := range 6 {
		entry, _ := add(t, s, minute)
		entries = append(entries, entry)
	}
	truncate(t, s.Recording(entries[1]), 100)
	truncate(t, s.Manifest(entries[2]), 10)
	remove(t, s.Recording(entries[3]))
	remove(t, s.Manifest(entries[4]))
	orphan := s.Next(begin.Add(7*time.Minute), window.Light)
	write(t, s, orphan, 0)
	cut := s.Next(begin.Add(8*time.Minute), window.Full)
	write(t, s, cut, 0)
	truncate(t, s.Incoming(cut), 50)
	for _, name := range []string{"windows/.x.culprit.1f.tmp", "incoming/.y.culprit.2f.tmp", "incoming/other"} {
		if err := os.WriteFile(filepath.Join(s.folder, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	remove(t, filepath.Join(s.folder, stateName)) // it is lost as well
	again := reopen(t, s)
	if kept := sequences(again.All()); !slices.Equal(kept, []int64{1, 6}) {
		t.Errorf("kept %v", kept)
	}
	orphans, err := again.Orphans()
	if err != nil || !slices.Equal(sequences(orphans), []int64{5, 7}) {
		t.Errorf("orphans %v, %v", orphans, err)
	}
	for _, entry := range orphans {
		if err := again.Add(entry, manifestOf(t, again.Incoming(entry), entry)); err != nil {
			t.Error(err)
		}
	}
	if kept := sequences(again.All()); !slices.Equal(kept, []int64{1, 5, 6, 7}) {
		t.Errorf("kept %v after the adoption", kept)
	}
	if state := again.State(); state.Torn != 5 || state.Adopted != 2 {
		t.Errorf("torn %d, adopted %d", state.Torn, state.Adopted)
	}
	if next := again.Next(begin, window.Light); next.Sequence != 9 {
		t.Errorf("the next number is %d: one is given twice", next.Sequence)
	}
	left, err := os.ReadDir(filepath.Join(again.folder, incomingFolder))
	if err != nil || len(left) != 0 {
		t.Errorf("incoming has %v, %v", left, err)
	}
}

func truncate(t *testing.T, path string, bytes int64) {
	t.Helper()
	if err := os.Truncate(path, bytes); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

func TestShipsOldestFirst(t *testing.T) {
	s := open(t, t.TempDir(), 64<<20)
	s.ShipTo("https://a")
	for minute := range 3 {
		add(t, s, minute)
	}
	for want := int64(1); want <= 3; want++ {
		entry, there := s.Unsent()
		if !there || entry.Sequence != want {
			t.Fatalf("the next to send is %+v, want %d", entry, want)
		}
		s.MarkSent(entry, want == 2)
	}
	if _, there := s.Unsent(); there || s.State().Refused != 1 {
		t.Errorf("state %+v", s.State())
	}
	s = reopen(t, s)
	s.ShipTo("https://a")
	if s.CountUnsent() != 0 {
		t.Error("after a restart windows are sent again")
	}
	s.ShipTo("https://b")
	if s.CountUnsent() != 3 {
		t.Error("another hub does not get the windows that are kept")
	}
	if !s.Answer("x") || s.Answer("x") {
		t.Error("a wish is answered twice")
	}
}

func TestRefusesFolders(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder, 64<<20); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a folder that all may write: %v", err)
	}
	if _, err := Open(t.TempDir(), 1000); err == nil {
		t.Error("a bound of 1000 bytes is taken")
	}
}

// On a disk that others fill the oldest windows go, but not the last of them; what is written is
// whole.
func TestFullDisk(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	folder := t.TempDir()
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
		t.Skipf("mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := open(t, folder, 64<<20)
	for minute := range leastLeft + 10 {
		add(t, s, minute)
	}
	if err := os.WriteFile(filepath.Join(folder, "other"), make([]byte, free(folder)-8<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if !s.MakeRoom(64<<10) || free(folder) < 64<<10 || len(s.All()) >= leastLeft+10 {
		t.Errorf("no room was made: %d bytes free, %d windows", free(folder), len(s.All()))
	}
	if s.MakeRoom(1 << 20) {
		t.Error("room for more than there is")
	}
	if len(s.All()) != leastLeft {
		t.Errorf("%d windows are left", len(s.All()))
	}
	if err := os.WriteFile(filepath.Join(folder, "more"), make([]byte, free(folder)), 0o600); err != nil {
		t.Fatal(err)
	}
	entry := s.Next(begin.Add(time.Hour), window.Light)
	rec := &recording.Recording{Manifest: recording.Manifest{Host: "web-1"}}
	if err := recording.Write(s.Incoming(entry), rec); !errors.Is(err, recording.ErrNoSpace) {
		t.Errorf("a recording on a full disk: %v", err)
	}
	if err := s.Save(); err == nil {
		t.Error("the state is written on a full disk")
	}
	if err := s.Close(); err == nil { // but the folder is free
		t.Error("the state is written on a full disk")
	}
	again := open(t, folder, 64<<20)
	if len(again.All()) != leastLeft {
		t.Errorf("after a restart %d windows are left", len(again.All()))
	}
}
