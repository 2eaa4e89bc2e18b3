package symbol

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"sort"
)

// maxEntries bounds the entries of DWARF that are read for the variables of one file: about a second.
const maxEntries = 1 << 20

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
	asked   bool
	last    *function // asked for last
}

// global is a variable with an address of its own.
type global struct {
	address uint64
	entry   dwarf.Offset
	prefix  string
}

// OpenVariables reads a file, which Close closes, and its debug file where the options allow that.
func OpenVariables(file *os.File, options Options) (*Variables, error) {
	parsed, err := openELF(file)
	if err != nil {
		return nil, err
	}
	v := &Variables{file: file, elf: parsed}
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
	v.globals, v.last, v.asked = nil, nil, true
	return v.file.Close()
}

// At names what lies at an address, as the file counts it; not ok where no variable does.
func (v *Variables) At(address uint64, size int64) (found Member, ok bool) {
	if v.lines != nil {
		v.guarded(func() { found, ok = v.global(address, size) })
	}
	if ok {
		return found, true
	}
	var name string
	v.guarded(func() { name, ok = v.object(address) })
	return Member{Object: Demangle(name)}, ok && name != ""
}

// guarded runs what reads DWARF of a file that may be hostile, or be cut short meanwhile.
func (v *Variables) guarded(read func()) {
	if v.lines != nil {
		v.lines.mu.Lock()
		defer v.lines.mu.Unlock()
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { _ = recover() }() // debug/dwarf is not hardened
	if v.lines != nil && !v.lines.asked {
		v.lines.asked = true
		if err := v.lines.open(); err != nil {
			v.lines.forget()
		}
	}
	read()
}

// global looks for the variable that DWARF has at an address.
func (v *Variables) global(address uint64, size int64) (Member, bool) {
	to, ok := v.variableAt(address)
	if !ok || to.name == "" {
		return Member{}, false
	}
	return Member{Object: cut(Demangle(to.name)), Field: cut(v.member(to.typ, to.plus, size))}, true
}

// variableAt is a pointer to the variable at an address.
func (v *Variables) variableAt(address uint64) (pointer, bool) {
	if v.lines.data == nil {
		return pointer{}, false
	}
	if !v.asked {
		v.asked = true
		v.findGlobals()
	}
	after := sort.Search(len(v.globals), func(i int) bool { return v.globals[i].address > address })
	for i := after - 1; i >= 0 && i >= after-maxNesting; i-- {
		one := v.globals[i]
		name, typ := v.describe(one.entry)
		if into := int64(address - one.address); into < v.sizeOf(typ) {
			return pointer{typ: typ, name: one.prefix + name, plus: into}, true
		}
	}
	return pointer{}, false
}

// findGlobals lists the variables with an address of their own, those within functions, too.
func (v *Variables) findGlobals() {
	left := maxEntries
	for _, unit := range v.lines.tops {
		var above []string // by nesting: what encloses the names
		v.lines.walk(unit, func(entry *dwarf.Entry) bool {
			left--
			prefix := ""
			if len(above) > 0 {
				prefix = above[len(above)-1]
			}
			switch {
			case entry.Tag == 0:
				above = above[:max(len(above)-1, 0)]
				return left > 0
			case entry.Tag == dwarf.TagVariable:
				v.addGlobal(unit, entry, prefix)
			}
			if name, _ := entry.Val(dwarf.AttrName).(string); entry.Tag == dwarf.TagNamespace && name != "" {
				prefix = cut(prefix+name) + "::"
			}
			if entry.Children {
				above = append(above, prefix)
			}
			return left > 0
		})
		if left <= 0 {
			break
		}
	}
	slices.SortStableFunc(v.globals, func(x, y global) int { return cmp.Compare(x.address, y.address) })
}

func (v *Variables) addGlobal(unit, entry *dwarf.Entry, prefix string) {
	expression, ok := entry.Val(dwarf.AttrLocation).([]byte)
	if !ok {
		return
	}
	if address, ok := v.addressOf(unit, expression); ok && address != 0 && len(v.globals) < maxSpans {
		v.globals = append(v.globals, global{address, entry.Offset, prefix})
	}
}

// Operations of DWARF's expressions (its section 7.7.1).
const (
	opAddress  = 0x03
	opIndexed  = 0xa1 // DW_OP_addrx
	opIndexed4 = 0xfb // DW_OP_GNU_addr_index
	wordBytes  = 8
)

// addressOf reads an expression that is an address and nothing more.
func (v *Variables) addressOf(unit *dwarf.Entry, expression []byte) (uint64, bool) {
	order := v.lines.read.order
	switch {
	case len(expression) == 1+wordBytes && expression[0] == opAddress:
		return order.Uint64(expression[1:]), true
	case len(expression) > 1 && (expression[0] == opIndexed || expression[0] == opIndexed4):
		index, n := binary.Uvarint(expression[1:])
		return v.indexed(unit, index, n == len(expression)-1)
	}
	return 0, false
}

// indexed reads an address of .debug_addr.
func (v *Variables) indexed(unit *dwarf.Entry, index uint64, ok bool) (uint64, bool) {
	base, has := unit.Val(dwarf.AttrAddrBase).(int64)
	if !has {
		base = wordBytes // behind the header of the only table
	}
	table := v.lines.read.found["addr"]
	if !ok || base < 0 || index > uint64(len(table)) || uint64(base)+index*wordBytes+wordBytes > uint64(len(table)) {
		return 0, false
	}
	return v.lines.read.order.Uint64(table[uint64(base)+index*wordBytes:]), true
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
func (v *Variables) object(address uint64) (string, bool) {
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
			if name, err := objectIn(file, section, address); err == nil && name != "" {
				return name, true
			}
		}
	}
	return "", false
}

func objectIn(file *elf.File, section *elf.Section, address uint64) (string, error) {
	if file.Class != elf.ELFCLASS64 || section.Link == 0 || int(section.Link) >= len(file.Sections) {
		return "", fmt.Errorf("read %s: no table of 64 bits", section.Name)
	}
	chunk := make([]byte, symbolChunk*elf.Sym64Size)
	for at := int64(0); at/elf.Sym64Size < maxSymbolEntry; {
		n, err := section.ReadAt(chunk, at)
		for data := chunk[:n]; len(data) >= elf.Sym64Size; data = data[elf.Sym64Size:] {
			symbol := parseSymbol(file, data)
			if elf.ST_TYPE(symbol.info) != elf.STT_OBJECT || symbol.section == 0 ||
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

// Bias is how far a mapped file lies above the addresses that it counts: start is where in memory the
// bytes from offset on are.
func (v *Variables) Bias(start, offset uint64) (uint64, bool) {
	for _, segment := range v.elf.Progs {
		if page := segment.Off &^ (segment.Align - 1); segment.Type == elf.PT_LOAD && segment.Align > 0 &&
			offset >= page && offset < segment.Off+segment.Filesz {
			return start - offset + segment.Off - segment.Vaddr, true
		}
	}
	return 0, false
}
