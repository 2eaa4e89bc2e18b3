package unwind

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/libpf/pfelf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/support"
)

// currentContext is the thread-local variable of Ruby's library that leads to its stack.
const currentContext = "ruby_current_ec"

// maxThreadLocal bounds the offset of a thread-local variable: the file may say anything.
const maxThreadLocal = 1 << 20

// rubies completes what the library knows of Ruby processes: it looks for ruby_current_ec in
// .symtab, which distributions strip, and then reads another variable in its place. The dynamic
// symbols have it.
type rubies struct {
	procs   *ebpf.Map         // the library's, by process
	offsets map[string]uint64 // of the variable in its module's thread-local block, by file
}

// findRubies returns nil when the library was loaded without Ruby.
func findRubies() *rubies {
	procs, err := ownMap("ruby_procs")
	if err != nil {
		return nil
	}
	return &rubies{procs: procs, offsets: map[string]uint64{}}
}

// complete is to be called after the library has looked at a process.
func (r *rubies) complete(pid uint32) {
	if r == nil {
		return
	}
	var known support.RubyProcInfo // by pointer: it has the padding that C gives it
	if r.procs.Lookup(pid, unsafe.Pointer(&known)) != nil || known.Tls_module_id == 0 || known.Current_ec_tls_offset != 0 {
		return // not Ruby, or found by the library
	}
	offset, err := r.offset(pid)
	if err != nil {
		return // its stacks stay without Ruby's frames
	}
	known.Current_ec_tls_offset = offset
	_ = r.procs.Update(pid, unsafe.Pointer(&known), ebpf.UpdateExist) // fails when the process is gone
}

// offset finds the variable in the library that the process has mapped.
func (r *rubies) offset(pid uint32) (offset uint64, err error) {
	target := mortal{Process: process.New(libpf.PID(pid), libpf.PID(pid))}
	err = errors.New("no libruby is mapped")
	// It reports a search that ended early as an error of its own: what the search found is told by
	// err.
	_, _ = target.IterateMappings(func(mapping process.RawMapping) bool {
		if !strings.HasPrefix(filepath.Base(mapping.Path), "libruby") || !mapping.IsExecutable() {
			return true
		}
		key := fmt.Sprintf("%d:%d", mapping.Device, mapping.Inode)
		var known bool
		if offset, known = r.offsets[key]; known {
			err = nil
			return false
		}
		if offset, err = readOffset(target, &mapping); err == nil {
			r.offsets[key] = offset
		}
		return false
	})
	return offset, err
}

func readOffset(target process.Process, mapping *process.RawMapping) (uint64, error) {
	file, err := target.OpenMappingFile(mapping)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	parsed, err := pfelf.NewFile(readOnly{file}, 0, false)
	if err != nil {
		return 0, err
	}
	offset, err := parsed.LookupSymbolAddress(currentContext)
	if err == nil && offset >= maxThreadLocal {
		err = fmt.Errorf("%s at %#x is no thread-local variable", currentContext, offset)
	}
	return uint64(offset), err
}
