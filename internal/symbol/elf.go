package symbol

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

const (
	maxHeaderBytes  = 16 << 20  // read for headers and section names
	maxStringTable  = 128 << 20 // one .strtab
	maxSymbolEntry  = 8 << 20   // entries of one .symtab, functions or not
	symbolChunk     = 4096      // entries read at a time
	functionType    = byte(elf.STT_FUNC)
	indirectType    = byte(elf.STT_GNU_IFUNC)
	firstReserved   = uint16(elf.SHN_LORESERVE)
	extendedSection = uint16(elf.SHN_XINDEX)
)

// ErrNoSymbols says that a file names no function at all.
var ErrNoSymbols = errors.New("no function symbols")

// Options say where more symbols of a file may lie.
type Options struct {
	Root         string // debug files are searched below it: "/proc/PID/root" for a container; "" is "/"
	Path         string // of the file below Root, for its debug link; "" when unknown
	NoDebugFiles bool   // use what the file itself holds
	Lasts        bool   // the file stays open as long as its table: names are read from it when they are asked for
	Unnamed      bool   // of a stripped file also functions known by their address alone: "+0x4f5c()", behind its name
	mapped       uint64 // bytes of DWARF that may be mapped beside what is unpacked
}

// Open reads the symbols of the file at a path below a root.
func Open(root, path string, options Options) (*Table, error) {
	file, err := openBelow(root, path)
	if err != nil {
		return nil, fmt.Errorf("open symbols of %s: %w", path, err)
	}
	defer file.Close()
	options.Root, options.Path = root, path
	table, err := Load(file, options)
	if err != nil {
		return nil, fmt.Errorf("read symbols of %s: %w", path, err)
	}
	return table, nil
}

// Load reads the function symbols of an ELF file: .symtab and .dynsym; when
// there is no .symtab also those of its debug file and of .gnu_debugdata; and
// the stubs that call other libraries, as "write@plt". It reads only headers
// and symbols, however large the file is.
func Load(r io.ReaderAt, options Options) (*Table, error) {
	return load(r, options, "")
}

// load returns an error, too, where a library that it reads with panics over a hostile or changing
// file.
func load(r io.ReaderAt, options Options, prefer string) (table *Table, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			table, err = nil, fmt.Errorf("read symbols: %v", broken)
		}
	}()
	file, err := openELF(r)
	if err != nil {
		return nil, err
	}
	builder := &tableBuilder{prefer: prefer, refer: options.Lasts}
	whole, err := addSymbols(builder, file, elf.SHT_SYMTAB)
	if err != nil {
		return nil, err
	}
	builder.refer = false
	if _, err := addSymbols(builder, file, elf.SHT_DYNSYM); err != nil {
		return nil, err
	}
	if !whole {
		// Each is an addition to what the file itself says: a damaged one takes nothing away.
		_ = addMiniDebug(builder, file)
		if !options.NoDebugFiles {
			addDebugFile(builder, file, options)
		}
	}
	addStubs(builder, file)
	if options.Unnamed && !whole {
		addUnnamed(builder, file)
	}
	if len(builder.entries) == 0 {
		return nil, ErrNoSymbols
	}
	table = builder.table()
	table.file = r
	return table, nil
}

// openELF reads an ELF file's headers. debug/elf is not hardened against
// hostile files: what it may read is bounded, and a panic becomes an error.
func openELF(r io.ReaderAt) (file *elf.File, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			file, err = nil, fmt.Errorf("read ELF headers: %v", broken)
		}
	}()
	limited := &budgetReader{source: r, left: maxHeaderBytes}
	file, err = elf.NewFile(limited)
	if err != nil {
		return nil, fmt.Errorf("read ELF headers: %w", err)
	}
	limited.left = -1
	return file, nil
}

var errBudget = errors.New("headers larger than the limit")

// budgetReader reads at most left bytes; a negative left is no limit.
type budgetReader struct {
	source io.ReaderAt
	left   int64
}

func (b *budgetReader) ReadAt(p []byte, offset int64) (int, error) {
	if b.left >= 0 {
		if int64(len(p)) > b.left {
			return 0, errBudget
		}
		b.left -= int64(len(p))
	}
	return b.source.ReadAt(p, offset)
}

// addSymbols adds the functions of every section of a kind; found says whether there is one with
// functions.
func addSymbols(builder *tableBuilder, file *elf.File, kind elf.SectionType) (found bool, err error) {
	before := len(builder.entries)
	for _, section := range file.Sections {
		if section.Type != kind || section.Flags&elf.SHF_COMPRESSED != 0 {
			continue
		}
		if err := addSection(builder, file, section); err != nil {
			return false, fmt.Errorf("read %s: %w", section.Name, err)
		}
	}
	return len(builder.entries) > before, nil
}

