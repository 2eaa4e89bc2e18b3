package symbol

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// What a JVM says of its own structures: libjvm.so has a table of them for the serviceability agent
// (gHotSpotVMStructs, hotspot/share/runtime/vmStructs.cpp), by type and field with their offsets.

const (
	maxStructs    = 4096 // entries of the table
	maxVMName     = 96   // bytes of a name in it
	maxClassName  = 512
	mostOfKlass   = 640 // bytes of a class's metadata in which fields are looked for
	hotspotPrefix = "gHotSpotVMStruct"
	typesPrefix   = "gHotSpotVMType" // of the table of types, with their sizes
)

// HotSpot names words of a JVM's class metadata and of its monitors: memory that stays where it is,
// as objects do not.
type HotSpot struct {
	memory  io.ReaderAt
	low     uint64 // of the library, in which the first word of all metadata points
	high    uint64
	fields  []klassField // by offset
	name    uint64       // offset of Klass::_name
	length  uint64       // offsets in a Symbol
	content uint64
	monitor monitorFields
	narrow  narrowKlass
	heap    heapFields
	flags   hotspotFlags
}

type klassField struct {
	offset uint64
	name   string
}

// OpenHotSpot reads the table of a JVM: file is its libjvm.so, which lies bias above the addresses
// that it counts and between low and high; memory is the process's. An error where it has none.
func OpenHotSpot(file *os.File, bias, low, high uint64, memory io.ReaderAt) (h *HotSpot, err error) {
	defer func() {
		if broken := recover(); broken != nil { // debug/elf is not hardened
			h, err = nil, fmt.Errorf("read libjvm: %v", broken)
		}
	}()
	parsed, err := openELF(file)
	if err != nil {
		return nil, err
	}
	symbols, err := parsed.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("read libjvm: %w", err)
	}
	at := map[string]uint64{}
	for i := range symbols {
		name := symbols[i].Name
		if symbols[i].Section != elf.SHN_UNDEF &&
			(strings.HasPrefix(name, hotspotPrefix) || strings.HasPrefix(name, typesPrefix)) {
			at[name] = symbols[i].Value + bias
		}
	}
	return newHotSpot(at, low, high, memory)
}

var errNoStructs = errors.New("read the structures of a JVM: its table does not make sense")

func newHotSpot(at map[string]uint64, low, high uint64, memory io.ReaderAt) (*HotSpot, error) {
	h := &HotSpot{memory: memory, low: low, high: high}
	var table [6]uint64
	for i, name := range []string{"s", "EntryTypeNameOffset", "EntryFieldNameOffset", "EntryIsStaticOffset",
		"EntryOffsetOffset", "EntryArrayStride"} {
		address, known := at[hotspotPrefix+name]
		value, ok := h.word(address)
		if !known || !ok || i > 0 && value > maxClassName {
			return nil, errNoStructs
		}
		table[i] = value
	}
	entry, stride := table[0], table[5]
	addressAt, _ := h.word(at[hotspotPrefix+"EntryAddressOffset"])
	symbols, flags := map[string]uint64{}, flagTable{}
	for range maxStructs {
		typ, ok := h.text(entry + table[1])
		if !ok || stride == 0 {
			break
		}
		field, _ := h.text(entry + table[2])
		static, _ := h.word(entry + table[3])
		offset, _ := h.word(entry + table[4])
		variable := uint64(0) // where the table has the address of a static one
		if uint32(static) != 0 && addressAt > 0 && addressAt <= maxClassName {
			variable = entry + addressAt
			h.narrow.take(h, typ, field, variable)
		}
		if typ == "JVMFlag" {
			flags.take(h, field, offset, variable)
		}
		entry += stride
		switch {
		case uint32(static) != 0 || offset > mostOfKlass:
		case typ == "ObjectMonitor":
			h.monitor.take(field, offset)
		case typ == "Symbol":
			symbols[field] = offset
		case typ == "Klass" || typ == "InstanceKlass":
			h.fields = append(h.fields, klassField{offset, field})
			h.heap.take(field, offset)
		}
	}
	slices.SortStableFunc(h.fields, func(a, b klassField) int { return cmp.Compare(a.offset, b.offset) })
	name := slices.IndexFunc(h.fields, func(f klassField) bool { return f.name == "_name" })
	var hasLength, hasBody bool
	h.length, hasLength = symbols["_length"]
	h.content, hasBody = symbols["_body[0]"]
	if !hasBody {
		h.content, hasBody = symbols["_body"]
	}
	if name < 0 || !hasLength || !hasBody {
		return nil, errNoStructs
	}
	h.name = h.fields[name].offset
	h.heap.poolSize = h.sizeOf("ConstantPool", at)
	h.flags = flags.read(h, h.sizeOf("JVMFlag", at))
	return h, nil
}

