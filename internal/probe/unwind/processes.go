package unwind

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync/atomic"
	"time"
	"unsafe"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	"go.opentelemetry.io/ebpf-profiler/tracer"
	"golang.org/x/sys/unix"
)

// The library looks at a process by listing its mappings and then opening their
// files. When the process ends or calls exec in between, opening fails; the
// library means not to remember that (processmanager.getELFInfo) but does, since
// process.CalculateMappingFileID drops the kind of the error. From then on the file,
// most often the C library, counts as no ELF file, and every stack through it is
// broken until the recorder ends: seen in one of forty runs of a shell's children.
//
// So the queue of processes is read here (monitor.go), and the library is handed processes whose
// failures it can tell apart.

// bear does what reads a process's files and memory, and counts it where the library panics: it is
// not hardened against files that are damaged, or written while it reads them ("makeslice: len out
// of range" ended a recorder beside a build that wrote its programs in place). It reads them
// without holding its locks, or with deferred unlocks.
func (u *Unwinder) bear(read func()) {
	defer func() {
		if recover() != nil {
			u.damaged.Add(1)
		}
	}()
	read()
}

// Damaged counts the times since the last call that a process was left out because its files or its
// memory could not be made sense of.
func (u *Unwinder) Damaged() int64 { return u.damaged.Swap(0) }

// Looks counts the times since the last call that a process was looked at.
func (u *Unwinder) Looks() int64 { return u.looks.Swap(0) }

// cleanupEvery is how often the library forgets processes whose end it missed.
const cleanupEvery = time.Minute

// managerOf finds who looks at processes. It is not exported: reflection finds it, and a test says
// when a new version of the library has it no longer.
func managerOf(t *tracer.Tracer) (*processmanager.ProcessManager, error) {
	return fieldOf[*processmanager.ProcessManager](t, "processManager")
}

// fieldOf reads an unexported field of what the library points to.
func fieldOf[T any](pointer any, name string) (value T, err error) {
	field, err := fieldAt[T](pointer, name)
	if err != nil {
		return value, err
	}
	return *field, nil
}

// fieldAt points to an unexported field of what the library points to.
func fieldAt[T any](pointer any, name string) (*T, error) {
	field := reflect.Value{}
	if of := reflect.ValueOf(pointer); of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.Struct {
		field = of.Elem().FieldByName(name)
	}
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() {
		return nil, fmt.Errorf("the unwinder library has no field %s of type %v", name, reflect.TypeFor[T]())
	}
	return (*T)(unsafe.Pointer(field.UnsafeAddr())), nil
}

// mortal is a process that may end at any moment: what fails for that reason says so.
type mortal struct {
	process.Process
	// What looking at one process has for the next; nil: nothing.
	files *heldFiles
	maps  *mapsReader
}

// GetExe tells nothing: the library would tell it to its reporter, which does not ask.
func (m mortal) GetExe() (libpf.String, error) { return libpf.NullString, nil }

// GetProcessMeta tells nothing, for the same reason. Processes are put into containers by the
// processes probe.
func (m mortal) GetProcessMeta(process.MetaConfig) process.ProcessMeta {
	return process.ProcessMeta{ContainerID: noContainer} // or it would be looked for elsewhere
}

var noContainer = libpf.Intern("-")

// CalculateMappingFileID fails with os.ErrNotExist when the mapping is gone.
func (m mortal) CalculateMappingFileID(mapping *process.RawMapping) (libpf.FileID, error) {
	id, err := m.Process.CalculateMappingFileID(mapping)
	if err != nil && !errors.Is(err, os.ErrNotExist) && !m.has(mapping) {
		err = fmt.Errorf("%w: %v", os.ErrNotExist, err)
	}
	return id, err
}

// never is a time that no file was modified at, another one each time.
var never atomic.Int64

// GetMappingFileLastModified is part of what the library remembers a file by: a
// time that never comes again makes it forget what it finds out about a mapping that is gone.
func (m mortal) GetMappingFileLastModified(mapping *process.RawMapping) int64 {
	modified := m.modified(mapping)
	if modified == 0 && !m.has(mapping) || mapping.IsVDSO() && !m.readable(mapping) {
		return never.Add(-1)
	}
	return modified
}

// readable tells whether the beginning of a mapping can be read. The library remembers the vDSO for
// all processes: one whose memory is just replaced by an exec would take it from every other.
func (m mortal) readable(mapping *process.RawMapping) bool {
	memory := m.GetRemoteMemory()
	return memory.Read(libpf.Address(mapping.Vaddr), make([]byte, 4)) == nil
}

func (m mortal) modified(mapping *process.RawMapping) int64 {
	if m.files != nil {
		return m.files.modified(m.Process, mapping)
	}
	return m.Process.GetMappingFileLastModified(mapping)
}

// has tells whether the process still has the mapping.
func (m mortal) has(mapping *process.RawMapping) bool {
	path := fmt.Sprintf("/proc/%d/map_files/%x-%x", m.PID(), mapping.Vaddr, mapping.Vaddr+mapping.Length)
	if mapping.IsVDSO() || mapping.IsMemFD() {
		path = fmt.Sprintf("/proc/%d/maps", m.PID())
	}
	var status unix.Stat_t
	err := unix.Lstat(path, &status)
	return err == nil || !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ESRCH)
}
