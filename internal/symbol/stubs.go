package symbol

import (
	"debug/elf"
)

const (
	maxStubs       = 1 << 16
	stubBytes      = 16
	stubSuffix     = "@plt"
	relaEntryBytes = 24
	maxStubNames   = 32 << 20
)

// addStubs names the stubs through which a file calls other libraries. Linkers
// write them in the order of .rela.plt: on x86-64 in .plt.sec, or in .plt behind
// one special stub; on arm64 in .plt behind two.
func addStubs(builder *tableBuilder, file *elf.File) {
	relocations := file.Section(".rela.plt")
	stubs, first := file.Section(".plt.sec"), uint64(0)
	if stubs == nil {
		stubs, first = file.Section(".plt"), 1
	}
	switch {
	case relocations == nil || stubs == nil || file.Class != elf.ELFCLASS64:
		return
	case file.Machine == elf.EM_AARCH64:
		first = 2
	case file.Machine != elf.EM_X86_64:
		return
	}
	symbols, names, ok := stubNames(file, relocations)
	if !ok {
		return
	}
	data, err := sectionData(relocations, maxStubs*relaEntryBytes)
	if err != nil {
		return
	}
	for i := uint64(0); (i+1)*relaEntryBytes <= uint64(len(data)); i++ {
		offset := (first + i) * stubBytes
		if offset+stubBytes > stubs.Size {
			return
		}
		number := file.ByteOrder.Uint64(data[i*relaEntryBytes+8:]) >> 32
		var raw [elf.Sym64Size]byte
		if number == 0 || number*elf.Sym64Size >= symbols.FileSize {
			continue
		}
		if n, _ := symbols.ReadAt(raw[:], int64(number)*elf.Sym64Size); n < len(raw) {
			return
		}
		if at := file.ByteOrder.Uint32(raw[:]); uint64(at) < uint64(len(names)) {
			name := symbolName(names[at:])
			name = append(name[:len(name):len(name)], stubSuffix...)
			builder.add(symbolEntry{start: stubs.Addr + offset, size: stubBytes, name: name, rank: rankStub})
		}
	}
}

// stubNames returns the symbols that the relocations refer to, and their string table.
func stubNames(file *elf.File, relocations *elf.Section) (symbols *elf.Section, names []byte, ok bool) {
	if int(relocations.Link) >= len(file.Sections) {
		return nil, nil, false
	}
	symbols = file.Sections[relocations.Link]
	if symbols.Type != elf.SHT_DYNSYM || int(symbols.Link) >= len(file.Sections) {
		return nil, nil, false
	}
	names, err := sectionData(file.Sections[symbols.Link], maxStubNames)
	return symbols, names, err == nil
}
