package symbol

import (
	"math/bits"
	"runtime"

	"culprit/recording"
)

// A monitor of HotSpot that was fought for once is memory of its own (ObjectMonitor; JDK 17 tried).
// Compiled code takes it by exchanging its owner, in the midst of the method, without a call that
// would tell a lock. What proves such memory is the object: the monitor leads to it, and its first
// word, the mark, leads back with the two low bits 10 (hotspot/share/oops/markWord.hpp,
// runtime/objectMonitor.hpp).

const (
	markBits     = 3
	markMonitor  = 2 // the mark is the address of a monitor
	markUnlocked = 1 // what the monitor keeps of the object's mark meanwhile
	// mostOfMonitor bounds the bytes of a monitor: 224 in JDK 17, where its parts lie on lines of
	// their own.
	mostOfMonitor = 512
	klassOffset   = 8 // of an object: behind its mark
	// mostShift masks by how much a class's short name is shifted: 3 or 0, with compact headers 10
	// at most.
	mostShift = 15
)

// monitorFields are where a monitor keeps what proves it.
type monitorFields struct {
	header, object, last uint64
	hasHeader, hasObject bool
}

func (m *monitorFields) take(field string, offset uint64) {
	switch field {
	case "_header", "_metadata": // the latter since JDK 22
		m.header, m.hasHeader = offset, true
	case "_object":
		m.object, m.hasObject = offset, true
	}
	m.last = max(m.last, offset)
}

// narrowKlass is how an object of a JVM names its class in 32 bits.
type narrowKlass struct {
	base, shift uint64
}

// take reads one of them; at is where the table has the address of the variable.
func (n *narrowKlass) take(h *HotSpot, typ, field string, at uint64) {
	address, ok := h.word(at)
	value, held := h.word(address)
	if !ok || !held {
		return
	}
	switch newer := typ == "CompressedKlassPointers"; {
	case field == "_narrow_klass._base", newer && field == "_base":
		n.base = value
	case field == "_narrow_klass._shift", newer && field == "_shift":
		n.shift = uint64(uint32(value))
	}
}

// monitorAt names the monitor that a word lies in.
func (h *HotSpot) monitorAt(address uint64) (Member, bool) {
	if !h.monitor.hasHeader || !h.monitor.hasObject || address < mostOfMonitor {
		return Member{}, false
	}
	size := min(h.monitor.last+2*wordBytes, mostOfMonitor)
	for base := address &^ (wordBytes - 1); base+size > address; base -= wordBytes {
		if object, ok := h.monitored(base); ok {
			return Member{Object: recording.MonitorOf + cut(h.classOf(object))}, true
		}
	}
	return Member{}, false
}

// monitored is the object of a monitor that begins at an address. Where monitors are in a table, no
// mark leads back to one: the object is known by its class, and by its mark as one that has a
// monitor.
func (h *HotSpot) monitored(monitor uint64) (object uint64, ok bool) {
	if mark, ok := h.word(monitor + h.monitor.header); !ok || !h.flags.monitorTable && mark&markBits != markUnlocked {
		return 0, false
	}
	for _, object := range h.objectsOf(monitor) {
		mark, ok := h.word(object)
		switch {
		case !ok || object%wordBytes != 0 || mark&markBits != markMonitor:
		case mark == monitor|markMonitor, h.flags.monitorTable && h.classOf(object) != noClass:
			return object, true
		}
	}
	return 0, false
}

// objectsOf are what may be the object of a monitor: it is kept behind a handle (JDK 15 and later),
// or as it is.
func (h *HotSpot) objectsOf(monitor uint64) (objects []uint64) {
	handle, ok := h.word(monitor + h.monitor.object)
	if !ok || handle%wordBytes != 0 {
		return nil
	}
	objects = append(objects, handle)
	to, ok := h.word(handle)
	if !ok {
		return objects
	}
	if objects = append(objects, to); h.flags.z {
		objects = append(objects, uncolored(to))
	}
	return objects
}

// uncolored is the address in a reference of ZGC with generations (JDK 21 and later): it is shifted
// so far that the one bit that is set of four is the last behind it (gc/z/zAddress.inline.hpp).
func uncolored(reference uint64) uint64 {
	const remapped, count = 12, 4
	at := bits.TrailingZeros64(reference>>remapped | 1<<(count-1))
	if runtime.GOARCH == "arm64" {
		at = count - 1
	}
	return reference >> (remapped + at + 1)
}

// noClass is what an object is called that does not tell its class.
const noClass = "an object"

// classOf is the class of an object, noClass where it does not tell. Classes out of the shared
// archive (CDS) have their table of virtual functions there, not in the library: their name alone
// is checked.
func (h *HotSpot) classOf(object uint64) string {
	for _, of := range h.headersOf(object) {
		if class, ok := h.class(of.klass); ok {
			return class
		}
	}
	return noClass
}
