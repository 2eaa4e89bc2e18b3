package unwind

import (
	"encoding/binary"
	"strings"
	"sync"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/libpf/pfelf"
	"go.opentelemetry.io/ebpf-profiler/nativeunwind/elfunwindinfo"
	"go.opentelemetry.io/ebpf-profiler/process"
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

// openGoCode takes over file when it is a Go program; nil when it is none.
func openGoCode(file process.ReadAtCloser) *goCode {
	parsed, err := pfelf.NewFile(readOnly{file}, 0, false)
	if err != nil || !parsed.IsGolang() {
		return nil
	}
	return &goCode{file: parsed}
}

const (
	callDirect = 0xe8 // x86-64: call with a 32-bit offset from the next instruction
	callLength = 5
)

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
	if _, err := g.file.ReadAt(code[:], int64(returnAddress-callLength)); err != nil || code[0] != callDirect {
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
	target := returnAddress + uint64(int64(int32(binary.LittleEndian.Uint32(code[1:]))))
	_, _, called = g.table.Symbolize(uintptr(target))
	return called
}

// skippedCaller looks at the innermost two frames of a stack, leaf first, and
// returns the frame that is missing between them.
func (u *Unwinder) skippedCaller(frames libpf.Frames) (missing libpf.Frame, before int) {
	for before < len(frames) && frames[before].Value().Type == libpf.KernelFrame {
		before++
	}
	before++
	if before >= len(frames) {
		return missing, -1
	}
	leaf, caller := frames[before-1].Value(), frames[before].Value()
	if leaf.Type != libpf.GoFrame || caller.Type != libpf.GoFrame || !leaf.Mapping.Valid() || !caller.Mapping.Valid() {
		return missing, -1
	}
	name := leaf.FunctionName.String()
	if strings.HasPrefix(name, "runtime.asyncPreempt") || strings.HasPrefix(name, "runtime.sig") {
		return missing, -1 // put there by a signal: the address below it is not behind a call
	}
	file := caller.Mapping.Value().File
	if file != leaf.Mapping.Value().File {
		return missing, -1
	}
	code := u.moduleOf(file.Value().FileID).golang
	if code == nil {
		return missing, -1
	}
	called := code.skipped(name, uint64(caller.AddressOrLineno)+1)
	if called == "" {
		return missing, -1
	}
	missing = libpf.Frame{Type: libpf.GoFrame, FunctionName: libpf.Intern(called), Mapping: caller.Mapping}
	return missing, before
}
