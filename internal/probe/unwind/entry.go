package unwind

import (
	"encoding/binary"
	"io"

	"go.opentelemetry.io/ebpf-profiler/libpf"
)

// A stack that ends where the kernel began to run a program, or its dynamic linker, is whole. But
// the code there has no unwind rule (ld.so's _start), and the library takes that for a stack that
// broke: the first ones of each program.

// entryBytes is how far from its first instruction an entry calls what runs on: ld.so's does at its
// seventh byte.
const entryBytes = 32

// wholeFromEntry leaves out that a stack broke where it ends at an entry.
func (u *Unwinder) wholeFromEntry(frames libpf.Frames) libpf.Frames {
	if len(frames) < 2 || !frames[len(frames)-1].Value().Type.IsError() {
		return frames
	}
	root := frames[len(frames)-2].Value()
	if root.Type != libpf.NativeFrame || !root.Mapping.Valid() {
		return frames
	}
	entry, address := u.moduleOf(fileOf(root).FileID).entry, uint64(root.AddressOrLineno)
	if entry == 0 || address < entry || address-entry >= entryBytes {
		return frames
	}
	return frames[:len(frames)-1]
}

// entryOf reads the entry address of a 64-bit ELF file (elf(5)); 0 where it is none.
func entryOf(file io.ReaderAt) uint64 {
	var header [32]byte
	if _, err := file.ReadAt(header[:], 0); err != nil || string(header[:5]) != "\x7fELF\x02" {
		return 0
	}
	return binary.LittleEndian.Uint64(header[24:])
}
