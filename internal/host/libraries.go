package host

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

const (
	mapsLimit       = 4 << 20 // bytes of /proc/PID/maps
	librariesLimit  = 64      // mapped files whose build id is read
	programsLimit   = 64      // program headers of an ELF file that are looked at
	noteLimit       = 4 << 10 // bytes of one note segment
	typeNote        = 4       // PT_NOTE
	typeBuildID     = 3       // NT_GNU_BUILD_ID
	elfHeaderSize   = 64
	programHeadSize = 56
)

// mapped is a file of which a process has mapped code.
type mapped struct {
	path string // as the process sees it
	file string // below /proc, the very file that is mapped where we may open that
}

// mappedFiles lists the files that a process runs code of, in the order of their addresses.
func mappedFiles(files tree, folder string) []mapped {
	text, _ := files.read(folder+"/maps", mapsLimit) // of a longer one the first part is true
	var found []mapped
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 6 || len(words[1]) != 4 || words[1][2] != 'x' || !strings.HasPrefix(words[5], "/") {
			continue
		}
		name := strings.TrimSuffix(strings.Join(words[5:], " "), " (deleted)")
		if seen[name] || len(found) == librariesLimit {
			continue
		}
		seen[name] = true
		file := folder + "/map_files/" + words[0]
		if !files.exists(file) { // it needs CAP_CHECKPOINT_RESTORE
			file = folder + "/root" + name
		}
		found = append(found, mapped{path: name, file: file})
	}
	return found
}

// libraries keeps the build id of every file that the process runs code of: what tells two builds
// of one version apart.
func (collect *collector) libraries(found []mapped) {
	for _, one := range found {
		if id, err := collect.files.buildID(one.file); err == nil {
			collect.add("target.library."+clean(path.Base(one.path), 64), id, "build id of "+one.path)
		}
	}
}

// open opens a file for reading that is regular or, where devices is set, a block device.
func (files tree) open(name string, devices bool) (*os.File, error) {
	descriptor, err := openToRead(files.path(name), devices)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return os.NewFile(uintptr(descriptor), files.path(name)), nil
}

// buildID reads the GNU build id of a 64-bit ELF file of this byte order. The file is whatever its
// owner made of it: every size is bounded.
func (files tree) buildID(name string) (string, error) {
	file, err := files.open(name, false)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var header [elfHeaderSize]byte
	if _, err := file.ReadAt(header[:], 0); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	little := binary.LittleEndian
	if string(header[:6]) != "\x7fELF\x02\x01" || little.Uint16(header[54:]) != programHeadSize {
		return "", fmt.Errorf("read %s: not a 64-bit ELF file", name)
	}
	start, count := little.Uint64(header[32:]), min(int(little.Uint16(header[56:])), programsLimit)
	if start > 1<<32 {
		return "", fmt.Errorf("read %s: its program headers lie beyond 4 GB", name)
	}
	heads := make([]byte, count*programHeadSize)
	if _, err := file.ReadAt(heads, int64(start)); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	for ; len(heads) > 0; heads = heads[programHeadSize:] {
		offset, size := little.Uint64(heads[8:]), little.Uint64(heads[32:])
		if little.Uint32(heads) != typeNote || offset > 1<<40 {
			continue
		}
		notes := make([]byte, min(size, noteLimit))
		n, err := file.ReadAt(notes, int64(offset))
		if err != nil && err != io.EOF {
			continue
		}
		if id := findBuildID(notes[:n]); id != "" {
			return id, nil
		}
	}
	return "", fmt.Errorf("read %s: it has no build id", name)
}

// findBuildID walks the notes of one segment: sizes of name and content, a type, both padded to
// four bytes.
func findBuildID(notes []byte) string {
	padded := func(size uint32) uint64 { return (uint64(size) + 3) &^ 3 }
	for len(notes) >= 12 {
		nameSize, size := binary.LittleEndian.Uint32(notes), binary.LittleEndian.Uint32(notes[4:])
		kind := binary.LittleEndian.Uint32(notes[8:])
		next := 12 + padded(nameSize) + padded(size)
		begin := 12 + padded(nameSize)
		if next > uint64(len(notes)) {
			return ""
		}
		if kind == typeBuildID && nameSize == 4 && string(notes[12:16]) == "GNU\x00" && size > 0 && size <= 64 {
			return hex.EncodeToString(notes[begin : begin+uint64(size)])
		}
		notes = notes[next:]
	}
	return ""
}
