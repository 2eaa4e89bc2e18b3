package spool

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"culprit/internal/fleet/window"
	"culprit/recording"
)

// maxManifestBytes bounds the manifest of a recording that is only looked at.
const maxManifestBytes = 4 << 20

// newest is how many of the newest windows are looked into at the start: what a crash can have
// torn.
const newest = 16

// recover lists what is there, removes temporary files, and sets aside what a crash left torn. A
// recording without a manifest goes back to the incoming ones.
func (s *Spool) recover() error {
	folder := filepath.Join(s.folder, windowsFolder)
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	manifests, recordings := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		path := filepath.Join(folder, file.Name())
		name, isManifest := strings.CutSuffix(file.Name(), window.ManifestSuffix)
		recorded, isRecording := strings.CutSuffix(file.Name(), window.RecordingSuffix)
		_, windows := parseEntry(name)
		_, recordeds := parseEntry(recorded)
		switch {
		case isTemporary(file.Name()):
			if err := os.Remove(path); err != nil {
				return err
			}
		case isManifest && windows:
			manifests[name] = true
		case isRecording && recordeds:
			recordings[recorded] = true
		}
	}
	for name := range manifests {
		entry, _ := parseEntry(name)
		if !recordings[name] {
			s.setAside(s.Manifest(entry))
			continue
		}
		entry.Bytes = sizeOf(s.Recording(entry)) + sizeOf(s.Manifest(entry))
		s.entries = append(s.entries, entry)
		s.bytes += entry.Bytes
	}
	sortEntries(s.entries)
	for name := range recordings {
		if manifests[name] {
			continue
		}
		entry, _ := parseEntry(name)
		if err := os.Rename(s.Recording(entry), s.Incoming(entry)); err != nil {
			return err
		}
	}
	s.checkNewest()
	if count := len(s.entries); count > 0 {
		s.state.Sequence = max(s.state.Sequence, s.entries[count-1].Sequence)
	}
	s.shrink(s.keep)
	return nil
}

// isTemporary tells what was being written when a process was killed.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
}

// checkNewest sets aside windows whose files are not what their manifest says.
func (s *Spool) checkNewest() {
	for at := len(s.entries) - 1; at >= 0 && at >= len(s.entries)-newest; at-- {
		if entry := s.entries[at]; s.Check(entry) != nil {
			s.SetAside(entry)
		}
	}
}

// Check tells what is wrong with a window on disk: nil for nothing, and for one that is gone.
func (s *Spool) Check(entry Entry) error {
	manifest, err := ManifestOf(s.folder, entry)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	file, err := os.Open(s.Recording(entry))
	if err != nil {
		return err
	}
	defer file.Close()
	id, size, err := window.ContentID(file)
	switch {
	case err != nil:
		return err
	case size != manifest.Bytes || id != manifest.Content:
		return fmt.Errorf("window %s: %w: its recording is not the one of its manifest", entry.Name, recording.ErrDamaged)
	}
	return nil
}

// SetAside moves a window that cannot be read out of the way and counts it.
func (s *Spool) SetAside(entry Entry) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	at := slices.IndexFunc(s.entries, func(e Entry) bool { return e.Name == entry.Name })
	if at < 0 {
		return
	}
	s.bytes -= s.entries[at].Bytes
	s.entries = slices.Delete(s.entries, at, at+1)
	_ = os.Remove(s.Manifest(entry)) // without it there is no window
	s.setAside(s.Recording(entry))
}

// setAside moves a file to the torn ones, of which the newest are kept.
func (s *Spool) setAside(path string) {
	s.state.Torn++
	if err := os.Rename(path, filepath.Join(s.folder, tornFolder, filepath.Base(path))); err != nil {
		_ = os.Remove(path) // as on a full disk
	}
	torn, err := os.ReadDir(filepath.Join(s.folder, tornFolder)) // by name, which is by age
	if err != nil {
		return
	}
	for _, file := range torn[:max(0, len(torn)-maxTorn)] {
		_ = os.Remove(filepath.Join(s.folder, tornFolder, file.Name()))
	}
}

// Orphans are recordings that a killed agent left without a manifest, the oldest first. Those that
// cannot be read are set aside. The others are added, or removed with Forget.
func (s *Spool) Orphans() (entries []Entry, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	folder := filepath.Join(s.folder, incomingFolder)
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("list incoming windows: %w", err)
	}
	for _, file := range files {
		path := filepath.Join(folder, file.Name())
		name, isRecording := strings.CutSuffix(file.Name(), window.RecordingSuffix)
		entry, is := parseEntry(name)
		if !is || !isRecording {
			if err := os.Remove(path); err != nil && !missing(err) {
				return nil, fmt.Errorf("remove %s: %w", path, err)
			}
			if isTemporary(file.Name()) {
				s.state.Torn++
			}
			continue
		}
		s.state.Sequence = max(s.state.Sequence, entry.Sequence)
		if err := readable(path); err != nil {
			s.setAside(path)
			continue
		}
		s.state.Adopted++
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return entries, nil
}

// readable looks whether a recording is whole, without its tables.
func readable(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	_, err = recording.ReadManifest(file, info.Size(), maxManifestBytes)
	return err
}

// Forget removes an incoming recording.
func (s *Spool) Forget(entry Entry) error {
	if err := os.Remove(s.Incoming(entry)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove incoming window: %w", err)
	}
	return nil
}

// Reject sets an incoming recording aside.
func (s *Spool) Reject(entry Entry) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.setAside(s.Incoming(entry))
}
