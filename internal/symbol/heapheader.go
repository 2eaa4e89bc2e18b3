package symbol

import (
	"encoding/binary"
	"fmt"
	"strings"

	"culprit/recording"
)

// What an object of a JVM's heap begins with (hotspot/share/oops: oop.hpp, arrayOop.hpp,
// markWord.hpp): its mark, and its class in 32 bits or in a word of its own. With compact headers
// (JDK 24 and later) the class is in the mark's upper bits. Of an array its length follows.
const (
	compactShift = 42 // of a class in a mark
	markFree     = 7  // low bits of a mark: those of an object without a lock are markUnlocked
	mostAround   = 4096
)

// header is a reading of an object's begin; length and elements are offsets of an array's.
type header struct{ klass, length, elements uint64 }

// headersOf are the readings of what may be an object's begin.
func (h *HotSpot) headersOf(object uint64) []header {
	mark, ok := h.word(object)
	next, held := h.word(object + klassOffset)
	if !ok || !held || object%wordBytes != 0 {
		return nil
	}
	return h.headersIn(mark, next)
}

// headersIn is one reading where the JVM's flags are known, else those without compact headers.
func (h *HotSpot) headersIn(mark, next uint64) (all []header) {
	class := func(number uint64) uint64 { return h.narrow.base + number<<(h.narrow.shift&mostShift) }
	if number := mark >> compactShift; h.flags.compact {
		return []header{{class(number), 8, 12}}
	}
	if number := uint64(uint32(next)); !h.flags.known || h.flags.shortClasses {
		all = append(all, header{class(number), 12, 16})
	}
	if !h.flags.known || !h.flags.shortClasses {
		all = append(all, header{next, 16, wideElements})
	}
	return all
}

// wideElements is where those of 8 bytes begin behind a class of a whole word; shorter ones begin
// earlier since JDK 23 (JDK-8139457).
const wideElements = 24

// Around names a word of the heap whose object the code does not tell: an element of an array, say.
// It is in the nearest object that begins below it and reaches that far: objects without a lock are
// known by their mark and their class.
func (h *HotSpot) Around(address uint64) (Member, bool) {
	word := address &^ (wordBytes - 1)
	if word < mostAround || h.heap.poolSize == 0 || !h.flags.known {
		return Member{}, false
	}
	low := word - mostAround
	text, ok := h.bytes(low, mostAround+wordBytes)
	if !ok {
		return Member{}, false
	}
	at := func(offset uint64) uint64 { return binary.LittleEndian.Uint64(text[offset:]) }
	for offset := uint64(mostAround - wordBytes); offset > 0; offset -= wordBytes {
		if at(offset)&markFree != markUnlocked {
			continue
		}
		for _, of := range h.headersIn(at(offset), at(offset+wordBytes)) {
			if found, ok := h.inside(low+offset, address-low-offset, of); ok {
				return found, true
			}
		}
	}
	return Member{}, false
}

// inside names what lies so many bytes behind the begin of an object.
func (h *HotSpot) inside(object, offset uint64, of header) (Member, bool) {
	class, ok := h.class(of.klass)
	if !ok {
		return Member{}, false
	}
	if strings.HasPrefix(class, "[") {
		return h.inElements(class, object, offset, of)
	}
	klass, name, isLock := of.klass, class, false
	for range mostSupers {
		isLock = isLock || name == syncOfLock
		switch field, ok := h.fieldAt(klass, offset); {
		case ok && isLock:
			return Member{Object: recording.MonitorOf + lockOfLibrary}, true
		case ok:
			return Member{Object: cut(class), Field: cut("." + field)}, true
		}
		if klass, ok = h.word(klass + h.heap.super); !ok || klass == 0 {
			break
		}
		name, _ = h.class(klass)
	}
	return Member{}, false
}

// A lock of Java's library is an object, which one thread alone has at a time: its words are a
// lock's, as a monitor's are. Of a ReentrantReadWriteLock, which readers share, and of a Semaphore
// they are words as any other.
const (
	lockOfLibrary = "java.util.concurrent.locks.ReentrantLock"
	syncOfLock    = lockOfLibrary + "$Sync"
)

// inElements names an element of an array, or its length.
func (h *HotSpot) inElements(class string, object, offset uint64, of header) (Member, bool) {
	name, size := h.arrayOf(class)
	text, ok := h.bytes(object+of.length, 4)
	if name == "" || !ok {
		return Member{}, false
	}
	if offset == of.length { // which each access is held to
		return Member{Object: cut(name), Field: ".length"}, true
	}
	length := uint64(binary.LittleEndian.Uint32(text))
	first := (of.elements + size - 1) / size * size
	if of.elements == wideElements && size < wordBytes || offset < first || (offset-first)/size >= length {
		return Member{}, false
	}
	return Member{Object: cut(name), Field: fmt.Sprintf("[%d]", (offset-first)/size)}, true
}

// elementTypes are the types of an array's elements by their letter (JVM specification, 4.3.2).
var elementTypes = map[string]struct {
	name string
	size uint64
}{"J": {"long", 8}, "D": {"double", 8}, "I": {"int", 4}, "F": {"float", 4}, "S": {"short", 2}, "C": {"char", 2},
	"B": {"byte", 1}, "Z": {"boolean", 1}}

// arrayOf is the name of an array's class as its language writes it, in brackets, so that an
// element's number can follow, and the size of an element; "" where it is none.
func (h *HotSpot) arrayOf(class string) (name string, size uint64) {
	element := strings.TrimLeft(class, "[")
	dimensions := len(class) - len(element)
	of, known := elementTypes[element]
	switch {
	case known:
		name, size = of.name, of.size
	case strings.HasPrefix(element, "L") && strings.HasSuffix(element, ";"):
		name = element[1 : len(element)-1]
	default:
		return "", 0
	}
	if dimensions > 1 || !known {
		size = h.flags.reference()
	}
	return "(" + name + strings.Repeat("[]", dimensions) + ")", size
}
