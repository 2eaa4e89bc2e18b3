package unwind

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.opentelemetry.io/ebpf-profiler/libpf"
)

// A Go program's table that was forgotten is read again, and only for a call site that is new.
func TestGoCodeAfterForget(t *testing.T) {
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	code := openGoCode(own)
	if code == nil {
		t.Fatal("this test is a Go program")
	}
	for range 2 {
		for _, again := range []bool{false, true} {
			address := returnAddress() // two call sites: this one, and the next
			if again {
				address = returnAddress()
			}
			const called = "culprit/internal/probe/unwind.returnAddress"
			if got := code.skipped("leaf", address); got != called {
				t.Errorf("before %#x %q is called", address, got)
			}
			if got := code.skipped(called, address); got != "" {
				t.Errorf("between a function and itself %q is missing", got)
			}
		}
		if code.Forget(); code.table != nil || len(code.called) != 2 {
			t.Errorf("forgotten, it has a table (%v) and %d call sites", code.table != nil, len(code.called))
		}
	}
}

//go:noinline
func returnAddress() uint64 {
	var callers [1]uintptr
	runtime.Callers(2, callers[:])
	return uint64(callers[0])
}

// Only a file that was removed, that nobody asked for and whose process has ended is forgotten.
func TestForgetModules(t *testing.T) {
	folder := t.TempDir()
	open := func(name string, remove bool) *os.File {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() }) // closed before where it is forgotten
		if remove {
			if err := os.Remove(file.Name()); err != nil {
				t.Fatal(err)
			}
		}
		return file
	}
	const never = libpf.PID(1<<22 + 1) // beyond PID_MAX_LIMIT
	there, gone := libpf.NewFileID(1, 1), libpf.NewFileID(2, 2)
	asked, lives := libpf.NewFileID(3, 3), libpf.NewFileID(4, 4)
	u := &Unwinder{tables: map[libpf.FileID]*module{
		there: {file: open("there", false), pid: never},
		gone:  {file: open("gone", true), pid: never},
		asked: {file: open("asked", true), pid: never},
		lives: {file: open("lives", true), pid: libpf.PID(os.Getpid())},
	}}
	for range keptUnused + 1 {
		if len(u.tables) != 4 {
			t.Fatalf("%d of 4 files are known after %d windows", len(u.tables), u.window)
		}
		u.forgetModules()
		u.moduleOf(asked)
	}
	if u.tables[there] == nil || u.tables[gone] != nil || u.tables[asked] == nil || u.tables[lives] == nil {
		t.Errorf("known are %v", u.tables)
	}
}
