package code

import (
	"strings"
	"testing"

	"culprit/recording"
)

func native(name, module string) recording.Frame {
	return recording.Frame{Name: name, Kind: recording.KindNative, Module: module}
}

// An interpreter's file has its name, a version and how it was built, and nothing else: a program
// whose name begins like it has code of its own.
func TestInterpretersByFile(t *testing.T) {
	for _, module := range strings.Fields(`python3 python3.11 python2.7 python3.13t python3.11d
		python3.8-dbg pypy3 pypy3.10 node nodejs node20 node-18 deno bun java ruby ruby2.7 ruby3.1 perl
		perl5.36.0 perl5.36-x86_64-linux-gnu php8.2 php php-fpm8.2 php-fpm php-cgi8.2 lua5.4 lua luajit
		luajit-2.1.0-beta3 dash bash bash-5.2 busybox zsh ksh93 tclsh8.6 guile-3.0 mawk
		/usr/bin/python3.12
		libpython3.11.so.1.0 libjvm.so libjava.so libnode.so.108 libruby-3.1.so.3.1 libperl.so.5.36
		libphp8.2.so libluajit-5.1.so.2 libcoreclr.so`) {
		if got := OwnerOf(native("dispatch", module)); got != Runtime {
			t.Errorf("a function of %s is of owner %d, want that of a run time", module, got)
		}
	}
	for _, module := range strings.Fields(`dashboard node_exporter javabridge pythonista nodeagent
		rubyless perlin phpmyapp pythond-server bashful node-exporter java-agent rubyfmt php-parser
		perl-lsp lualine luau bunny denoise busybee zshield nodes javac1 python-worker linux-agent
		libcrow.so /opt/dash-board libjavabridge.so
		libnodeeditor.so libpythonic.so libzipper.so libnetwork.so libcurler.so`) {
		if got := OwnerOf(native("dispatch", module)); got != Program {
			t.Errorf("a function of %s is of owner %d, want that of the program", module, got)
		}
	}
}

func TestStandardLibrariesByFile(t *testing.T) {
	for _, module := range strings.Fields(`libc.so.6 libc-2.31.so libm.so.6 libpthread-2.31.so
		ld-linux-x86-64.so.2 ld-musl-x86_64.so.1 ld-2.28.so libstdc++.so.6.0.30 libc++.so.1 libgcc_s.so.1
		libc.musl-x86_64.so.1 libnss_files-2.31.so [vdso] linux-vdso.so.1 libz.so libtcmalloc_minimal.so.4
		libjemalloc.so.2 libmimalloc.so libasan.so.8`) {
		if got := OwnerOf(native("dispatch", module)); got != Standard {
			t.Errorf("a function of %s is of owner %d, want that of a standard library", module, got)
		}
	}
}

// A program that has Node or CPython inside, under a name of its own, shows their functions; a
// program that only calls its functions alike shows none beside them.
func TestRunTimesInsideAProgram(t *testing.T) {
	stack := func(names ...string) []recording.Frame {
		var frames []recording.Frame
		for _, name := range names {
			frames = append(frames, native(name, "planner"))
		}
		return frames
	}
	for _, each := range []struct {
		names []string
		want  int // the innermost of the program's own
	}{
		{[]string{"main", "node::Tree::insert", "node::hash"}, 2},
		{[]string{"main", "uv_unwrap", "uv_project"}, 2},
		{[]string{"main", "PyramidLevel::build"}, 1},
		{[]string{"main", "PyramidBuild"}, 1},
		{[]string{"runtime.goexit", "main.serve", "pack", "fmt.Fprintf", "memmove"}, 2},
		{[]string{"main", "pack", "PyList_Append", "Py_DECREF", "_Py_Dealloc"}, 1},
		{[]string{"main", "plan", "node::Start", "node::SpinEventLoop", "uv_run", "uv_timer_start"}, 1},
		{[]string{"main", "plan", "v8::internal::Heap::CollectGarbage", "node::Buffer::New"}, 1},
		{[]string{"main", "fetch", "uv_run", "uv__io_poll", "uv_on_read", "on_reply"}, 5},
	} {
		if got := Innermost(stack(each.names...)); got != each.want {
			t.Errorf("innermost of %v is %d, want %d", each.names, got, each.want)
		}
	}
}
