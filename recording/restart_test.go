package recording

import (
	"path/filepath"
	"strings"
	"testing"
)

// Restarts are told in one blind spot, on the clock of the whole that parts were joined to, and of
// a part that was cut out by its own.
func TestRestartsOfParts(t *testing.T) {
	folder := t.TempDir()
	var parts []string
	for i, restarts := range [][]Restart{nil, {{Pid: 12, NewPid: 34, AwayNs: 4e8}},
		{{TimeNs: 1e9, Pid: 34, NewPid: 56}, {TimeNs: 2e9, Pid: 56}}} {
		part := &Recording{Manifest: Manifest{Schema: SchemaVersion, WindowNs: 5e9}}
		part.Manifest.AddRestarts(restarts...)
		parts = append(parts, filepath.Join(folder, string(rune('a'+i))))
		if err := Write(parts[i], part); err != nil {
			t.Fatal(err)
		}
	}
	whole := filepath.Join(folder, "whole")
	if err := Join(whole, parts, nil); err != nil {
		t.Fatal(err)
	}
	rec, err := Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	m := &rec.Manifest
	if len(m.Restarts) != 3 || m.Restarts[0].TimeNs != 5e9 || m.Restarts[1].TimeNs != 11e9 {
		t.Fatalf("%+v", m.Restarts)
	}
	if len(m.BlindSpots) != 1 || m.BlindSpots[0].Count != 3 {
		t.Fatalf("%+v", m.BlindSpots)
	}
	for _, want := range []string{"process 12 ended after 5s, process 34 was followed 400ms later",
		"process 56 ended after 12s and none came in its place"} {
		if text := m.BlindSpots[0].String(); !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if within := Between(m.Restarts, 10e9, 12e9); len(within) != 1 || within[0].TimeNs != 1e9 {
		t.Errorf("%+v", within)
	}
	if left := m.WithoutRestarts(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}
