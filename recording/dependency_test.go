package recording

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
)

func dependency(name, version, evidence string) Dependency {
	return Dependency{Kind: DependencyPython, Name: name, Version: version, Place: "/s/" + name, Evidence: evidence,
		Source: "/s/" + name + ".dist-info", Packages: ""}
}

// The table is read back as it was; recordings without it are read as before.
func TestDependenciesRoundTrip(t *testing.T) {
	r := &Recording{Manifest: Manifest{Schema: SchemaVersion, Metrics: map[string]float64{}},
		Dependencies: []Dependency{dependency("jinja2", "3.1.4", SeenRunning), {Kind: DependencyKernel, Name: "linux"}}}
	var file bytes.Buffer
	if err := Encode(&file, r); err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || !slices.Equal(got.Dependencies, r.Dependencies) {
		t.Errorf("%+v, %v", got, err)
	}
	old, err := Open("testdata/schema1.culprit")
	if err != nil || old.Dependencies != nil {
		t.Errorf("%+v, %v", old, err)
	}
	r.Dependencies = make([]Dependency, MaxDependencies+1)
	if err := Encode(&file, r); err == nil {
		t.Error("more than the limit is written")
	}
}

// What any part saw is in the whole, by the surest evidence.
func TestJoinDependencies(t *testing.T) {
	folder := t.TempDir()
	var parts []string
	for i, rows := range [][]Dependency{
		{dependency("jinja2", "3.1.4", SeenOpened), dependency("six", "1", SeenInstalled)},
		nil,
		{dependency("jinja2", "3.1.4", SeenRunning), dependency("late", "2", SeenMapped)},
	} {
		part := filepath.Join(folder, string(rune('a'+i)))
		r := &Recording{Manifest: Manifest{Schema: SchemaVersion, WindowNs: 1e9, Metrics: map[string]float64{}},
			Dependencies: rows}
		if err := Write(part, r); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	whole := filepath.Join(folder, "whole")
	if err := Join(whole, parts, nil); err != nil {
		t.Fatal(err)
	}
	got, err := Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	want := []Dependency{dependency("jinja2", "3.1.4", SeenRunning), dependency("six", "1", SeenInstalled),
		dependency("late", "2", SeenMapped)}
	if !slices.Equal(got.Dependencies, want) {
		t.Errorf("%+v", got.Dependencies)
	}
}
