package allocations

import (
	"path/filepath"
	"slices"
	"strings"

	"culprit/internal/probe/mapped"
	"culprit/internal/symbol"
	"culprit/recording"
)

// The top of a stack tells who asked for a block: its words that are return addresses, each behind
// a call. A word may be left from a call that is over. It is taken for the caller of a function
// only where the call in front of it is of that function, or leads somewhere that the code does not
// tell (a register, another file).

const mostFrames = 8

// caller is a word of a stack that is a return address.
type caller struct {
	file   *file
	at     uint64 // address in the file as it counts, of the call's last byte
	begins uint64 // of its function
	name   string
	calls  callee
}

// callee is what a call leads to: both empty where the code does not tell.
type callee struct {
	begins uint64 // a function of the same file
	stub   string // the name of a function that is mostly of another one
}

// stackOf names the functions that a stack's words lead through, root first; nil where the
// process's code is not known.
func (h *heaps) stackOf(pid int32, words []uint64) (frames []*recording.Frame) {
	of := h.processes[pid]
	if of == nil {
		return nil
	}
	var inner *caller
	for i, word := range words {
		one, ok := h.callerAt(of, word)
		switch {
		case !ok && i == 0:
			return nil // who called the allocator is not known: who called that is not, either
		case !ok, inner != nil && !one.mayCall(inner):
			continue
		}
		frames = append(frames, one.frames()...)
		inner = &one
		if len(frames) >= mostFrames {
			break
		}
	}
	slices.Reverse(frames)
	return frames
}

// mayCall tells whether a call can have led into a function.
func (c *caller) mayCall(inner *caller) bool {
	switch {
	case c.calls.stub != "":
		return c.calls.stub == inner.name
	case c.calls.begins != 0:
		return c.file == inner.file && c.calls.begins == inner.begins
	}
	return true
}

// callerAt tells whose return address a word is, if it is one.
func (h *heaps) callerAt(of *process, word uint64) (caller, bool) {
	at := mappingOf(of.mappings, word)
	if at == nil {
		return caller{}, false
	}
	in := h.files[at.Number]
	if in == nil || !in.read() {
		return caller{}, false
	}
	address, ok := in.address(word - at.Start + at.Offset)
	if !ok {
		return caller{}, false
	}
	name, offset, ok := in.table.Lookup(address - 1) // a call may be the last of its function
	if !ok {
		return caller{}, false
	}
	begins := address - 1 - offset
	calls, ok := in.callBefore(begins, address)
	return caller{file: in, at: address - 1, begins: begins, name: name, calls: calls}, ok
}

func mappingOf(mappings []mapped.Mapping, address uint64) *mapped.Mapping {
	for i := range mappings {
		if mappings[i].Holds(address) {
			return &mappings[i]
		}
	}
	return nil
}

// address is that of a place in the file, as the file counts.
func (f *file) address(offset uint64) (uint64, bool) {
	for i := range f.loads {
		if one := &f.loads[i]; offset >= one.Off && offset-one.Off < one.Filesz {
			return offset - one.Off + one.Vaddr, true
		}
	}
	return 0, false
}

// bytes is code of the file; nil where there is not that much.
func (f *file) bytes(from, to uint64) []byte {
	for i := range f.loads {
		one := &f.loads[i]
		if from < one.Vaddr || to < from || to-one.Vaddr > one.Filesz {
			continue
		}
		code := make([]byte, to-from)
		if _, err := f.opened.ReadAt(code, int64(from-one.Vaddr+one.Off)); err != nil {
			return nil
		}
		return code
	}
	return nil
}

// frames are the function of a call and what was inlined around it, the innermost first.
func (c *caller) frames() (frames []*recording.Frame) {
	frame := func(name, path string, line int) *recording.Frame {
		return &recording.Frame{Name: symbol.Demangle(name), Kind: recording.KindNative, Module: filepath.Base(c.file.path),
			File: path, Line: int32(line)}
	}
	if c.file.lines != nil {
		for _, source := range c.file.lines.At(c.at) {
			name := source.Function
			if name == "" {
				name = c.name
			}
			frames = append(frames, frame(name, source.File, source.Line))
		}
	}
	if len(frames) == 0 {
		frames = append(frames, frame(c.name, "", 0))
	}
	return frames
}

// stubSuffix ends the names that package symbol gives to stubs.
const stubSuffix = "@plt"

// calleeAt is what lies at an address that is called.
func (f *file) calleeAt(address uint64) callee {
	name, offset, ok := f.table.Lookup(address)
	if !ok || offset != 0 {
		return callee{}
	}
	if function, stub := strings.CutSuffix(name, stubSuffix); stub {
		return callee{stub: function}
	}
	return callee{begins: address}
}
