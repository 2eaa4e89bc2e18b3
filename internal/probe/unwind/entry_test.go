package unwind

import (
	"bytes"
	"debug/elf"
	"os"
	"testing"

	"go.opentelemetry.io/ebpf-profiler/libpf"
)

func TestEntryOf(t *testing.T) {
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	parsed, err := elf.NewFile(own)
	if err != nil {
		t.Fatal(err)
	}
	if got := entryOf(own); got != parsed.Entry || got == 0 {
		t.Errorf("entry %#x, want %#x", got, parsed.Entry)
	}
	for _, none := range []string{"", "#!/bin/sh\necho 0123456789012345678901234567890", "\x7fELF\x02"} {
		if got := entryOf(bytes.NewReader([]byte(none))); got != 0 {
			t.Errorf("%q has the entry %#x", none, got)
		}
	}
}

// Only a stack that ends in the first instructions of a file is whole without a rule for them.
func TestStackIsWholeFromTheEntry(t *testing.T) {
	id := libpf.NewFileID(1, 2)
	u := &Unwinder{tables: map[libpf.FileID]*module{id: {entry: 0x1000}}}
	mapped := libpf.NewFrameMapping(libpf.FrameMappingData{File: libpf.NewFrameMappingFile(libpf.FrameMappingFileData{
		FileID: id})})
	for _, test := range []struct {
		address uint64
		breaks  bool
		want    int
	}{{0x1007, true, 2}, {0x1000, true, 2}, {0xfff, true, 3}, {0x1000 + entryBytes, true, 3}, {0x1007, false, 2}} {
		var frames libpf.Frames
		frames.Append(&libpf.Frame{Type: libpf.NativeFrame, AddressOrLineno: 0x5000, Mapping: mapped})
		frames.Append(&libpf.Frame{Type: libpf.NativeFrame, AddressOrLineno: libpf.AddressOrLineno(test.address),
			Mapping: mapped})
		if test.breaks {
			frames.Append(&libpf.Frame{Type: libpf.NativeFrame.Error(), AddressOrLineno: 4005})
		}
		if got := u.wholeFromEntry(frames); len(got) != test.want {
			t.Errorf("from %#x, broken %v: %d frames, want %d", test.address, test.breaks, len(got), test.want)
		}
	}
}
