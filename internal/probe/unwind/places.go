package unwind

import "culprit/internal/symbol"

// Of what runs on, most addresses come again in the next window, while the DWARF that told their
// lines is let go of between two: to decode it again for each look of `culprit top` and each part
// of a long recording was a fifth of what a window's end took. So what was found out is remembered,
// as it is of calls in Go programs.

// maxPlaces bounds what is remembered of all files together, at some 200 bytes each.
const maxPlaces = 1 << 14

// places are the functions and lines of addresses of one file.
type places map[uint64][]symbol.Source

func (p places) has(address uint64) bool { return p[address] != nil }

// placeOf tells what an address of a file belongs to, as symbol.Lines.At does; nil where that is
// not known, or is not to be looked for.
func (u *Unwinder) placeOf(m *module, address uint64) []symbol.Source {
	if known := m.places[address]; known != nil {
		return known
	}
	if m.lines == nil || m.spent {
		return nil
	}
	found := m.lines.At(address)
	if found == nil || u.placed >= maxPlaces { // what was not found for want of room may be found another time
		return found
	}
	if m.places == nil {
		m.places = places{}
	}
	m.places[address] = found
	u.placed++
	return found
}

// forgetPlaces begins a window: files that the last one did not need lose theirs, and all do where
// there is no more room. The caller holds the lock.
func (u *Unwinder) forgetPlaces() {
	full := u.placed >= maxPlaces
	u.placed = 0
	for _, known := range u.tables {
		if full || known.used < u.window {
			known.places = nil
		}
		u.placed += len(known.places)
	}
}
