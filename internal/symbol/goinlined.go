package symbol

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
)

// GoInlined finds the functions that Go's compiler inlined at an address, by the tables that its
// run time prints stacks with: every program has them, also one that was stripped. Versions 1.20 to
// 1.26 write them alike (src/runtime/symtab.go, symtabinl.go).
//
//	inlined, err := symbol.OpenGoInlined(file)
//	inlined.At(0x4a1f20) // innermost first; nil where nothing is inlined
//
// It refuses programs whose tables no section tells, as of some that are position-independent.
type GoInlined struct {
	file  *elf.File
	table *elf.Section // .gopclntab
	order binary.ByteOrder
	step  uint64 // minLC
	count uint64 // functions
	// Where the table has its parts, from its begin.
	names, units, files, values, functions uint64
	text, data                             uint64 // addresses: of code, and of what belongs to functions (gofunc)
}

// ErrNoGoTable says that a file has no table of inlined functions that is known.
var ErrNoGoTable = errors.New("no table of functions inlined by Go 1.20 or later")

// Of pcHeader, of moduledata and of _func, in words or in bytes.
const (
	goMagic                                                              = 0xfffffff1
	headerBytes                                                          = 72
	moduleText, moduleData, moduleWords                                  = 22, 40, 41
	functionName, functionFile, functionLine, functionTables, functionCU = 4, 20, 24, 28, 32
	functionParts, functionBytes                                         = 43, 44
	inlinedIndex, inlinedTree                                            = 2, 3 // PCDATA_InlTreeIndex, FUNCDATA_InlTree
	inlinedBytes                                                         = 16
	mostName, mostValues                                                 = 1 << 10, 1 << 16
)

// OpenGoInlined reads the tables' heads; wraps ErrNoGoTable where there are none.
func OpenGoInlined(file io.ReaderAt) (*GoInlined, error) {
	parsed, err := openELF(file)
	if err != nil {
		return nil, err
	}
	table := parsed.Section(".gopclntab")
	if table == nil || parsed.Class != elf.ELFCLASS64 {
		return nil, ErrNoGoTable
	}
	g := &GoInlined{file: parsed, table: table, order: parsed.ByteOrder}
	var header [headerBytes]byte
	if _, err := table.ReadAt(header[:], 0); err != nil {
		return nil, fmt.Errorf("read the table of functions: %w", err)
	}
	word := func(at int) uint64 { return g.order.Uint64(header[at:]) }
	if g.order.Uint32(header[:]) != goMagic || header[7] != 8 {
		return nil, ErrNoGoTable
	}
	g.step, g.count = uint64(header[6]), word(8)
	g.names, g.units, g.files, g.values, g.functions = word(32), word(40), word(48), word(56), word(64)
	if !g.findModule() {
		return nil, ErrNoGoTable
	}
	return g, nil
}

// findModule finds runtime.moduledata, which begins with the table's address.
func (g *GoInlined) findModule() bool {
	code := g.file.Section(".text")
	if code == nil {
		return false
	}
	for _, name := range []string{".go.module", ".noptrdata", ".data"} {
		section := g.file.Section(name)
		if section == nil || section.Size > maxDebugBytes {
			continue
		}
		data, err := section.Data()
		if err != nil {
			continue
		}
		for at := 0; at+8*moduleWords <= len(data); at += 8 {
			word := func(i int) uint64 { return g.order.Uint64(data[at+8*i:]) }
			if word(0) == g.table.Addr && word(moduleText) >= code.Addr && word(moduleText) < code.Addr+code.Size {
				g.text, g.data = word(moduleText), word(moduleData)
				return true
			}
		}
	}
	return false
}

// At tells what was inlined at an address, innermost first, and last the function that it is in,
// without a name; nil where nothing is, or the tables do not fit together.
func (g *GoInlined) At(address uint64) []Source {
	of, ok := g.functionAt(address)
	if !ok {
		return nil
	}
	at, sources := address, []Source(nil)
	for len(sources) <= maxInlined {
		index, inlined := of.value(of.inlined, at)
		file, line := of.place(at)
		if !inlined || index < 0 {
			if sources == nil {
				return nil
			}
			return append(sources, Source{File: file, Line: line})
		}
		var call [inlinedBytes]byte
		if !g.read(of.tree+uint64(index)*inlinedBytes, call[:]) {
			return nil
		}
		name := g.text0(g.names + uint64(g.order.Uint32(call[4:])))
		if name == "" {
			return nil
		}
		sources = append(sources, Source{Function: GoFunction(name), File: file, Line: line})
		at = of.entry + uint64(g.order.Uint32(call[8:]))
	}
	return nil
}

