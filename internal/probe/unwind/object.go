package unwind

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	_ "unsafe" // for go:linkname

	_ "go.opentelemetry.io/ebpf-profiler/support" // has the object
)

// What the library loads is fixed in its object file, for a host of any size: interpreters that are
// not there, 64 MB of arrays that are cleared only to say what others will look like (kernel:
// bpf_map_alloc of each inner map), and tables for 65,536 processes. Together that is more than
// half of what loading costs. So it is given a lean copy: the object is not exported, hence the
// linkname, and a test says when a new version has it no longer; then object is empty and the
// library loads what it always did.

//go:linkname object go.opentelemetry.io/ebpf-profiler/support.tracerData
var object []byte

// withObject calls what reads the object and tells it which: when that is to be the lean one and
// there is one, that.
func withObject(lean bool, load func(lean bool) error) error {
	if !lean {
		return load(false)
	}
	whole := object
	smaller, err := leanObject(whole)
	if err != nil {
		return load(false)
	}
	object = smaller
	defer func() { object = whole }()
	return load(true)
}

// leanObject copies an object, with an empty program for each run time's, smaller maps, and one map
// of stack deltas.
func leanObject(whole []byte) ([]byte, error) {
	file, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		return nil, fmt.Errorf("read the unwinder's object: %w", err)
	}
	lean, err := oneDeltaObject(whole, file)
	if err != nil {
		return nil, err
	}
	for _, runTime := range runTimes {
		for name := range runTime.programs {
			if err := emptyProgram(lean, file, "perf_event/"+name); err != nil {
				return nil, err
			}
		}
	}
	types, err := sectionNamed(file, ".BTF")
	if err != nil {
		return nil, err
	}
	raw, err := file.Sections[types].Data()
	if err != nil {
		return nil, fmt.Errorf("read the unwinder's types: %w", err)
	}
	smaller, err := smallerMaps(raw)
	if err != nil {
		return nil, err
	}
	moveSection(lean, types, uint64(len(lean)), uint64(len(smaller)))
	return append(lean, smaller...), nil
}

// nothing is the program "return 0".
var nothing = []byte{0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0}

// emptyProgram makes the program that is a section return at once, and takes its relocations away.
func emptyProgram(object []byte, file *elf.File, name string) error {
	program, err := sectionNamed(file, name)
	if err != nil {
		return err
	}
	relocations, err := sectionNamed(file, ".rel"+name)
	if err != nil {
		return err
	}
	section := file.Sections[program]
	if section.Size < uint64(len(nothing)) {
		return fmt.Errorf("the unwinder's program %s is empty", name)
	}
	copy(object[section.Offset:], nothing)
	moveSection(object, program, section.Offset, uint64(len(nothing)))
	moveSection(object, relocations, file.Sections[relocations].Offset, 0)
	return resizeSymbols(object, file, program, uint64(len(nothing)))
}

// resizeSymbols gives the functions of a section, which is one, another size.
func resizeSymbols(object []byte, file *elf.File, section int, size uint64) error {
	table, err := sectionNamed(file, ".symtab")
	if err != nil {
		return err
	}
	symbols, err := file.Symbols()
	if err != nil {
		return fmt.Errorf("read the unwinder's symbols: %w", err)
	}
	for i, symbol := range symbols {
		if int(symbol.Section) == section && elf.ST_TYPE(symbol.Info) == elf.STT_FUNC {
			at := file.Sections[table].Offset + uint64(i+1)*elf.Sym64Size // Symbols leaves the first, empty one out
			binary.LittleEndian.PutUint64(object[at+symbolSizeAt:], size)
		}
	}
	return nil
}

func sectionNamed(file *elf.File, name string) (int, error) {
	for i, section := range file.Sections {
		if section.Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the unwinder's object has no section %s", name)
}

// Places in an ELF file of 64 bits.
const (
	headersAt    = 0x28 // in its header: offset of the section headers
	headerBytes  = 64   // of one section header
	offsetAt     = 0x18 // in a section header
	sizeAt       = 0x20
	symbolSizeAt = 0x10 // in a symbol

	relocationBytes = 16
	relocatedAt     = 0xc // in a relocation: the number of its symbol
)

// moveSection says in the header of a section where it is now. The object was read as ELF before.
func moveSection(object []byte, section int, offset, size uint64) {
	header := binary.LittleEndian.Uint64(object[headersAt:]) + uint64(section)*headerBytes
	binary.LittleEndian.PutUint64(object[header+offsetAt:], offset)
	binary.LittleEndian.PutUint64(object[header+sizeAt:], size)
}
