package unwind

import (
	"bytes"
	"debug/elf"
	"io/fs"
	"strconv"
	"strings"

	"go.opentelemetry.io/ebpf-profiler/process"
	"golang.org/x/sys/unix"
)

// The library reads /proc/PID/maps in pieces of 256 bytes and makes sense of every line, where it
// wants those of code only: an eighth of what recording a host took that starts three hundred
// processes a second. Here the file is read in whole pages, and what is no code is passed over.

const (
	maxMapsFile = 32 << 20
	vdsoInode   = 50 // the library's (process/types.go): it stands among the keys of its tables
)

// mapsReader reads lists of mappings into one buffer, one list after the other.
type mapsReader struct {
	buffer []byte

	noQuery bool // this kernel is to be asked no questions
	name    []byte
	list    []process.RawMapping
}

// openMaps opens the list of a process's mappings; name is for errors.
func openMaps(pid int) (file int, name string, err error) {
	name = "/proc/" + strconv.Itoa(pid) + "/maps"
	if file, err = unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return -1, name, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return file, name, nil
}

// read gives the text of /proc/PID/maps, which holds until the next call. It is cut off at the
// limit.
func (r *mapsReader) read(pid int) ([]byte, error) {
	file, name, err := openMaps(pid)
	if err != nil {
		return nil, err
	}
	defer unix.Close(file)
	if r.buffer == nil {
		r.buffer = make([]byte, 64<<10)
	}
	length := 0
	for {
		n, err := unix.Read(file, r.buffer[length:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: name, Err: err}
		}
		length += n
		if n == 0 || length >= maxMapsFile {
			return r.buffer[:length], nil
		}
		if length == len(r.buffer) {
			r.buffer = append(r.buffer, make([]byte, len(r.buffer))...)
		}
	}
}

// IterateMappings gives the mappings that the library does anything with: code and the vDSO; where
// the kernel cannot be asked for those alone also libraries of .NET, which culprit has the library
// leave out, and what a process says of itself in memory with a name, which nobody here reads. One
// whose first thread has ended is left to the library.
func (m mortal) IterateMappings(callback func(process.RawMapping) bool) (failed uint32, err error) {
	if m.maps == nil {
		return m.Process.IterateMappings(callback)
	}
	callback = m.ready(callback)
	if list, err := m.maps.query(int(m.PID())); err == nil && len(list) > 0 {
		for _, mapping := range list {
			if !callback(mapping) {
				return 0, process.ErrCallbackStopped
			}
		}
		return 0, nil
	}
	text, err := m.maps.read(int(m.PID()))
	if err != nil {
		return 0, err
	}
	if len(text) == 0 {
		return m.Process.IterateMappings(callback)
	}
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if !ofUse(line) {
			continue
		}
		mapping, wanted, ok := ParseMapping(string(line))
		if !ok {
			failed++
		} else if wanted && !callback(mapping) {
			return failed, process.ErrCallbackStopped
		}
	}
	return failed, nil
}

// ready leaves out what a look would have to wait for.
func (m mortal) ready(callback func(process.RawMapping) bool) func(process.RawMapping) bool {
	if m.files == nil {
		return callback
	}
	return func(mapping process.RawMapping) bool {
		return !m.files.ready(m.Process, &mapping) || callback(mapping)
	}
}

// ofUse tells lines that may be worth more than a look at their permissions.
func ofUse(line []byte) bool {
	space := bytes.IndexByte(line, ' ')
	return space > 0 && len(line) > space+3 && line[space+3] == 'x' || bytes.Contains(line, []byte(".dll")) ||
		bytes.Contains(line, []byte("OTEL_CTX"))
}

// ParseMapping reads a line as the library does: what is no file, no vDSO and no memory that a
// process may have made code in is not wanted.
func ParseMapping(line string) (mapping process.RawMapping, wanted, ok bool) {
	words := strings.SplitN(line, " ", 6)
	if len(words) < 5 || len(words[1]) < 3 {
		return mapping, false, false
	}
	start, end, dash := strings.Cut(words[0], "-")
	major, minor, colon := strings.Cut(words[3], ":")
	numbers := [6]uint64{}
	for i, text := range []string{start, end, words[2], major, minor} {
		number, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return mapping, false, false
		}
		numbers[i] = number
	}
	inode, err := strconv.ParseUint(words[4], 10, 64)
	if err != nil || !dash || !colon || numbers[1] < numbers[0] {
		return mapping, false, false
	}
	for i, flag := range []elf.ProgFlag{elf.PF_R, elf.PF_W, elf.PF_X} {
		if words[1][i] != '-' {
			mapping.Flags |= flag
		}
	}
	mapping.Vaddr, mapping.Length, mapping.FileOffset = numbers[0], numbers[1]-numbers[0], numbers[2]
	mapping.Device, mapping.Inode = numbers[3]<<8+numbers[4], inode
	path := ""
	if len(words) == 6 {
		path = strings.TrimLeft(words[5], " ")
	}
	return mapping, nameMapping(&mapping, path), true
}

// nameMapping enters what the kernel calls a mapping that is otherwise known; not wanted: see
// ParseMapping.
func nameMapping(mapping *process.RawMapping, path string) (wanted bool) {
	switch {
	case mapping.Inode != 0:
		mapping.Path = strings.TrimSuffix(path, " (deleted)")
		if mapping.Path == "/dev/zero" { // as some make room for their code
			mapping.Path = ""
		}
	case path == "[vdso]":
		mapping.Path, mapping.Device, mapping.Inode = process.VdsoPathName, 0, vdsoInode
	case path == "" || strings.HasPrefix(path, "[anon:"):
		mapping.Path = path
	default:
		return false
	}
	return mapping.Flags&(elf.PF_R|elf.PF_X) != 0
}
