package unwind

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"golang.org/x/sys/unix"
)

// A JVM's code must never be entered for it, not even before the library has seen that it is a JVM:
// the library enters nothing where something is, and gives up the process.
func TestCodeOfRunTimesIsLeftAlone(t *testing.T) {
	self := libpf.PID(os.Getpid())
	code, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(code) }()
	address := uint64(uintptr(unsafe.Pointer(&code[0])))
	has := func() bool {
		return slices.ContainsFunc(madeRegions(self), func(r region) bool { return address >= r.start && address < r.end })
	}
	if !has() {
		t.Error("anonymous code of this process is not found")
	}
	for _, name := range []string{"libffi.so.8", "libpython3.11.so", "libjvm.so"} {
		unmap := mapAs(t, filepath.Join(t.TempDir(), name))
		if found, wanted := has(), !makesOwnCode(name); found != wanted {
			t.Errorf("with %s mapped, the code is looked at: %v, wanted %v", name, found, wanted)
		}
		unmap()
	}
	if !makesOwnCode("/usr/lib/jvm/lib/server/libjvm.so") || !makesOwnCode("/usr/bin/node") || makesOwnCode("/bin/sh") {
		t.Error("run times are told apart wrongly")
	}
}

// mapAs maps a file of that path as code.
func mapAs(t *testing.T, path string) (unmap func()) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, os.Getpagesize()), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(int(file.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _, _ = unix.Munmap(mapped), file.Close() }
}