// sizeOf is that of a type of the JVM's, 0 where its table does not say.
func (h *HotSpot) sizeOf(wanted string, at map[string]uint64) uint64 {
	var table [4]uint64
	for i, name := range []string{"s", "EntryTypeNameOffset", "EntrySizeOffset", "EntryArrayStride"} {
		value, ok := h.word(at[typesPrefix+name])
		if !ok || i > 0 && value > maxClassName || i == 3 && value == 0 {
			return 0
		}
		table[i] = value
	}
	for entry := table[0]; entry < table[0]+maxStructs*table[3]; entry += table[3] {
		name, ok := h.text(entry + table[1])
		if !ok {
			return 0
		}
		if name == wanted {
			size, _ := h.word(entry + table[2])
			if size > mostOfKlass {
				return 0
			}
			return size
		}
	}
	return 0
}

// Of is the same JVM's, read through another opening of its memory.
func (h *HotSpot) Of(memory io.ReaderAt) *HotSpot {
	again := *h
	again.memory = memory
	return &again
}

// At names a word of class metadata, by the class and the field of the JVM that the word is, or of
// a monitor.
func (h *HotSpot) At(address uint64) (Member, bool) {
	if found, ok := h.metadataAt(address); ok {
		return found, true
	}
	return h.monitorAt(address)
}

func (h *HotSpot) metadataAt(address uint64) (Member, bool) {
	for klass := address &^ (wordBytes - 1); klass > address-mostOfKlass && klass <= address; klass -= wordBytes {
		table, ok := h.word(klass)
		if !ok {
			return Member{}, false
		}
		if table < h.low || table >= h.high || table%wordBytes != 0 {
			continue // of all that is metadata the first word is its table of virtual functions
		}
		if class, ok := h.class(klass); ok {
			return Member{Object: cut(class), Field: cut(h.field(address - klass))}, true
		}
	}
	return Member{}, false
}

// field is the last one that begins at an offset or before, within its word.
func (h *HotSpot) field(offset uint64) string {
	after, _ := slices.BinarySearchFunc(h.fields, offset+1, func(f klassField, offset uint64) int {
		return cmp.Compare(f.offset, offset)
	})
	if after == 0 || offset-h.fields[after-1].offset >= wordBytes {
		return ""
	}
	return "::" + h.fields[after-1].name
}

// class is the name of the class whose metadata begins at an address.
func (h *HotSpot) class(klass uint64) (string, bool) {
	symbol, ok := h.word(klass + h.name)
	if !ok {
		return "", false
	}
	name, ok := h.symbol(symbol)
	return strings.ReplaceAll(name, "/", "."), ok
}

// symbol is the text of a Symbol.
func (h *HotSpot) symbol(symbol uint64) (string, bool) {
	if symbol%wordBytes != 0 || symbol == 0 {
		return "", false
	}
	length, ok := h.bytes(symbol+h.length, 2)
	if !ok {
		return "", false
	}
	size := int(binary.LittleEndian.Uint16(length))
	if size == 0 || size > maxClassName {
		return "", false
	}
	text, ok := h.bytes(symbol+h.content, size)
	if !ok {
		return "", false
	}
	for _, c := range text {
		if c <= ' ' || c == 0x7f {
			return "", false
		}
	}
	return string(text), true
}

func (h *HotSpot) bytes(address uint64, length int) ([]byte, bool) {
	text := make([]byte, length)
	if address == 0 || int64(address) < 0 {
		return nil, false
	}
	if _, err := h.memory.ReadAt(text, int64(address)); err != nil {
		return nil, false
	}
	return text, true
}

func (h *HotSpot) word(address uint64) (uint64, bool) {
	var word [wordBytes]byte
	if address == 0 || int64(address) < 0 {
		return 0, false
	}
	if _, err := h.memory.ReadAt(word[:], int64(address)); err != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(word[:]), true
}

// text is the string that a word points to.
func (h *HotSpot) text(at uint64) (string, bool) {
	address, ok := h.word(at)
	if !ok || address == 0 || int64(address) < 0 {
		return "", false
	}
	var text [maxVMName]byte
	n, _ := h.memory.ReadAt(text[:], int64(address)) // what is there
	name, _, ended := strings.Cut(string(text[:n]), "\x00")
	return name, ended && name != ""
}
