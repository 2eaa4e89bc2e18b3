package oncpu

import (
	"os"
	"strings"

	"culprit/internal/probe/mapped"
	"culprit/internal/symbol"
)

// Where a line lies, and what the code that touches it calls it, is in the files that the process
// has mapped. The process may be gone when its samples are named: the files are opened while it
// runs.

const (
	maxReads  = 8  // of it: memory that is mapped later is looked for again
	maxOpened = 16 // files
)

// places are the processes whose threads share lines.
type places struct {
	programs map[int32]*program
	files    map[string]*mappedFile // by device, number and path
	threads  map[int32][]uint64     // thread pointers of each process, in order
	reached  map[codeOf]symbol.Member
}

type program struct {
	mappings []mapping // by address
	reads    int
	hotspot  *symbol.HotSpot // nil: it is no JVM that tells of itself
	asked    bool            // for it
	metadata map[uint64]symbol.Member
	vain     map[uint64]int // how often words were asked for that are none of its own
	// executable is the program's own file, nil where it is not known.
	executable *mappedFile
}

// mapping is what a process has mapped, and the file once it is open.
type mapping struct {
	mapped.Mapping
	file *mappedFile
}

type mappedFile struct {
	file      *os.File
	path      string
	variables *symbol.Variables // nil until it is asked, and where it cannot be read
	asked     bool
}

func newPlaces() *places {
	return &places{programs: map[int32]*program{}, files: map[string]*mappedFile{}, threads: map[int32][]uint64{},
		reached: map[codeOf]symbol.Member{}}
}

// know opens what holds some addresses of a process, as far as it is not open yet.
func (p *places) know(pid int32, addresses []uint64) {
	known := p.programs[pid]
	if known == nil {
		known = &program{}
		p.programs[pid] = known
	}
	for _, address := range addresses {
		if known.at(address) == nil && known.reads < maxReads {
			known.reads++
			known.mappings = nil
			for _, one := range mapped.Read(pid) {
				known.mappings = append(known.mappings, mapping{Mapping: one})
			}
		}
		if at := known.fileOf(address); at != nil && at.file == nil {
			at.file = p.open(pid, at)
		}
	}
	p.knowExecutable(pid, known)
}

func (p *program) at(address uint64) *mapping {
	for i := range p.mappings {
		if one := &p.mappings[i]; one.Holds(address) {
			return one
		}
	}
	return nil
}

// fileOf is the mapping of a file that an address belongs to: variables that begin as zero lie in
// memory without a file right behind it.
func (p *program) fileOf(address uint64) *mapping {
	for i := range p.mappings {
		one := &p.mappings[i]
		if !one.Holds(address) {
			continue
		}
		if one.Path == "" && i > 0 && p.mappings[i-1].End == one.Start {
			one = &p.mappings[i-1]
		}
		if strings.HasPrefix(one.Path, "/") {
			return one
		}
		return nil
	}
	return nil
}

// open opens a mapping's file, nil where that is no plain file or there are too many.
func (p *places) open(pid int32, of *mapping) *mappedFile {
	key := of.Number + " " + of.Path
	if known, ok := p.files[key]; ok || len(p.files) >= maxOpened {
		return known
	}
	opened := &mappedFile{path: of.Path}
	p.files[key] = opened
	opened.file, _ = of.Open(pid) // nil: no names
	return opened
}

// system are folders whose debug files take too long to read.
var system = []string{"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"}

// read parses the file when it is first asked.
func (f *mappedFile) read() *symbol.Variables {
	if f == nil || f.file == nil {
		return nil
	}
	if f.asked {
		return f.variables
	}
	f.asked = true
	options := symbol.Options{Path: f.path}
	for _, folder := range system {
		options.NoDebugFiles = options.NoDebugFiles || strings.HasPrefix(f.path, folder)
	}
	f.variables, _ = symbol.OpenVariables(f.file, options) // nil: no names
	return f.variables
}

// in finds an address in the file that it is of.
func (p *places) in(pid int32, address uint64) (file *symbol.Variables, at uint64, ok bool) {
	known := p.programs[pid]
	if known == nil {
		return nil, 0, false
	}
	of := known.fileOf(address)
	if of == nil {
		return nil, 0, false
	}
	if file = of.file.read(); file == nil {
		return nil, 0, false
	}
	bias, ok := file.Bias(of.Start, of.Offset)
	return file, address - bias, ok
}

// name tells what lies at a word: a variable, or else what the code that touched it calls it.
func (p *places) name(pid int32, one *access) (symbol.Member, bool) {
	if known := p.programs[pid]; known != nil {
		if found, ok := known.metadata[one.address]; ok {
			return found, true
		}
	}
	if found, ok := p.inThread(pid, one.address, int64(one.size)); ok {
		return found, true
	}
	if file, at, ok := p.in(pid, one.address); ok {
		if found, ok := file.At(at, int64(one.size)); ok {
			return found, true
		}
	}
	return p.behind(pid, one)
}

// behind names what an instruction reaches by a register: the same in all lines.
func (p *places) behind(pid int32, one *access) (symbol.Member, bool) {
	by := codeOf{pid, one.code}
	if known, asked := p.reached[by]; asked {
		return known, known.Object != ""
	}
	file, at, ok := p.in(pid, one.code)
	if !ok {
		return symbol.Member{}, false
	}
	found, ok := file.Behind(at, symbol.Operand{Register: one.base, Offset: one.offset, Indexed: one.indexed,
		Size: int64(one.size)})
	p.reached[by] = found
	return found, ok
}

func (p *places) close() {
	for _, one := range p.files {
		if one.variables != nil {
			_ = one.variables.Close() // nothing was written to it
		} else if one.file != nil {
			_ = one.file.Close()
		}
	}
	clear(p.files)
	clear(p.programs)
	clear(p.threads)
	clear(p.reached)
}
