package unwind

import (
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/interpreter"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/lpm"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	"go.opentelemetry.io/ebpf-profiler/util"
)

// A JVM makes its code heaps one after the other while it starts, and then writes down which
// version it is. The library reads both once (hotspot/instance.go: populateMainMappings;
// hotspot/data.go: newVMData). Where it looks before the JVM is that far it goes wrong for good:
// heaps that are made later stay unknown for as long as the process lives, one whose table of
// segments is made later is never found in, and a JVM "of version 0" counts as one that is not
// supported, as does every other that has the same libjvm.so. Every stack through their compiled
// code is broken then. On a host at load 18 that was one recording of fifty. So what was read is
// forgotten before each look at a process.

// Fields of the library.
const (
	heapsRead = "mainMappingsInserted" // of a JVM
	heaps     = "heapAreas"            // of a JVM
	segments  = "tsid"                 // of a heap: where its table of segments is; 0: it was not there yet
	entered   = "prefixes"             // of a JVM: what of its heaps is in the kernel's table
	library   = "d"                    // of a JVM: what is known of its libjvm.so
	tableRead = "done"                 // of that: its table was read
	table     = "data"
	tableFail = "err" // of the table: why it is of no use
)

type instances = map[libpf.PID]map[util.OnDiskFileIdentifier]interpreter.Instance

// codeHeaps finds the library's marks.
type codeHeaps struct {
	mutex *sync.RWMutex
	known *instances
	table *ebpf.Map // the kernel's: where a process has which code
}

func findCodeHeaps(manager *processmanager.ProcessManager, table *ebpf.Map) (*codeHeaps, error) {
	mutex, err := fieldAt[sync.RWMutex](manager, "mu")
	if err != nil {
		return nil, err
	}
	known, err := fieldAt[instances](manager, "interpreters")
	return &codeHeaps{mutex, known, table}, err
}

// anew has the next look at the process read the heaps again. What it returns is to be called after
// that look: the library must still know that it has something to take away when the process ends.
func (h *codeHeaps) anew(pid libpf.PID) (after func()) {
	var marks []*bool
	h.mutex.RLock()
	for _, instance := range (*h.known)[pid] {
		of := reflect.ValueOf(instance)
		if of.Kind() != reflect.Pointer {
			continue
		}
		forgetFailure(fieldOfValue(of, library))
		if done, ok := pointerTo[bool](fieldOfValue(of, heapsRead)); ok && *done {
			*done = false
			marks = append(marks, done)
			h.leave(pid, of)
		}
	}
	h.mutex.RUnlock()
	return func() {
		for _, done := range marks {
			*done = true
		}
	}
}

// leave takes the heaps of a JVM out of the kernel's table where one was entered without its
// segments: the library enters no heap twice.
func (h *codeHeaps) leave(pid libpf.PID, of reflect.Value) {
	areas := fieldOfValue(of, heaps)
	prefixes, ok := pointerTo[libpf.Set[lpm.Prefix]](fieldOfValue(of, entered))
	if !ok || areas.Kind() != reflect.Slice || !areas.CanAddr() {
		return
	}
	half := false
	for i := range areas.Len() {
		tsid := fieldOfValue(areas.Index(i), segments)
		half = half || tsid.Kind() == reflect.Uint64 && tsid.Uint() == 0
	}
	reflect.NewAt(areas.Type(), unsafe.Pointer(areas.UnsafeAddr())).Elem().SetZero() // or each look would add to it
	if !half {
		return
	}
	for prefix := range *prefixes {
		key := pidPage(pid, prefix.Key, prefix.Length)
		if err := h.table.Delete(&key); err == nil || errors.Is(err, ebpf.ErrKeyNotExist) {
			delete(*prefixes, prefix)
		}
	}
}

// forgetFailure has the table of a libjvm.so read again that was of no use. Nobody else reads it:
// without a table no frame of its JVMs is unwound.
func forgetFailure(of reflect.Value) {
	failed := fieldOfValue(fieldOfValue(of, table), tableFail)
	if !failed.IsValid() || failed.Kind() != reflect.Interface || failed.IsNil() {
		return
	}
	if done, ok := pointerTo[atomic.Bool](fieldOfValue(of, tableRead)); ok {
		done.Store(false)
	}
}

// fieldOfValue is a field of a struct, or of one that is pointed to; not valid where there is none.
func fieldOfValue(of reflect.Value, name string) reflect.Value {
	if of.IsValid() && of.Kind() == reflect.Pointer && !of.IsNil() {
		of = of.Elem()
	}
	if !of.IsValid() || of.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return of.FieldByName(name)
}

func pointerTo[T any](field reflect.Value) (*T, bool) {
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() || !field.CanAddr() {
		return nil, false
	}
	return (*T)(unsafe.Pointer(field.UnsafeAddr())), true
}