func addSection(builder *tableBuilder, file *elf.File, section *elf.Section) error {
	entrySize := elf.Sym64Size
	if file.Class == elf.ELFCLASS32 {
		entrySize = elf.Sym32Size
	}
	count := section.FileSize / uint64(entrySize)
	if count > maxSymbolEntry {
		return fmt.Errorf("%d symbols are more than the limit of %d", count, maxSymbolEntry)
	}
	if section.Link == 0 || int(section.Link) >= len(file.Sections) {
		return errors.New("it has no string table")
	}
	texts, err := sectionData(file.Sections[section.Link], maxStringTable)
	if err != nil {
		return fmt.Errorf("read %s: %w", file.Sections[section.Link].Name, err)
	}
	if builder.refer && builder.texts == 0 { // a file has one .symtab; the names of a second are copied
		builder.texts = int64(file.Sections[section.Link].Offset)
	} else {
		builder.refer = false
	}
	chunk := make([]byte, symbolChunk*entrySize)
	for at := uint64(0); at < count; {
		n := min(count-at, symbolChunk)
		data := chunk[:n*uint64(entrySize)]
		if _, err := section.ReadAt(data, int64(at)*int64(entrySize)); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for ; len(data) > 0; data = data[entrySize:] {
			addSymbol(builder, file, parseSymbol(file, data), texts)
		}
		at += n
	}
	return nil
}

// sectionData reads a whole section. Its last byte is read first, so that a
// file that ends before it costs no memory.
func sectionData(section *elf.Section, limit uint64) ([]byte, error) {
	if section.Type == elf.SHT_NOBITS || section.Flags&elf.SHF_COMPRESSED != 0 || section.FileSize == 0 {
		return nil, errors.New("section without data")
	}
	if section.FileSize > limit {
		return nil, fmt.Errorf("%d bytes are more than the limit of %d", section.FileSize, limit)
	}
	var last [1]byte
	if n, err := section.ReadAt(last[:], int64(section.FileSize)-1); n != 1 {
		return nil, fmt.Errorf("file ends before its section: %w", err)
	}
	data := make([]byte, section.FileSize)
	if n, err := section.ReadAt(data, 0); n != len(data) {
		return nil, err
	}
	return data, nil
}

type rawSymbol struct {
	name        uint32
	info        byte
	section     uint16
	value, size uint64
}

func parseSymbol(file *elf.File, data []byte) rawSymbol {
	order := file.ByteOrder
	if file.Class == elf.ELFCLASS32 {
		return rawSymbol{name: order.Uint32(data), value: uint64(order.Uint32(data[4:])),
			size: uint64(order.Uint32(data[8:])), info: data[12], section: order.Uint16(data[14:])}
	}
	return rawSymbol{name: order.Uint32(data), info: data[4], section: order.Uint16(data[6:]),
		value: order.Uint64(data[8:]), size: order.Uint64(data[16:])}
}

func addSymbol(builder *tableBuilder, file *elf.File, symbol rawSymbol, texts []byte) {
	if kind := symbol.info & 0xF; kind != functionType && kind != indirectType {
		return
	}
	if symbol.section == 0 || symbol.value == 0 || uint64(symbol.name) >= uint64(len(texts)) {
		return
	}
	if symbol.section >= firstReserved && symbol.section != extendedSection {
		return
	}
	entry := symbolEntry{start: symbol.value, size: symbol.size, rank: rankGlobal}
	if elf.ST_BIND(symbol.info) == elf.STB_LOCAL {
		entry.rank = rankLocal
	}
	if file.Machine == elf.EM_ARM {
		entry.start &^= 1 // says Thumb, is no address
	}
	if int(symbol.section) < len(file.Sections) {
		section := file.Sections[symbol.section]
		entry.end = section.Addr + section.Size
	}
	entry.name = symbolName(texts[symbol.name:])
	if builder.refer {
		entry.at = symbol.name + 1
	}
	builder.add(entry)
}

// symbolName ends at the zero byte or at the version that linkers add ("write@@GLIBC_2.2.5").
func symbolName(text []byte) []byte {
	for i, c := range text {
		if c == 0 || c == '@' && i > 0 || i == maxNameBytes {
			return text[:i]
		}
	}
	return text
}
