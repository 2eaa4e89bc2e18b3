package unwind

import (
	"debug/elf"
	"errors"
	"io/fs"
	"strings"
	"unsafe"

	"go.opentelemetry.io/ebpf-profiler/process"
	"golang.org/x/sys/unix"
)

// Since Linux 6.11 one mapping after the other can be asked for by an ioctl on /proc/PID/maps
// (PROCMAP_QUERY in linux/fs.h), those of code alone. A JVM or Node has hundreds of mappings and
// twenty of code, and each line of the list is made as text, with the path of its file, for a
// reader who passes it over.

// procmapQuery is struct procmap_query of linux/fs.h.
type procmapQuery struct {
	size, flags, address      uint64
	start, end, vmaFlags      uint64
	pageSize, offset, inode   uint64
	major, minor              uint32
	nameSize, buildIDSize     uint32
	nameAddress, buildAddress uint64
}

const (
	queryCode      = 0xc0686611  // _IOWR('f', 17, struct procmap_query)
	queryCodeOnly  = 0x04 | 0x10 // PROCMAP_QUERY_VMA_EXECUTABLE, PROCMAP_QUERY_COVERING_OR_NEXT_VMA
	queryReadable  = 0x01
	queryWritable  = 0x02
	queryRuns      = 0x04
	maxQueries     = 1 << 17
	longestMapName = 4096 // PATH_MAX
)

// errNoQuery says that this kernel answers no such questions.
var errNoQuery = errors.New("no queries of mappings")

// query asks for the mappings of code of a process. An error other than errNoQuery is of this
// process alone.
func (r *mapsReader) query(pid int) (list []process.RawMapping, err error) {
	if r.noQuery {
		return nil, errNoQuery
	}
	file, name, err := openMaps(pid)
	if err != nil {
		return nil, err
	}
	defer unix.Close(file)
	if r.name == nil {
		r.name = make([]byte, longestMapName)
	}
	list = r.list[:0]
	for next := uint64(0); len(list) < maxQueries; {
		asked := procmapQuery{size: uint64(unsafe.Sizeof(procmapQuery{})), flags: queryCodeOnly, address: next,
			nameSize: uint32(len(r.name)), nameAddress: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r.name))))}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(file), queryCode, uintptr(unsafe.Pointer(&asked)))
		switch {
		case errno == unix.ENOENT: // that was the last one
			r.list = list
			return list, nil
		case errno == unix.EINTR:
			continue
		case errno == unix.ENOTTY:
			r.noQuery = true
			return nil, errNoQuery
		case errno != 0:
			return nil, &fs.PathError{Op: "ioctl", Path: name, Err: errno}
		case asked.end <= next || asked.start >= asked.end || uint64(asked.nameSize) > uint64(len(r.name)):
			return nil, errNoQuery // not as it is described
		}
		next = asked.end
		if mapping, wanted := asked.mapping(unix.ByteSliceToString(r.name[:asked.nameSize])); wanted {
			list = append(list, mapping)
		}
	}
	return nil, errNoQuery
}

// mapping is the answer as the library has it.
func (q *procmapQuery) mapping(path string) (mapping process.RawMapping, wanted bool) {
	for _, one := range [...]struct {
		flag uint64
		is   elf.ProgFlag
	}{{queryReadable, elf.PF_R}, {queryWritable, elf.PF_W}, {queryRuns, elf.PF_X}} {
		if q.vmaFlags&one.flag != 0 {
			mapping.Flags |= one.is
		}
	}
	mapping.Vaddr, mapping.Length, mapping.FileOffset = q.start, q.end-q.start, q.offset
	mapping.Device, mapping.Inode = uint64(q.major)<<8+uint64(q.minor), q.inode
	return mapping, nameMapping(&mapping, strings.ReplaceAll(path, "\n", `\012`)) // as in the list
}
