package unwind

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	"go.opentelemetry.io/ebpf-profiler/processmanager/execinfomanager"
	"golang.org/x/sys/unix"
)

// Fails when a new version of the library keeps elsewhere what book.go reads and lends.
func TestLibraryHasMappingsOfProcesses(t *testing.T) {
	manager := &processmanager.ProcessManager{}
	if err := (&book{manager: manager}).findInfos(); err != nil {
		t.Error(err)
	}
	if _, err := fieldOf[*execinfomanager.ExecutableInfoManager](manager, "eim"); err != nil {
		t.Error(err)
	}
	if _, err := fieldAt[sync.RWMutex](manager, "mu"); err != nil {
		t.Error(err)
	}
}

// Code is noticed by the file as it was modified last: what was written over is to be seen twice
// again.
func TestCodeIsSeenTwice(t *testing.T) {
	b := &book{known: map[codeKey]processmanager.Mapping{}, seen: map[codeKey]seenCode{}}
	files := newHeldFiles()
	mapping := processmanager.Mapping{Device: 8<<8 | 1, Inode: 5, FrameMapping: libpf.NewFrameMapping(
		libpf.FrameMappingData{Start: 0x1000, End: 0x2000, FileOffset: 0x1000})}
	key, modified := b.keyOf(&mapping, files)
	if want := (codeKey{5, 0x1000, 8<<20 | 1}); key != want || modified >= 0 {
		t.Errorf("%v modified %d; a file that was not looked at has no time", key, modified)
	}
	files.asked[fileNumber{mapping.Device, mapping.Inode}] = 70
	b.learn(1, []processmanager.Mapping{mapping}, files)
	b.learn(1, []processmanager.Mapping{mapping}, files)
	if got := b.seen[key]; got != (seenCode{modified: 70, pid: 1}) || len(b.known) > 0 {
		t.Errorf("%v, known %v: one process has it", got, b.known)
	}
	files.asked[fileNumber{mapping.Device, mapping.Inode}] = 71
	b.learn(2, []processmanager.Mapping{mapping}, files)
	if got := b.seen[key]; got != (seenCode{modified: 71, pid: 2}) || len(b.known) > 0 {
		t.Errorf("%v, known %v: it was written over", got, b.known)
	}
}

// The kernel's number of a device is what a list of mappings shows of it, for the first 256 of a
// kind.
func TestDeviceAsTheKernelHasIt(t *testing.T) {
	shown := uint64(unix.Major(unix.Mkdev(259, 3)))<<8 + uint64(unix.Minor(unix.Mkdev(259, 3)))
	key, _ := (&book{}).keyOf(&processmanager.Mapping{Device: shown, Inode: 9,
		FrameMapping: libpf.NewFrameMapping(libpf.FrameMappingData{})}, newHeldFiles())
	if key.Device != 259<<20|3 {
		t.Errorf("%#x", key.Device)
	}
}

// bookedTable is an empty table of bookings.
func bookedTable(t *testing.T) *ebpf.Map {
	t.Helper()
	table, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Hash, MaxEntries: 2, KeySize: 4,
		ValueSize: uint32(unsafe.Sizeof(booked{}))})
	if err != nil {
		t.Skip("no BPF here: ", err)
	}
	t.Cleanup(func() { table.Close() })
	return table
}

// What was announced before a process was booked asks for no look; what came later does, and so
// does code that is not known.
func TestBookedSinceTheQueueWasAskedFor(t *testing.T) {
	table := bookedTable(t)
	for pid, since := range map[uint32]uint64{7: 9, 8: 0} {
		if err := table.Update(pid, &booked{Since: since}, ebpf.UpdateAny); err != nil {
			t.Fatal(err)
		}
	}
	b := &book{booked: table}
	if !b.has(7, 8) || b.has(7, 9) || b.has(8, 0) || b.has(6, 8) || (*book)(nil).has(7, 8) {
		t.Errorf("%v %v %v %v", b.has(7, 8), b.has(7, 9), b.has(8, 0), b.has(6, 8))
	}
}

// A value that the kernel writes must be one that the library of maps can read: its fields are
// exported.
func TestBookedIsReadBack(t *testing.T) {
	table := bookedTable(t)
	put := booked{Since: 9, Count: 2, Ranges: [mostRanges]codeRange{{1, 2}, {3, 4}}}
	var got booked
	if err := table.Update(uint32(7), &put, ebpf.UpdateAny); err != nil {
		t.Fatal(err)
	}
	if err := table.Lookup(uint32(7), &got); err != nil || got != put {
		t.Errorf("%v, %v", got, err)
	}
}
