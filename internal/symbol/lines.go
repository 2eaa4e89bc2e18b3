package symbol

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

const (
	maxDebugBytes = 48 << 20 // of all DWARF sections, unpacked
	openAtMost    = 2 * time.Second
	maxSpans      = 2 << 20 // address ranges and lines kept of one file
	maxInlined    = 16      // inlined calls in each other
)

// ErrNoLines says that a file has no DWARF, or more than the limit.
var ErrNoLines = errors.New("no line numbers")

// Source is a function and the place in it that an address belongs to.
type Source struct {
	Function string // raw; "" for the function that is no inlined one: the symbol table names it
	File     string // as the compiler was given it; "" when unknown
	Line     int    // 0 when unknown
}

// Lines finds lines and inlined functions in a file's DWARF. Nothing of it is decoded before
// the first question; then one compilation unit at a time. It is safe for concurrent use.
type Lines struct {
	mu    sync.Mutex
	file  *os.File
	read  *sections   // nil until the first question, and when it cannot be read
	data  *dwarf.Data // of read
	asked bool
	units []unitSpan
	known map[dwarf.Offset]*unitLines
	tops  []*dwarf.Entry // of all units, in order
	// what encloses the functions of a unit, by the offset of its entry
	scopes map[dwarf.Offset]scopes
	rows   []lineRow // of the unit that is being decoded: they are kept when it is known how many there are
	spans  int       // kept so far
	bytes  int64     // of DWARF
}

// span is a range of addresses; the end is not part of it.
type span struct{ low, high uint64 }

type unitSpan struct {
	span
	entry *dwarf.Entry
}

// OpenLines looks for DWARF in an ELF file and, when that has none and the options allow it, in its
// debug file (of the same build id); ErrNoLines where there is none. It reads file from then on,
// which Close closes, or the debug file.
func OpenLines(file *os.File, options Options) (*Lines, error) {
	parsed, err := openELF(file)
	if err != nil {
		return nil, err
	}
	if bytes, ok := linesBytes(parsed, options.mapped); ok {
		return &Lines{file: file, known: map[dwarf.Offset]*unitLines{}, bytes: bytes}, nil
	}
	var debug *os.File
	var bytes int64
	if !options.NoDebugFiles {
		debug, bytes = openDebugFile(parsed, options)
	}
	if debug == nil {
		return nil, ErrNoLines
	}
	return &Lines{file: debug, known: map[dwarf.Offset]*unitLines{}, bytes: bytes}, nil
}

// Decodes returns how many bytes of DWARF the next question reads: none once one was asked.
func (l *Lines) Decodes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked {
		return 0
	}
	return l.bytes
}

// Forget lets go of what was decoded. The file stays open: the next question decodes anew.
func (l *Lines) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	l.known, l.asked, l.spans = map[dwarf.Offset]*unitLines{}, false, 0
}

// Close forgets everything.
func (l *Lines) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	l.known, l.asked = nil, true
	return l.file.Close()
}

// forget is called with the lock held.
func (l *Lines) forget() {
	if l.read != nil {
		l.read.close()
	}
	l.read, l.data, l.units, l.tops, l.scopes, l.rows = nil, nil, nil, nil, nil, nil
}

// linesBytes returns how much DWARF a file has; not ok when it has none or more than the limits. So
// many bytes of sections that are mapped as they are count for nothing.
func linesBytes(file *elf.File, mapped uint64) (bytes int64, ok bool) {
	total, info, line := uint64(0), false, false
	for _, section := range file.Sections {
		if !strings.HasPrefix(section.Name, ".debug_") && !strings.HasPrefix(section.Name, ".zdebug_") {
			continue
		}
		if section.Type == elf.SHT_NOBITS {
			continue
		}
		if section.Size <= mapped && !isCompressed(section) {
			mapped -= section.Size
		} else if total += min(section.Size, maxDebugBytes+1); total > maxDebugBytes {
			return 0, false
		}
		info = info || strings.HasSuffix(section.Name, "debug_info")
		line = line || strings.HasSuffix(section.Name, "debug_line")
	}
	return int64(total), info && line
}

// openDebugFile opens the separate debug file of a file, nil when there is none with lines.
func openDebugFile(file *elf.File, options Options) (debug *os.File, bytes int64) {
	for _, path := range debugPaths(file, options) {
		content, err := openBelow(options.Root, path)
		if err != nil {
			continue
		}
		parsed, err := openELF(content)
		if err == nil && len(buildID(file)) > 0 && slices.Equal(buildID(parsed), buildID(file)) {
			if bytes, ok := linesBytes(parsed, options.mapped); ok {
				return content, bytes
			}
		}
		_ = content.Close()
	}
	return nil, 0
}

// At returns what an address (as the ELF file counts it) belongs to, the innermost inlined function
// first, the function that the linker knows last; nil where the file does not say.
func (l *Lines) At(address uint64) (sources []Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a mapped file can be cut short
	defer func() {
		if recover() != nil { // debug/dwarf is not hardened against hostile files
			sources = nil
		}
	}()
	if !l.asked {
		l.asked = true
		if err := l.open(); err != nil {
			return nil
		}
	}
	unit := l.unit(address)
	if unit == nil {
		return nil
	}
	file, line := unit.line(address)
	for _, call := range l.callsAt(unit, address) {
		sources = append(sources, Source{Function: call.name, File: file, Line: line})
		file, line = unit.fileName(call.file), call.line
	}
	return append(sources, Source{File: file, Line: line})
}

// open reads the sections and where each compilation unit's code lies.
func (l *Lines) open() error {
	read, err := openSections(l.file)
	if err != nil {
		return err
	}
	l.read, l.data, l.scopes = read, read.data, map[dwarf.Offset]scopes{}
	reader, start := l.data.Reader(), time.Now()
	for _, at := range read.unitEntries() {
		reader.Seek(at)
		entry, err := reader.Next()
		if err != nil || entry == nil || !l.keep(1) || time.Since(start) > openAtMost {
			break // what came before the damage is of use
		}
		l.tops = append(l.tops, entry)
		if entry.Tag != dwarf.TagCompileUnit {
			continue
		}
		ranges, err := l.data.Ranges(entry)
		if err != nil || !l.keep(len(ranges)) {
			break
		}
		for _, r := range ranges {
			l.units = append(l.units, unitSpan{span{r[0], r[1]}, entry})
		}
	}
	slices.SortFunc(l.units, func(x, y unitSpan) int { return cmp.Compare(x.low, y.low) })
	return nil
}

// keep counts what is kept in memory, and refuses what is too much.
func (l *Lines) keep(count int) bool {
	l.spans += count
	return l.spans <= maxSpans
}

// unit decodes the compilation unit that an address lies in.
func (l *Lines) unit(address uint64) *unitLines {
	after := sort.Search(len(l.units), func(i int) bool { return l.units[i].low > address })
	if after == 0 || l.units[after-1].high <= address {
		return nil
	}
	entry := l.units[after-1].entry
	if unit, ok := l.known[entry.Offset]; ok {
		return unit
	}
	unit := l.decode(entry)
	l.known[entry.Offset] = unit
	return unit
}
