package unwind

import (
	"bytes"
	"encoding/binary"
)

// smallerMaps changes type information so that the maps of fewerEntries are smaller, and so that
// each map of stack deltas shows the smallest kind of its inner maps with the flag that others may
// be longer.
func smallerMaps(raw []byte) ([]byte, error) {
	t, err := readTypes(raw)
	if err != nil {
		return nil, err
	}
	for name, entries := range fewerEntries {
		if err := t.resize(name, entries); err != nil {
			return nil, err
		}
	}
	shown, err := t.anyLength()
	if err != nil {
		return nil, err
	}
	for i := range deltaMaps {
		values, err := t.valuesOf(deltaMap(i) + mapType)
		if err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint32(t.types[values:], shown)
	}
	return t.bytes(raw), nil
}

// resize gives a map another number of entries.
func (t *typeTable) resize(name string, entries uint32) error {
	id, err := t.find(name)
	if err != nil {
		return err
	}
	at, err := t.member(id, "max_entries")
	if err != nil {
		return err
	}
	smaller, err := t.number(entries, t.word(at))
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(t.types[at:], smaller)
	return nil
}

// valuesOf finds where a map of maps says what its values are like.
func (t *typeTable) valuesOf(name string) (int, error) {
	id, err := t.find(name)
	if err != nil {
		return 0, err
	}
	return t.member(id, "values")
}

// anyLength adds a copy of the first inner map with the flag, and gives the type of a member values
// that shows it.
func (t *typeTable) anyLength() (uint32, error) {
	values, err := t.valuesOf(deltaMap(0) + mapType)
	if err != nil {
		return 0, err
	}
	array := t.word(values)
	pointer, err := t.behind(array, kindArray)
	if err != nil {
		return 0, err
	}
	inner, err := t.behind(pointer, kindPointer)
	if err != nil {
		return 0, err
	}
	like, err := t.member(inner, "max_entries")
	if err != nil {
		return 0, err
	}
	flag, err := t.number(innerMapFlag, t.word(like))
	if err != nil {
		return 0, err
	}
	name := bytes.Index(t.strings, []byte("\x00map_flags\x00"))
	if name < 0 {
		return 0, errTypes
	}
	at, count := t.at[inner], t.word(t.at[inner]+4)&0xffff
	size := t.word(at + 8)
	words := []uint32{kindStruct<<24 | (count + 1), size + 8}
	for i := range count * 3 {
		words = append(words, t.word(at+12+4*int(i)))
	}
	flagged := t.add(append(words, uint32(name+1), flag, size*8)...)
	index := t.word(t.at[array] + 16)
	return t.add(kindArray<<24, 0, t.add(kindPointer<<24, flagged), index, 0), nil
}