// goFunction is what the tables say of one function: where its own tables are.
type goFunction struct {
	*GoInlined
	entry               uint64
	files, lines, units uint32
	inlined             uint32 // 0: nothing is inlined
	tree                uint64 // an address
}

// functionAt finds the function of an address; false where nothing is inlined in it.
func (g *GoInlined) functionAt(address uint64) (of goFunction, ok bool) {
	if address < g.text || g.count == 0 || g.count > g.table.Size/8 {
		return of, false
	}
	var pair [8]byte
	entry := func(i int) uint32 {
		if _, err := g.table.ReadAt(pair[:], int64(g.functions)+8*int64(i)); err != nil {
			return ^uint32(0)
		}
		return g.order.Uint32(pair[:])
	}
	number := sort.Search(int(g.count), func(i int) bool { return uint64(entry(i)) > address-g.text }) - 1
	if number < 0 {
		return of, false
	}
	start := uint64(entry(number)) // and reads the pair
	base := int64(g.functions) + int64(g.order.Uint32(pair[4:]))
	var head [functionBytes]byte
	if _, err := g.table.ReadAt(head[:], base); err != nil {
		return of, false
	}
	of = goFunction{GoInlined: g, entry: g.text + start, files: g.order.Uint32(head[functionFile:]),
		lines: g.order.Uint32(head[functionLine:]), units: g.order.Uint32(head[functionCU:])}
	tables, parts := g.order.Uint32(head[functionTables:]), uint32(head[functionParts])
	if tables <= inlinedIndex || parts <= inlinedTree || tables > mostValues {
		return of, false
	}
	var text [4]byte
	at := func(i uint32) uint32 {
		if _, err := g.table.ReadAt(text[:], base+functionBytes+4*int64(i)); err != nil {
			return ^uint32(0)
		}
		return g.order.Uint32(text[:])
	}
	of.inlined = at(inlinedIndex)
	tree := at(tables + inlinedTree)
	of.tree = g.data + uint64(tree)
	return of, of.inlined != 0 && of.inlined != ^uint32(0) && tree != ^uint32(0)
}

// value looks an address up in one of a function's tables: pairs of how much the value changes and
// for how many bytes of code it then holds.
func (f *goFunction) value(table uint32, address uint64) (value int64, ok bool) {
	if table == 0 || address < f.entry {
		return 0, false
	}
	reader := io.NewSectionReader(f.table, int64(f.values)+int64(table), mostValues)
	text := bufio.NewReaderSize(reader, 64)
	at := f.entry
	value = -1
	for first := true; ; first = false {
		change, err := binary.ReadUvarint(text)
		if err != nil || change == 0 && !first {
			return 0, false
		}
		if change&1 != 0 {
			value += int64(^(change >> 1))
		} else {
			value += int64(change >> 1)
		}
		length, err := binary.ReadUvarint(text)
		if err != nil {
			return 0, false
		}
		if at += length * f.step; address < at {
			return value, true
		}
	}
}

// place is the file and line of an address.
func (f *goFunction) place(address uint64) (file string, line int) {
	if number, ok := f.value(f.lines, address); ok && number > 0 {
		line = int(number)
	}
	number, ok := f.value(f.files, address)
	var text [4]byte
	if !ok || number < 0 {
		return "", line
	}
	if _, err := f.table.ReadAt(text[:], int64(f.GoInlined.units)+4*(int64(f.units)+number)); err != nil {
		return "", line
	}
	if offset := f.order.Uint32(text[:]); offset != ^uint32(0) {
		file = f.text0(f.GoInlined.files + uint64(offset))
	}
	return file, line
}

// text0 reads a text that ends with a zero byte; "" where it does not.
func (g *GoInlined) text0(at uint64) string {
	text := make([]byte, mostName)
	n, err := g.table.ReadAt(text, int64(at))
	if err != nil && err != io.EOF {
		return ""
	}
	end := bytes.IndexByte(text[:n], 0)
	return string(text[:max(0, end)])
}

// read copies what the program has at an address, of its file.
func (g *GoInlined) read(address uint64, to []byte) bool {
	i := slices.IndexFunc(g.file.Progs, func(p *elf.Prog) bool {
		return p.Type == elf.PT_LOAD && address >= p.Vaddr && address-p.Vaddr < p.Filesz
	})
	if i < 0 {
		return false
	}
	_, err := g.file.Progs[i].ReadAt(to, int64(address-g.file.Progs[i].Vaddr))
	return err == nil
}

// GoFunction is the name of a function of Go without the types that a generic one was compiled for,
// as the run time prints it: slices.Sort[...]. They are shapes of the compiler's, structs in full
// among them.
func GoFunction(name string) string {
	first, last := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if first < 0 || last < first {
		return name
	}
	return name[:first] + "[...]" + name[last+1:]
}
