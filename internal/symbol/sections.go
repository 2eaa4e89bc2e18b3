package symbol

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// sections are a file's DWARF. Of most files a few compilation units are asked for: sections are
// mapped, so that only what is looked at takes memory, and that is the page cache's. (Read whole, a
// Python with DWARF took 20 MB.) Sections that are compressed, as Go's are, are unpacked. Whoever
// reads them must bear a fault: the file can be cut short.
type sections struct {
	data  *dwarf.Data
	info  []byte
	found map[string][]byte // all of them, by their names without .debug_
	order binary.ByteOrder
	whole []byte // the mapped file
}

func openSections(file *os.File) (*sections, error) {
	status, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("map file: %w", err)
	}
	parsed, err := elf.NewFile(io.NewSectionReader(file, 0, 1<<62))
	if err != nil {
		return nil, fmt.Errorf("read ELF headers: %w", err)
	}
	whole, err := unix.Mmap(int(file.Fd()), 0, int(status.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map file: %w", err)
	}
	s := &sections{whole: whole, order: parsed.ByteOrder}
	if err := s.parse(parsed); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close unmaps the file: nothing that was read out of data may be used any more but text and
// numbers.
func (s *sections) close() {
	if s.whole != nil {
		_ = unix.Munmap(s.whole) // fails only where it is not mapped
		s.whole, s.data, s.info, s.found = nil, nil, nil, nil
	}
}

func (s *sections) parse(file *elf.File) error {
	found := map[string][]byte{}
	for _, section := range file.Sections {
		name, is := strings.CutPrefix(strings.Replace(section.Name, ".zdebug_", ".debug_", 1), ".debug_")
		if !is || section.Type == elf.SHT_NOBITS {
			continue
		}
		data, err := s.content(section)
		if err != nil {
			return fmt.Errorf("read %s: %w", section.Name, err)
		}
		found[name] = data
	}
	s.info, s.found = found["info"], found
	var err error
	s.data, err = dwarf.New(found["abbrev"], nil, nil, s.info, found["line"], nil, found["ranges"], found["str"])
	if err != nil {
		return fmt.Errorf("read DWARF: %w", err)
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} { // of DWARF 5
		if err := s.data.AddSection(".debug_"+name, found[name]); err != nil {
			return fmt.Errorf("read DWARF: %w", err)
		}
	}
	if types := found["types"]; types != nil {
		if err := s.data.AddTypes("types", types); err != nil {
			return fmt.Errorf("read DWARF: %w", err)
		}
	}
	return nil
}

func (s *sections) content(section *elf.Section) ([]byte, error) {
	if isCompressed(section) {
		return section.Data()
	}
	if section.Offset > uint64(len(s.whole)) || section.FileSize > uint64(len(s.whole))-section.Offset {
		return nil, io.ErrUnexpectedEOF
	}
	return s.whole[section.Offset : section.Offset+section.FileSize], nil
}

func isCompressed(section *elf.Section) bool {
	return section.Flags&elf.SHF_COMPRESSED != 0 || strings.HasPrefix(section.Name, ".zdebug_")
}

// Types of units of DWARF 5 (its section 7.5.1) whose header is longer.
const (
	unitType          = 0x02
	unitSkeleton      = 0x04
	unitSplitCompile  = 0x05
	unitSplitType     = 0x06
	unitID, signature = 8, 8 // bytes
)

// unitEntries lists where the first entry of each unit is: units are jumped over by their length.
// The library's SkipChildren reads every entry of a unit.
func (s *sections) unitEntries() (entries []dwarf.Offset) {
	for at := uint64(0); at+12 <= uint64(len(s.info)); {
		unit := s.info[at:]
		length, offsetBytes, header := uint64(s.order.Uint32(unit)), uint64(4), uint64(4)
		if length == 0xffffffff {
			length, offsetBytes, header = s.order.Uint64(unit[4:]), 8, 12
		}
		if length < 7 || length > uint64(len(unit))-header { // version, abbreviations, size of an address
			return entries
		}
		entries = append(entries, dwarf.Offset(at+header+s.headerRest(unit[header:], offsetBytes)))
		at += header + length
	}
	return entries
}

// headerRest is how long a unit's header is behind its length.
func (s *sections) headerRest(unit []byte, offsetBytes uint64) uint64 {
	if s.order.Uint16(unit) < 5 {
		return 2 + offsetBytes + 1
	}
	rest := 2 + 1 + 1 + offsetBytes
	switch unit[2] {
	case unitSkeleton, unitSplitCompile:
		rest += unitID
	case unitType, unitSplitType:
		rest += signature + offsetBytes
	}
	return rest
}
