package unwind

import (
	"io"
	"strings"
	"sync"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/libpf/pfelf"
	"go.opentelemetry.io/ebpf-profiler/nativeunwind/elfunwindinfo"
	"go.opentelemetry.io/ebpf-profiler/process"

	"culprit/internal/symbol"
)

// goCode finds the caller that the unwinder skips in Go programs: it follows
// frame pointers, and a function that calls nothing keeps none, so that its
// caller's return address is never looked at. What that caller was stands in
// the code: the caller's caller ends in a direct call of it.
type goCode struct {
	file *pfelf.File

	mu     sync.Mutex
	read   bool
	table  *elfunwindinfo.Gopclntab // nil when it is not read, or cannot be
	called map[uint64]string        // what was found out, by return address; "": nothing

	whole   io.ReaderAt
	asked   bool              // for inlined
	inlined *symbol.GoInlined // nil: not known
}

// maxCallSites bounds what is remembered of one program.
const maxCallSites = 1 << 14

// Forget lets go of the table, which is read again when a call site is new.
func (g *goCode) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read, g.table = false, nil
}

// readOnly hides that it is an *os.File: the library would map it, and a file that
// is cut short while it is mapped kills the reader.
type readOnly struct{ process.ReadAtCloser }

// knows tells whether an answer needs no table.
func (g *goCode) knows(returnAddress uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, known := g.called[returnAddress]
	return known
}

// decodes is how many bytes the next new call site has read.
func (g *goCode) decodes() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.read {
		return 0
	}
	if table := g.file.Section(".gopclntab"); table != nil {
		return int64(table.Size)
	}
	return hiddenTable
}

// hiddenTable is taken for the size of a table that no section tells: that of a program linked
// position-independent.
const hiddenTable = 16 << 20

// openGoCode takes over file when it is a Go program; nil when it is none.
func openGoCode(file process.ReadAtCloser) *goCode {
	parsed, err := pfelf.NewFile(readOnly{file}, 0, false)
	if err != nil || !parsed.IsGolang() {
		return nil
	}
	return &goCode{file: parsed, whole: file}
}

// inlinedAt tells what was inlined at an address, as symbol.GoInlined does. It reads a few dozen
// bytes of the file, and keeps nothing.
func (g *goCode) inlinedAt(address uint64) []symbol.Source {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.asked {
		g.asked = true
		g.inlined, _ = symbol.OpenGoInlined(g.whole) // nil
	}
	if g.inlined == nil {
		return nil
	}
	return g.inlined.At(address)
}

// skipped returns the function that ends in leaf and was called by the
// instruction before returnAddress, "" when that is leaf itself or not known.
func (g *goCode) skipped(leaf string, returnAddress uint64) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	called, known := g.called[returnAddress]
	if !known {
		called = strings.Clone(g.calledBefore(returnAddress)) // or it would keep the whole table
		if g.called == nil || len(g.called) >= maxCallSites {
			g.called = map[uint64]string{}
		}
		g.called[returnAddress] = called
	}
	if called == leaf {
		return ""
	}
	return called
}

// calledBefore names what the instruction before returnAddress calls.
func (g *goCode) calledBefore(returnAddress uint64) (called string) {
	defer func() {
		if recover() != nil { // what looks like a call can lead anywhere in the library's table
			called = ""
		}
	}()
	var code [callLength]byte
	if _, err := g.file.ReadAt(code[:], int64(returnAddress-callLength)); err != nil {
		return ""
	}
	target, direct := callTarget(code, returnAddress)
	if !direct {
		return ""
	}
	if !g.read {
		g.read = true
		if table, err := elfunwindinfo.NewGopclntab(g.file); err == nil {
			g.table = table
		}
	}
	if g.table == nil {
		return ""
	}
	_, _, called = g.table.Symbolize(uintptr(target))
	return called
}

// leafCall finds the innermost two frames of a stack, leaf first, where a function of a Go program
// can be missing between them: at is the place of the second one. code is nil where none can.
func (u *Unwinder) leafCall(frames libpf.Frames) (at int, caller libpf.Frame, code *goCode) {
	for at < len(frames) && frames[at].Value().Type == libpf.KernelFrame {
		at++
	}
	at++
	if at >= len(frames) {
		return at, caller, nil
	}
	leaf, caller := frames[at-1].Value(), frames[at].Value()
	if leaf.Type != libpf.GoFrame || caller.Type != libpf.GoFrame || !leaf.Mapping.Valid() || !caller.Mapping.Valid() {
		return at, caller, nil
	}
	name := leaf.FunctionName.String()
	if strings.HasPrefix(name, "runtime.asyncPreempt") || strings.HasPrefix(name, "runtime.sig") {
		return at, caller, nil // put there by a signal: the address below it is not behind a call
	}
	if caller.Mapping.Value().File != leaf.Mapping.Value().File {
		return at, caller, nil
	}
	return at, caller, u.moduleOf(fileOf(caller).FileID).golang
}

func fileOf(frame libpf.Frame) libpf.FrameMappingFileData { return frame.Mapping.Value().File.Value() }

func returnAddressOf(caller libpf.Frame) uint64 { return uint64(caller.AddressOrLineno) + 1 }

// skippedCaller returns the frame that is missing between the innermost two of a stack, leaf first.
func (u *Unwinder) skippedCaller(frames libpf.Frames) (missing libpf.Frame, before int) {
	at, caller, code := u.leafCall(frames)
	if code == nil {
		return missing, -1
	}
	address := returnAddressOf(caller)
	if u.moduleOf(fileOf(caller).FileID).spent && !code.knows(address) {
		return missing, -1
	}
	called := code.skipped(frames[at-1].Value().FunctionName.String(), address)
	if called == "" {
		return missing, -1
	}
	missing = libpf.Frame{Type: libpf.GoFrame, FunctionName: libpf.Intern(called), Mapping: caller.Mapping}
	return missing, at
}
