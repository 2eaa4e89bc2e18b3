package oncpu

import (
	"os"
	"testing"
	"unsafe"

	"culprit/internal/probe/mapped"
)

// What a process has mapped is read as the kernel writes it; memory right behind a file's is the
// file's, other memory without one is nobody's.
func TestPlaces(t *testing.T) {
	of := &program{}
	for _, line := range []string{
		"55d0c0000000-55d0c0001000 r-xp 00000000 fd:01 77 /opt/a b",
		"55d0c0001000-55d0c0002000 rw-p 00001000 fd:01 77 /opt/a b",
		"55d0c0002000-55d0c0003000 rw-p 00000000 00:00 0 ",
		"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 [heap]",
		"not a mapping", "5-", "2-1 r-xp 0 0:0 0 ", "x-y r-xp 0 0:0 0 ",
	} {
		if one, ok := mapped.Parse(line); ok {
			of.mappings = append(of.mappings, mapping{Mapping: one})
		}
	}
	if len(of.mappings) != 3 {
		t.Fatalf("%+v", of.mappings)
	}
	for address, start := range map[uint64]uint64{0x55d0c0000010: 0x55d0c0000000, 0x55d0c0001fff: 0x55d0c0001000,
		0x55d0c0002000: 0x55d0c0001000, 0x7f0000000000: 0, 0x10: 0} {
		found := of.fileOf(address)
		if (found == nil) != (start == 0) || found != nil && (found.Start != start || found.Path != "/opt/a b") {
			t.Errorf("%#x is in %+v", address, found)
		}
	}
}

// named is what the test looks for in its own process.
var named struct{ first, second int64 }

// A variable of this very process has its name; what is not mapped has none, and files are closed.
func TestNameOfOwnVariable(t *testing.T) {
	places, pid := newPlaces(), int32(os.Getpid())
	one := access{address: uint64(uintptr(unsafe.Pointer(&named.second))), size: 8, base: -1}
	places.know(pid, []uint64{one.address, 0x1000})
	defer places.close()
	if _, _, ok := places.in(pid, one.address); !ok {
		t.Skip("this user may not open what it has mapped (/proc/PID/map_files)")
	}
	found, ok := places.name(pid, &one)
	if ok && (found.Object != "culprit/internal/probe/oncpu.named" || found.Field != "" && found.Field != ".second") {
		t.Errorf("%+v", found)
	}
	if _, ok := places.name(pid, &access{address: 0x1000, base: -1}); ok {
		t.Error("memory that is not mapped has a name")
	}
}
