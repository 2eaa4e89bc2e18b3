package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"culprit/internal/agent/lookup"
	"culprit/internal/compare/prepare"
	"culprit/recording"
)

// side is the recordings of one side and what they are called.
type side struct {
	names      []string
	recordings []*recording.Recording
}

func (o *compareOptions) read(w world, words []string) (a, b side, err error) {
	filesA, filesB := o.a, o.b
	if len(words) == 2 {
		filesA, filesB = words[:1], words[1:]
	}
	windows, err := findWindows(w, o.agentDir, slices.Concat(filesA, filesB))
	if err != nil {
		return a, b, err
	}
	windowA, windowB := "", ""
	if len(o.windows) > 0 {
		windowA, windowB = o.windows[0], o.windows[len(o.windows)-1]
	}
	if a, err = o.readSide(filesA, windowA, windows); err == nil {
		b, err = o.readSide(filesB, windowB, windows)
	}
	return a, b, err
}

func (o *compareOptions) readSide(files []string, window string, windows agentWindows) (side, error) {
	var s side
	opened := map[string]*recording.Recording{} // windows of one file are read once
	var seen []stretch
	for _, file := range files {
		if found := windows[file]; found != nil {
			if o.service != "" {
				return s, fmt.Errorf("%s names its service: --service is for files", file)
			}
			var err error
			if seen, err = s.takeWindows(found, seen); err != nil {
				return s, err
			}
			continue
		}
		path, part := splitWindow(file)
		if part == "" {
			part = window
		}
		rec := opened[path]
		if rec == nil {
			var err error
			if rec, err = o.open(path); err != nil {
				return s, err
			}
			opened[path] = rec
		}
		now := stretch{file: file, of: identity(path, rec), to: rec.Manifest.WindowNs}
		if part != "" {
			var err error
			if now.from, now.to, err = parseWindow(part); err == nil {
				rec, err = prepare.Cut(rec, now.from, now.to)
			}
			if err != nil {
				return s, fmt.Errorf("%s: %w", file, err)
			}
		}
		if err := now.apart(seen); err != nil {
			return s, err
		}
		seen = append(seen, now)
		s.names = append(s.names, filepath.Base(file))
		s.recordings = append(s.recordings, prepare.Measured(rec))
	}
	return s, nil
}

// open reads a recording, or what a window of a host tells of the service that was asked for.
func (o *compareOptions) open(path string) (*recording.Recording, error) {
	if o.service == "" {
		return recording.Open(path)
	}
	return lookup.OfFile(path, o.service)
}

// takeWindows adds the windows of an agent, each as a recording of its own.
func (s *side) takeWindows(found *lookup.Found, seen []stretch) ([]stretch, error) {
	for i, one := range found.Windows {
		now := stretch{file: windowName(found, i), of: one.Manifest.Content, to: one.Recording.Manifest.WindowNs}
		if err := now.apart(seen); err != nil {
			return seen, err
		}
		seen = append(seen, now)
		s.names = append(s.names, now.file)
		s.recordings = append(s.recordings, prepare.Measured(one.Recording))
	}
	return seen, nil
}

// stretch is what one word of a side stands for.
type stretch struct {
	file, of string // as typed; which recording it is
	from, to int64
}

// apart refuses a stretch of time that a side has already: counted twice it would look like two
// runs that agree.
func (s stretch) apart(seen []stretch) error {
	for _, other := range seen {
		if other.of == s.of && s.from < other.to && other.from < s.to {
			return fmt.Errorf("%s and %s are the same recording: counted twice it would look like two runs that agree; "+
				"give each once, or windows that do not overlap", other.file, s.file)
		}
	}
	return nil
}

// identity tells a recording from others, also from a copy of it under another name.
func identity(path string, rec *recording.Recording) string {
	m := &rec.Manifest
	if rec.Imported() == "" && !m.StartedAt.IsZero() {
		return fmt.Sprint(m.Host, " ", m.StartedAt.UnixNano(), " ", m.Target)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if real, err := filepath.Abs(path); err == nil {
		path = real
	}
	return path
}
