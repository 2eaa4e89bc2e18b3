package symbol

import (
	"debug/elf"
	"encoding/binary"
)

const (
	maxUnwindIndex = 32 << 20
	indexHeader    = 12 // version, three encodings, address of .eh_frame, number of entries
	indexEntry     = 8  // start of a function, address of its unwind table; both from the index's own address
	// unwindEncodings are those that linkers write (Linux Standard Base, "DWARF Extensions"):
	// version 1; .eh_frame as four bytes from here; the number as four bytes; entries as four
	// signed bytes from the start of the index.
	unwindEncodings = 1 | 0x1b<<8 | 0x03<<16 | 0x3b<<24
)

// addUnnamed adds the functions that only the index of a file's unwind tables tells: stripped files
// keep where functions start, for exceptions. Their name is what stands behind the module's:
// "+0x4f5c()"; it is made when it is asked for: a compiler's functions are a hundred thousand.
func addUnnamed(builder *tableBuilder, file *elf.File) {
	section := file.Section(".eh_frame_hdr")
	if section == nil || file.ByteOrder != binary.LittleEndian {
		return
	}
	data, err := sectionData(section, maxUnwindIndex)
	if err != nil || len(data) < indexHeader || binary.LittleEndian.Uint32(data) != unwindEncodings {
		return
	}
	count := uint64(binary.LittleEndian.Uint32(data[indexHeader-4:]))
	entries := data[indexHeader:]
	for i := uint64(0); i < count && (i+1)*indexEntry <= uint64(len(entries)); i++ {
		offset := int32(binary.LittleEndian.Uint32(entries[i*indexEntry:]))
		start := section.Addr + uint64(int64(offset))
		if end := codeEnd(file, start); end > 0 {
			builder.add(symbolEntry{start: start, end: end, rank: rankUnnamed})
		}
	}
}

// codeEnd is where the code section around an address ends, 0 where there is none.
func codeEnd(file *elf.File, address uint64) uint64 {
	for _, section := range file.Sections {
		if section.Flags&elf.SHF_EXECINSTR != 0 && address >= section.Addr && address-section.Addr < section.Size {
			return section.Addr + section.Size
		}
	}
	return 0
}
