package code

import (
	"slices"
	"testing"

	"culprit/recording"
)

func TestOwn(t *testing.T) {
	const library = "/usr/lib/python3.11/subprocess.py"
	native := func(name string) recording.Frame {
		return recording.Frame{Name: name, Kind: recording.KindNative, Module: "prog"}
	}
	for _, test := range []struct {
		frame recording.Frame
		want  bool
	}{
		{recording.Frame{Name: "slices.SortFunc[...]", Kind: recording.KindGo}, false},
		{recording.Frame{Name: "github.com/x/y.(*T).Do", Kind: recording.KindGo}, true},
		{recording.Frame{Name: "sentinel/core.Tick.func1", Kind: recording.KindGo}, true},
		{recording.Frame{Name: "aeshashbody", Kind: recording.KindGo}, false},
		{recording.Frame{Name: "Interpreter", Kind: recording.KindJVM}, false},
		{recording.Frame{Name: "org.acme.Shop.sell", Kind: recording.KindJVM}, true},
		{recording.Frame{Name: "run", Kind: recording.KindPython, File: library}, false},
		{recording.Frame{Name: "run", Kind: recording.KindPython, File: "/srv/app.py"}, true},
		{recording.Frame{Name: "writeSync", Kind: recording.KindNode, File: "node:fs"}, false},
		{recording.Frame{Name: "save", Kind: recording.KindNode, File: "/srv/app.js"}, true},
		{native("__memmove_avx_unaligned_erms"), false},
		{native("memcpy_rows"), true},
		{native("core::slice::sort"), false},
		{native("prog::index"), true},
		{native("<&std::fs::File as std::io::Read>::read"), false},
		{native("<R as std::io::SpecReadByte>::spec_read_byte"), false},
		{native("<prog::Tap as std::io::Read>::read"), true},
		{native("usize::unchecked_add"), false},
		{native("usizes::add"), true},
		{native("prog"), false},
		{recording.Frame{Name: "vfs_write", Kind: recording.KindKernel}, false},
	} {
		if got := Own([]recording.Frame{test.frame})[0]; got != test.want {
			t.Errorf("%s %s: %v", test.frame.Kind, test.frame.Name, got)
		}
	}
}

// Subs of Perl are a program's own code below perl's interpreter, but for those of its library;
// its own functions in C are none then. Frames of other kinds that have a file are nobody's.
func TestPerlOwn(t *testing.T) {
	native := func(name string) recording.Frame {
		return recording.Frame{Name: name, Kind: recording.KindNative, Module: "perl"}
	}
	sub := func(name, file string) recording.Frame {
		return recording.Frame{Name: name, Kind: recording.KindOther, File: file, Line: 7}
	}
	frames := []recording.Frame{native("main"), native("Perl_runops_standard"),
		sub(PerlMain, "src/gate.pl"), sub("Stamp::ask", "/srv/lib/Stamp.pm"),
		sub("POSIX::strftime", "/usr/lib/x86_64-linux-gnu/perl/5.36/POSIX.pm"),
		sub("Date::Parse::str2time", "/usr/share/perl5/Date/Parse.pm"),
		sub("Carp::croak", "/usr/share/perl/5.36/Carp.pm"), sub("Made::up", "(eval 3)"),
		native("Perl_pp_backtick"), {Name: "embedded", Kind: recording.KindNative, Module: "srv"}}
	want := []bool{false, false, true, true, false, false, false, false, false, false}
	if got := Own(frames); !slices.Equal(got, want) {
		t.Errorf("the application's own: %v, want %v", got, want)
	}
	if !IsEntry(frames[2]) || IsEntry(frames[3]) {
		t.Error("a script outside of its subs is where it begins, a sub is not")
	}
	if own := Own([]recording.Frame{sub("f", "/srv/f.lua")}); own[0] {
		t.Error("a frame of an unknown interpreter is taken for Perl's")
	}
}

// Code of a dependency that is another one on the other side is the program's own, but for what
// interprets it and what every program has of C.
func TestChangedIsOwn(t *testing.T) {
	const library = "/srv/lib/python3.11/site-packages/tables/sheet.py"
	main := recording.Frame{Name: "main", Kind: recording.KindPython, File: "/srv/app.py"}
	for _, test := range []struct {
		frame recording.Frame
		want  bool
	}{
		{recording.Frame{Name: "cells", Kind: recording.KindPython, File: library}, true},
		{recording.Frame{Name: "split_row", Kind: recording.KindNative, Module: "_speed.cpython-311.so"}, true},
		{recording.Frame{Name: "PyObject_Call", Kind: recording.KindNative, Module: "_speed.cpython-311.so"}, false},
		{recording.Frame{Name: "deflate_slow", Kind: recording.KindNative, Module: "libz.so.1.3"}, true},
		{recording.Frame{Name: "memcpy", Kind: recording.KindNative, Module: "libz.so.1.3"}, false},
		{recording.Frame{Name: "eval_frame", Kind: recording.KindNative, Module: "python3.11"}, false},
		{recording.Frame{Name: "vfs_read", Kind: recording.KindKernel}, false},
	} {
		if got := Own([]recording.Frame{main, test.frame})[1]; got {
			t.Errorf("%s is the program's own without a change", test.frame.Name)
		}
		test.frame.Changed = "tables 3.1.0 → 3.2.0"
		if got := Own([]recording.Frame{main, test.frame})[1]; got != test.want {
			t.Errorf("%s, changed: %v", test.frame.Name, got)
		}
	}
}
