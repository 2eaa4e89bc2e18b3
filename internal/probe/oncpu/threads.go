package oncpu

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"culprit/internal/symbol"
)

// Variables that each thread has of its own (__thread, thread_local) lie around its thread pointer,
// where others may reach them as well: by a pointer. Samples tell the thread pointers of those that
// run.

const maxThreads = 1024 // thread pointers of a process

// thread remembers a thread pointer of a process.
func (p *places) thread(pid int32, pointer uint64) {
	known := p.threads[pid]
	at, have := slices.BinarySearch(known, pointer)
	if pointer != 0 && !have && len(known) < maxThreads {
		p.threads[pid] = slices.Insert(known, at, pointer)
	}
}

// knowExecutable opens the file whose variables lie right at the thread pointer.
func (p *places) knowExecutable(pid int32, of *program) {
	if of.executable != nil || len(of.mappings) == 0 {
		return
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return // it is gone
	}
	path = strings.TrimSuffix(path, " (deleted)")
	at := slices.IndexFunc(of.mappings, func(one mapping) bool { return one.Path == path })
	if at >= 0 {
		of.executable = p.open(pid, &of.mappings[at])
	}
}

// inThread names a variable of a thread's own.
func (p *places) inThread(pid int32, address uint64, size int64) (symbol.Member, bool) {
	known, pointers := p.programs[pid], p.threads[pid]
	if known == nil || len(pointers) == 0 {
		return symbol.Member{}, false
	}
	file := known.executable.read()
	if file == nil {
		return symbol.Member{}, false
	}
	after, _ := slices.BinarySearch(pointers, address)
	for _, pointer := range pointers[max(after-1, 0):min(after+1, len(pointers))] {
		if found, ok := file.InThread(pointer, address, size); ok {
			return found, true
		}
	}
	return symbol.Member{}, false
}
