package symbol

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"
)

const (
	// maxMapped bounds the DWARF of a file that is mapped: of that only what is asked for is read.
	maxMapped  = 1 << 30
	clockEvery = 16 // entries
)

// bound is how much of one file is read.
type bound struct {
	entries int
	time    time.Duration
}

var ofFile = bound{4 << 20, 4 * time.Second}

// Member is a place in memory: an object and what of it.
type Member struct {
	Object string // a variable, or the type that a pointer points to; readable
	Field  string // ".seen", "[3].seen"; "" for the whole, or where the file does not say
}

// Variables names what lies in memory: a file's own variables by their address, and what its code
// reaches through a pointer by the instruction that does. It is safe for concurrent use.
type Variables struct {
	lines   *Lines // nil: no DWARF
	file    *os.File
	elf     *elf.File
	globals []global
	// perThread are variables that each thread has of its own, by where they lie in the file's
	// image of them.
	perThread []global
	asked     bool
	kept      []*function // those asked for last
	read      int         // entries
	most      bound
	spent     time.Duration
	began     time.Time // the question that is being answered
}

// OpenVariables reads a file, which Close closes, and its debug file where the options allow that.
func OpenVariables(file *os.File, options Options) (*Variables, error) {
	parsed, err := openELF(file)
	if err != nil {
		return nil, err
	}
	v := &Variables{file: file, elf: parsed, most: ofFile}
	options.mapped = maxMapped
	if v.lines, err = OpenLines(file, options); err != nil && !errors.Is(err, ErrNoLines) {
		return nil, err
	}
	return v, nil
}

// Close closes the files.
func (v *Variables) Close() error {
	if v.lines != nil {
		_ = v.lines.Close() // which is of its debug file, or of the same, which then closes once more
	}
	v.globals, v.perThread, v.kept, v.asked = nil, nil, nil, true
	return v.file.Close()
}

// At names what lies at an address, as the file counts it; not ok where no variable does.
func (v *Variables) At(address uint64, size int64) (found Member, ok bool) {
	if v.lines != nil {
		v.guarded(func() { found, ok = v.global(&v.globals, address, size) })
	}
	if ok {
		return found, true
	}
	return v.symbolAt(address, elf.STT_OBJECT)
}

// symbolAt names what the table of symbols has at an address.
func (v *Variables) symbolAt(address uint64, kind elf.SymType) (found Member, ok bool) {
	var name string
	v.guarded(func() { name, ok = v.object(address, kind) })
	return Member{Object: Demangle(name)}, ok && name != ""
}

// guarded runs what reads DWARF of a file that may be hostile, or be cut short meanwhile.
func (v *Variables) guarded(read func()) {
	if v.lines != nil {
		v.lines.mu.Lock()
		defer v.lines.mu.Unlock()
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	v.began = time.Now()
	defer func() {
		_ = recover() // debug/dwarf is not hardened
		v.spent += time.Since(v.began)
	}()
	if v.lines != nil && !v.lines.asked {
		v.lines.asked = true
		if err := v.lines.open(); err != nil {
			v.lines.forget()
		}
	}
	read()
}

// may reports whether more entries may be read.
func (v *Variables) may() bool {
	return v.read < v.most.entries &&
		(v.read%clockEvery != 0 || v.spent+time.Since(v.began) < v.most.time)
}

// next reads an entry; nil at the end, and where as many were read as a file is worth.
func (v *Variables) next(reader *dwarf.Reader) *dwarf.Entry {
	if v.read++; !v.may() {
		return nil
	}
	entry, err := reader.Next()
	if err != nil {
		return nil
	}
	return entry
}

// over passes over what is below an entry.
func (v *Variables) over(reader *dwarf.Reader, entry *dwarf.Entry) {
	if !entry.Children {
		return
	}
	if sibling, ok := entry.Val(dwarf.AttrSibling).(dwarf.Offset); ok && sibling > entry.Offset {
		reader.Seek(sibling)
		return
	}
	for depth := 1; depth > 0; {
		switch below := v.next(reader); {
		case below == nil:
			return
		case below.Tag == 0:
			depth--
		case below.Children:
			depth++
		}
	}
}

// global looks for the variable that DWARF has at an address.
func (v *Variables) global(list *[]global, address uint64, size int64) (Member, bool) {
	to, ok := v.among(list, address)
	if !ok || to.name == "" {
		return Member{}, false
	}
	return v.named(Demangle(to.name), v.member(to.typ, to.plus, size), to.typ, to.plus), true
}

// describe gives a variable's name and type, which may stand at its declaration.
func (v *Variables) describe(offset dwarf.Offset) (name string, typ dwarf.Offset) {
	v.lines.origins(offset, func(entry *dwarf.Entry) bool {
		if text, ok := entry.Val(dwarf.AttrName).(string); ok && name == "" {
			name = text
		}
		if of, ok := entry.Val(dwarf.AttrType).(dwarf.Offset); ok && typ == 0 {
			typ = of
		}
		return name == "" || typ == 0
	})
	return name, typ
}

// object looks for the symbol of data at an address.
func (v *Variables) object(address uint64, kind elf.SymType) (string, bool) {
	files := []*elf.File{v.elf}
	if v.lines != nil && v.lines.file != v.file {
		if apart, err := openELF(v.lines.file); err == nil {
			files = append(files, apart)
		}
	}
	for _, file := range files {
		for _, section := range file.Sections {
			if section.Type != elf.SHT_SYMTAB && section.Type != elf.SHT_DYNSYM {
				continue
			}
			if name, err := objectIn(file, section, address, kind); err == nil && name != "" {
				return name, true
			}
		}
	}
	return "", false
}

func objectIn(file *elf.File, section *elf.Section, address uint64, kind elf.SymType) (string, error) {
	if file.Class != elf.ELFCLASS64 || section.Link == 0 || int(section.Link) >= len(file.Sections) {
		return "", fmt.Errorf("read %s: no table of 64 bits", section.Name)
	}
	chunk := make([]byte, symbolChunk*elf.Sym64Size)
	for at := int64(0); at/elf.Sym64Size < maxSymbolEntry; {
		n, err := section.ReadAt(chunk, at)
		for data := chunk[:n]; len(data) >= elf.Sym64Size; data = data[elf.Sym64Size:] {
			symbol := parseSymbol(file, data)
			if elf.ST_TYPE(symbol.info) != kind || symbol.section == 0 ||
				address < symbol.value || address-symbol.value >= symbol.size {
				continue
			}
			var text [firstRead]byte
			n, _ := file.Sections[section.Link].ReadAt(text[:], int64(symbol.name))
			return string(symbolName(text[:n])), nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return "", err
		}
		at += int64(n)
	}
	return "", nil
}

// Bias is how far a mapped file lies above the addresses that it counts: start is where in memory
// the bytes from offset on are. Segments may have a page of the file in common, as lld lays them
// out: such a page is mapped twice, and a mapping that begins with it is of the segment that does.
func (v *Variables) Bias(start, offset uint64) (bias uint64, ok bool) {
	latest := uint64(0)
	for _, segment := range v.elf.Progs {
		if segment.Type != elf.PT_LOAD || segment.Align == 0 {
			continue
		}
		page := segment.Off &^ (segment.Align - 1)
		if offset >= page && offset < segment.Off+segment.Filesz && (!ok || page >= latest) {
			bias, latest, ok = start-offset+segment.Off-segment.Vaddr, page, true
		}
	}
	return bias, ok
}
