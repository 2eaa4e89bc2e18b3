package rpm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
)

// The tags of a header that are read (rpm's rpmtag.h).
const (
	tagName       = 1000
	tagVersion    = 1001
	tagRelease    = 1002
	tagEpoch      = 1003
	tagOldFiles   = 1027 // whole paths, of rpm before 4.0
	tagDirIndexes = 1116
	tagBaseNames  = 1117
	tagDirNames   = 1118
)

// maxEntries bounds the entries of a header; rpm's own limit is the same.
const maxEntries = 64 << 10

// Package is one that is installed.
type Package struct {
	Name    string
	Version string // "1:2.3-4.fc35", as rpm -q prints epoch, version and release
	entries map[uint32]entry
	data    []byte
}

type entry struct{ offset, count uint32 }

// parse reads a header as the database keeps it: numbers of entries and bytes, the entries, the
// data. nil where it is none, or has no name.
func parse(blob []byte) *Package {
	order := binary.BigEndian
	entries, length := u32(order, blob, 0), u32(order, blob, 4)
	if entries == 0 || entries > maxEntries || int64(length) > int64(len(blob)) {
		return nil
	}
	begin := 8 + 16*int(entries)
	if begin > len(blob) {
		return nil
	}
	found := &Package{entries: map[uint32]entry{}, data: blob[begin:]}
	for i := range int(entries) {
		at := 8 + 16*i
		switch tag := u32(order, blob, at); tag {
		case tagName, tagVersion, tagRelease, tagEpoch, tagOldFiles, tagDirIndexes, tagBaseNames, tagDirNames:
			found.entries[tag] = entry{u32(order, blob, at+8), u32(order, blob, at+12)}
		}
	}
	found.Name = found.text(tagName)
	if found.Name == "" || found.Name == "gpg-pubkey" { // a key of a signer, which rpm keeps as a package
		return nil
	}
	found.Version = found.text(tagVersion) + "-" + found.text(tagRelease)
	if epoch, has := found.entries[tagEpoch]; has {
		if number := u32(order, found.data, int(epoch.offset)); number > 0 {
			found.Version = fmt.Sprint(number, ":", found.Version)
		}
	}
	return found
}

// text is a string of the header, or the first one of a list.
func (p *Package) text(tag uint32) string {
	for text := range p.texts(tag) {
		return text
	}
	return ""
}

// texts are the strings of a list, which follow each other with a zero behind each.
func (p *Package) texts(tag uint32) iter.Seq[string] {
	return func(yield func(string) bool) {
		one, has := p.entries[tag]
		if !has || int64(one.offset) > int64(len(p.data)) {
			return
		}
		rest := p.data[one.offset:]
		for range one.count {
			end := bytes.IndexByte(rest, 0)
			if end < 0 || !yield(string(rest[:end])) {
				return
			}
			rest = rest[end+1:]
		}
	}
}

// Files are the paths that the package owns.
func (p *Package) Files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range p.texts(tagOldFiles) {
			if !yield(name) {
				return
			}
		}
		var folders []string
		for name := range p.texts(tagDirNames) {
			folders = append(folders, name)
		}
		indexes, at := p.entries[tagDirIndexes], 0
		for base := range p.texts(tagBaseNames) {
			position := int64(indexes.offset) + 4*int64(at)
			if at++; position+4 > int64(len(p.data)) || uint32(at) > indexes.count {
				return
			}
			folder := u32(binary.BigEndian, p.data, int(position))
			if int64(folder) < int64(len(folders)) && !yield(folders[folder]+base) {
				return
			}
		}
	}
}
