package unwind

import (
	"unique"

	"go.opentelemetry.io/ebpf-profiler/libpf"

	"culprit/recording"
)

// Of the frames of a host two of three come again in the next minute, and to name them anew took
// symbol tables that were read anew: a third of what the end of a window of an agent took, and half
// of what that of a part of a recording took. So the names of frames that came lately stay from
// window to window.

// maxNamed bounds the frames whose names stay, at some 400 bytes each.
const maxNamed = 1 << 14

// names are those of frames.
type names map[unique.Handle[libpf.Frame]]*namedFrame

// namedFrame is a frame with what was inlined there, outermost first.
type namedFrame struct {
	frames []*recording.Frame
	window int // in which it was asked for last
	final  bool
}

func (n names) has(handle unique.Handle[libpf.Frame]) bool { return n[handle] != nil }

// forget begins a window: it lets go of what may get a better name, of what did not come in some
// windows, and of all where there is no more room.
func (n names) forget(window int) {
	if len(n) > maxNamed {
		clear(n)
	}
	for handle, known := range n {
		if !known.final || window-known.window > keptUnused {
			delete(n, handle)
		}
	}
}

// named gives a frame its name, and those of what was inlined there: once in a window, for many
// stacks share a frame.
func (u *Unwinder) named(handle unique.Handle[libpf.Frame]) []*recording.Frame {
	if known := u.names[handle]; known != nil {
		if known.window != u.window {
			known.window = u.window
			u.usedAgain(handle.Value())
		}
		return known.frames
	}
	raw := handle.Value()
	expanded := u.expand(raw, u.name(raw))
	known := &namedFrame{frames: make([]*recording.Frame, len(expanded)), window: u.window, final: u.isFinal(raw)}
	for i := range expanded {
		known.frames[i] = &expanded[i]
	}
	if u.names == nil {
		u.names = names{}
	}
	u.names[handle] = known
	return known.frames
}

// isFinal tells whether a frame would be named alike in the next window: nothing was left out to
// keep the cost down, and the file was there to be read.
func (u *Unwinder) isFinal(raw libpf.Frame) bool {
	if raw.Type != libpf.NativeFrame || !raw.Mapping.Valid() {
		return !raw.Type.IsError()
	}
	of := u.moduleOf(fileOf(raw).FileID)
	return (of.file != nil || of.vdso) && !of.spent
}

// usedAgain notes that a file is in the stacks of this window.
func (u *Unwinder) usedAgain(raw libpf.Frame) {
	if !raw.Mapping.Valid() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if known := u.tables[fileOf(raw).FileID]; known != nil {
		known.used = u.window
	}
}
