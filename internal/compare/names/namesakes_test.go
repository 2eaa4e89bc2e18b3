package names

import (
	"slices"
	"testing"

	"culprit/internal/code"
	"culprit/recording"
)

// A name is one function unless a recording has it in two files; versions of a file are one.
func TestNamesakes(t *testing.T) {
	python := func(name, file string) recording.Frame {
		return recording.Frame{Name: name, Kind: recording.KindPython, File: file}
	}
	native := func(name, module string) recording.Frame {
		return recording.Frame{Name: name, Kind: recording.KindNative, Module: module}
	}
	for _, each := range []struct {
		name string
		a, b []recording.Frame
		want []string // of a, then of b
	}{
		{"two scripts", []recording.Frame{python("f", "/srv/load.py"), python("f", "/srv/plan.py")},
			[]recording.Frame{python("f", "/srv/load.py")}, []string{"f load.py", "f plan.py", "f load.py"}},
		{"modules", []recording.Frame{python("<module>", "/srv/shop/__init__.py"),
			python("<module>", "/srv/cart/__init__.py")}, nil,
			[]string{"<module> shop/__init__.py", "<module> cart/__init__.py"}},
		{"a script and a library", []recording.Frame{python("run", "/usr/lib/python3.9/threading.py"),
			python("run", "/srv/load.py")}, nil, []string{"run threading.py", "run"}},
		{"libraries alone", []recording.Frame{python("run", "/usr/lib/python3.9/threading.py"),
			python("run", "/usr/lib/python3.9/queue.py")}, nil, []string{"run", "run"}},
		{"a file that was renamed", []recording.Frame{python("run", "/srv/old.py")},
			[]recording.Frame{python("run", "/srv/new.py")}, []string{"run", "run"}},
		{"a function that moved, of two",
			[]recording.Frame{python("run", "/srv/a.py"), python("run", "/srv/b.py")},
			[]recording.Frame{python("run", "/srv/a.py"), python("run", "/srv/c.py")},
			[]string{"run a.py", "run b.py", "run a.py", "run c.py"}},
		{"releases", []recording.Frame{python("run", "/srv/a-1.2.py")},
			[]recording.Frame{python("run", "/srv/a-1.3.py")}, []string{"run", "run"}},
		{"a program and a library",
			[]recording.Frame{native("find", "libsqlite3.so.0"), native("find", "shop")},
			[]recording.Frame{native("find", "shop2")}, []string{"find libsqlite3.so.0", "find", "find"}},
		{"a program and an interpreter",
			[]recording.Frame{native("main", "python3.11"), native("main", "shop")}, nil,
			[]string{"main python3.11", "main"}},
		{"a program and its plug-in",
			[]recording.Frame{native("hash", "shop"), native("hash", "shop_plugin.so")}, nil,
			[]string{"hash", "hash"}},
	} {
		a := []*recording.Recording{{Frames: each.a}}
		b := []*recording.Recording{{Frames: each.b}}
		pool := New(a, b, nil)
		var got []string
		for _, frame := range slices.Concat(each.a, each.b) {
			got = append(got, pool.frames[pool.frame(frame)].Name)
		}
		if !slices.Equal(got, each.want) {
			t.Errorf("%s: names %q, want %q", each.name, got, each.want)
		}
	}
}

// What a program begins with stays that under a name that tells its file.
func TestNamesakesOfEntries(t *testing.T) {
	for name, want := range map[string]bool{"<module> load.py": true, "main load.py": true,
		"main": true, "<lambda> load.py": false, "run load.py": false} {
		if got := code.IsEntry(recording.Frame{Name: name, Kind: recording.KindPython}); got != want {
			t.Errorf("%s is an entry: %v", name, got)
		}
	}
}
