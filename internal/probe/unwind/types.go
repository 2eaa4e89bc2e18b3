package unwind

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// How large the maps of the library's object are, is in its type information (BTF, see the kernel's
// Documentation/bpf/btf.rst): a map is a struct, its number of entries the length of an array that
// a member points to.

// fewerEntries are the maps that are made smaller: of processes that wait to be looked at, and that
// were.
var fewerEntries = map[string]uint32{"pid_events_t": 8192, "reported_pids_t": 8192}

const (
	deltaMaps      = 16 // exe_id_to_8_stack_deltas_t and on
	firstDeltaMap  = 8
	innerMapFlag   = 0x1000 // BPF_F_INNER_MAP: maps of another length may take the place of the one that is shown
	deltaMapName   = "exe_id_to_%d_stack_deltas"
	mapType        = "_t" // behind the name of a map: that of its type
	btfHeaderBytes = 24
)

// Kinds of types and how many bytes each has behind its head of 12, beside those for each of its
// members.
const (
	kindPointer = 2
	kindArray   = 3
	kindStruct  = 4
)

var kindBytes = [20]struct{ fixed, member int }{
	1: {4, 0}, 3: {12, 0}, 4: {0, 12}, 5: {0, 12}, 6: {0, 8}, 13: {0, 8}, 14: {4, 0}, 15: {0, 12}, 17: {4, 0},
	19: {0, 12},
}

// typeTable is type information that is being changed: types are appended, strings stay.
type typeTable struct {
	types, strings []byte
	at             []int // offset of each type in types, by id
}

var errTypes = errors.New("the unwinder's types are not as they were")

func readTypes(raw []byte) (*typeTable, error) {
	if len(raw) < btfHeaderBytes || binary.LittleEndian.Uint32(raw[4:]) != btfHeaderBytes {
		return nil, errTypes
	}
	part := func(at int) []byte {
		offset, size := uint64(binary.LittleEndian.Uint32(raw[at:])), uint64(binary.LittleEndian.Uint32(raw[at+4:]))
		if offset+size > uint64(len(raw)-btfHeaderBytes) {
			return nil
		}
		return bytes.Clone(raw[btfHeaderBytes+offset : btfHeaderBytes+offset+size])
	}
	t := &typeTable{types: part(8), strings: part(16), at: []int{0}}
	for at := 0; at < len(t.types); {
		if at+12 > len(t.types) {
			return nil, errTypes
		}
		t.at = append(t.at, at)
		info := binary.LittleEndian.Uint32(t.types[at+4:])
		kind := info >> 24 & 31
		if int(kind) >= len(kindBytes) {
			return nil, errTypes
		}
		at += 12 + kindBytes[kind].fixed + int(info&0xffff)*kindBytes[kind].member
		if at > len(t.types) {
			return nil, errTypes
		}
	}
	return t, nil
}

// bytes are the table as it stands in a file; its header is otherwise that of raw.
func (t *typeTable) bytes(raw []byte) []byte {
	header := bytes.Clone(raw[:btfHeaderBytes])
	binary.LittleEndian.PutUint32(header[8:], 0)
	binary.LittleEndian.PutUint32(header[12:], uint32(len(t.types)))
	binary.LittleEndian.PutUint32(header[16:], uint32(len(t.types)))
	binary.LittleEndian.PutUint32(header[20:], uint32(len(t.strings)))
	return append(append(header, t.types...), t.strings...)
}

func (t *typeTable) word(at int) uint32 { return binary.LittleEndian.Uint32(t.types[at:]) }

func (t *typeTable) nameAt(offset uint32) string {
	if int(offset) >= len(t.strings) {
		return ""
	}
	name, _, _ := bytes.Cut(t.strings[offset:], []byte{0})
	return string(name)
}

// find gives the id of the struct of a name.
func (t *typeTable) find(name string) (uint32, error) {
	for id := 1; id < len(t.at); id++ {
		at := t.at[id]
		if t.word(at+4)>>24&31 == kindStruct && t.nameAt(t.word(at)) == name {
			return uint32(id), nil
		}
	}
	return 0, fmt.Errorf("%w: no %s", errTypes, name)
}

// member gives the offset of the type of a struct's member.
func (t *typeTable) member(id uint32, name string) (int, error) {
	if int(id) >= len(t.at) || t.word(t.at[id]+4)>>24&31 != kindStruct {
		return 0, errTypes
	}
	at := t.at[id]
	for i := range int(t.word(at+4) & 0xffff) {
		if one := at + 12 + 12*i; t.nameAt(t.word(one)) == name {
			return one + 4, nil
		}
	}
	return 0, fmt.Errorf("%w: no member %s", errTypes, name)
}

// add appends a type without a name and gives its id. words are what follows the name: info, size
// or type, and more.
func (t *typeTable) add(words ...uint32) uint32 {
	t.at = append(t.at, len(t.types))
	for _, word := range append([]uint32{0}, words...) {
		t.types = binary.LittleEndian.AppendUint32(t.types, word)
	}
	return uint32(len(t.at) - 1)
}

// number adds a type that stands for a number: a pointer to an array of that length, as another
// such type.
func (t *typeTable) number(value, like uint32) (uint32, error) {
	array, err := t.behind(like, kindPointer)
	if err != nil {
		return 0, err
	}
	if t.word(t.at[array]+4)>>24&31 != kindArray {
		return 0, errTypes
	}
	at := t.at[array] + 12
	return t.add(kindPointer<<24, t.add(kindArray<<24, 0, t.word(at), t.word(at+4), value)), nil
}

// behind follows a type of a kind that refers to another.
func (t *typeTable) behind(id, kind uint32) (uint32, error) {
	if int(id) >= len(t.at) || t.word(t.at[id]+4)>>24&31 != kind {
		return 0, errTypes
	}
	to := t.word(t.at[id] + 8)
	if kind == kindArray {
		to = t.word(t.at[id] + 12)
	}
	if to == 0 || int(to) >= len(t.at) {
		return 0, errTypes
	}
	return to, nil
}
