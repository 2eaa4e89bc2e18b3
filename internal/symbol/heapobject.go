package symbol

import "encoding/binary"

// An object of a JVM's heap names its class in its header, and the class knows the offsets of its
// fields (hotspot/share/oops/instanceKlass.hpp). JDK 17 keeps them in an array of six numbers a
// field (fieldInfo.hpp), JDK 21 and later in a stream of numbers of one to five bytes
// (fieldInfo.hpp and utilities/unsigned5.hpp; JDK 25 tried).

const (
	arrayData     = 4 // of an Array<u1> or Array<u2>: behind its length
	fieldSlots    = 6
	mostFields    = 512
	mostStream    = 1 << 14
	mostSupers    = 16
	accessStatic  = 0x8
	fieldInternal = 0x400 // of JDK 17: the JVM's own, whose name is in another table
	offsetTag     = 1     // of JDK 17: the number behind is an offset
	tagMask       = 3
)

// Bits of the flags of a field in a stream: what follows of it, and the JVM's own.
const (
	flagInitial   = 1 << 0
	flagInjected  = 1 << 1
	flagGeneric   = 1 << 2
	flagContended = 1 << 4
)

// The numbers of a stream: no byte is 0, and those from here on are followed by another one.
const (
	streamExcess = 1
	streamLow    = 191
	streamBits   = 6
	streamBytes  = 5
)

// heapFields are where a class keeps what names its fields; poolSize 0: that is not known.
type heapFields struct {
	array, count, stream, constants, super uint64
	hasArray, hasStream                    bool
	poolSize                               uint64
}

func (f *heapFields) take(field string, offset uint64) {
	switch field {
	case "_fields":
		f.array, f.hasArray = offset, true
	case "_java_fields_count":
		f.count = offset
	case "_fieldinfo_stream":
		f.stream, f.hasStream = offset, true
	case "_constants":
		f.constants = offset
	case "_super":
		f.super = offset
	}
}

// InObject names what lies so many bytes behind the begin of an object on the heap: its class and
// field. An object that has been moved meanwhile has no header there any more, as a rule.
func (h *HotSpot) InObject(object, offset uint64) (Member, bool) {
	if h.heap.poolSize == 0 {
		return Member{}, false
	}
	for _, of := range h.headersOf(object) {
		if found, ok := h.inside(object, offset, of); ok {
			return found, true
		}
	}
	return Member{}, false
}

// fieldAt is the name of the field that a class itself declares at an offset of its objects.
func (h *HotSpot) fieldAt(klass, offset uint64) (string, bool) {
	pool, ok := h.word(klass + h.heap.constants)
	if !ok {
		return "", false
	}
	index, ok := uint64(0), false
	if h.heap.hasStream {
		index, ok = h.inStream(klass, offset)
	} else if h.heap.hasArray {
		index, ok = h.inArray(klass, offset)
	}
	if !ok {
		return "", false
	}
	name, ok := h.word(pool + h.heap.poolSize + index*wordBytes)
	if !ok {
		return "", false
	}
	return h.symbol(name)
}

// inArray is the number of a field's name among the constants.
func (h *HotSpot) inArray(klass, offset uint64) (name uint64, ok bool) {
	array, ok := h.word(klass + h.heap.array)
	count, held := h.bytes(klass+h.heap.count, 2)
	if !ok || !held {
		return 0, false
	}
	fields := min(int(binary.LittleEndian.Uint16(count)), mostFields)
	text, ok := h.bytes(array+arrayData, 2*fieldSlots*fields)
	if !ok {
		return 0, false
	}
	for ; len(text) >= 2*fieldSlots; text = text[2*fieldSlots:] {
		slot := func(i int) uint64 { return uint64(binary.LittleEndian.Uint16(text[2*i:])) }
		at := slot(4) | slot(5)<<16
		if at&tagMask == offsetTag && at>>2 == offset && slot(0)&(accessStatic|fieldInternal) == 0 {
			return slot(1), true
		}
	}
	return 0, false
}

// inStream is the same of a stream: the numbers of fields, then of each its name, signature,
// offset, access and flags, and what these say that follows.
func (h *HotSpot) inStream(klass, offset uint64) (name uint64, ok bool) {
	array, ok := h.word(klass + h.heap.stream)
	length, held := h.bytes(array, arrayData)
	if !ok || !held {
		return 0, false
	}
	text, ok := h.bytes(array+arrayData, min(int(binary.LittleEndian.Uint32(length)), mostStream))
	if !ok {
		return 0, false
	}
	stream := numbers{text: text}
	fields := min(stream.next(), mostFields)
	stream.next() // those that the JVM adds
	for range fields {
		name, _, at, access, flags := stream.next(), stream.next(), stream.next(), stream.next(), stream.next()
		for _, follows := range []uint64{flagInitial, flagGeneric, flagContended} {
			if flags&follows != 0 {
				stream.next()
			}
		}
		if stream.ended {
			return 0, false
		}
		if at == offset && access&accessStatic == 0 && flags&flagInjected == 0 {
			return name, true
		}
	}
	return 0, false
}

// numbers reads a stream.
type numbers struct {
	text  []byte
	ended bool
}

func (n *numbers) next() (value uint64) {
	for i := range streamBytes {
		if len(n.text) == 0 || n.text[0] < streamExcess {
			n.ended = true
			return 0
		}
		digit := uint64(n.text[0] - streamExcess)
		n.text = n.text[1:]
		value += digit << (streamBits * i)
		if digit < streamLow {
			break
		}
	}
	return value
}
