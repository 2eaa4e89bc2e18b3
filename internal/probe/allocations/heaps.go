package allocations

import (
	"debug/elf"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"culprit/internal/host"
	"culprit/internal/probe/mapped"
	"culprit/internal/symbol"
)

const (
	mostProcesses = 64  // with breakpoints at once
	mostFiles     = 128 // that are kept open
	mostFileBytes = 1 << 30
)

// entries are the functions of an allocator, and the programs at their begins. Where a file has two
// names for one function, a block is entered twice, alike.
var entries = []struct{ function, program string }{
	{"malloc", "enter_malloc"}, {"calloc", "enter_calloc"}, {"realloc", "enter_realloc"},
	{"aligned_alloc", "enter_aligned"}, {"memalign", "enter_aligned"}, {"posix_memalign", "enter_posix_memalign"},
	{"free", "enter_free"},
}

// usualLibraries are where the C library lies: a command that is about to run has not mapped it
// yet.
var usualLibraries = []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
	"/usr/lib/libc.so.6", "/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"}

// heaps are the allocators of the target's processes.
type heaps struct {
	programs  map[string]*ebpf.Program
	processes map[int32]*process
	files     map[string]*file // by device and number
	links     []link.Link
}

// process is what is known of one process.
type process struct {
	mappings []mapped.Mapping // of code
	attached map[string]bool  // files, by device and number
}

// file is a mapped file of code.
type file struct {
	opened *os.File
	path   string
	asked  bool // for what follows
	loads  []elf.ProgHeader
	table  *symbol.Table
	lines  *symbol.Lines
}

func newHeaps(programs map[string]*ebpf.Program) *heaps {
	return &heaps{programs: programs, processes: map[int32]*process{}, files: map[string]*file{}}
}

// expect sets breakpoints in the libraries that a process is likely to load.
func (h *heaps) expect(pid int32) {
	of := h.process(pid)
	if of == nil {
		return
	}
	for _, path := range usualLibraries {
		if number := numberOf(path); number != "" && !of.attached[number] {
			of.attached[number] = true
			h.attach(pid, path)
		}
	}
}

func (h *heaps) process(pid int32) *process {
	if known := h.processes[pid]; known != nil || len(h.processes) >= mostProcesses {
		return known
	}
	h.processes[pid] = &process{attached: map[string]bool{}}
	return h.processes[pid]
}

// look finds new processes below the roots, and what all of them have mapped meanwhile.
func (h *heaps) look(roots []int) {
	for _, root := range roots {
		for _, pid := range host.Tree(root, mostProcesses) {
			if of := h.process(int32(pid)); of != nil {
				h.lookAt(int32(pid), of)
			}
		}
	}
}

func (h *heaps) lookAt(pid int32, of *process) {
	var code []mapped.Mapping
	for _, one := range mapped.Read(pid) {
		if one.Code && one.Path != "" && one.Path[0] == '/' {
			code = append(code, one)
		}
	}
	if len(code) == 0 { // it has ended: what was known of it stays
		return
	}
	of.mappings = code
	for i := range code {
		one := &code[i]
		if h.files[one.Number] == nil && len(h.files) < mostFiles {
			opened, _ := one.Open(pid) // nil: no names
			h.files[one.Number] = &file{opened: opened, path: one.Path}
		}
		if !of.attached[one.Number] {
			of.attached[one.Number] = true
			h.attach(pid, one.Place(pid))
		}
	}
}

// attach sets breakpoints in one process, in the allocator that a file holds, if any. A process
// that cannot be traced, or has ended, has none.
func (h *heaps) attach(pid int32, path string) {
	if info, err := os.Stat(path); err != nil || info.Size() > mostFileBytes {
		return
	}
	executable, err := link.OpenExecutable(path)
	if err != nil {
		return
	}
	options := &link.UprobeOptions{PID: int(pid)}
	for i, one := range entries {
		begins, err := executable.Uprobe(one.function, h.programs[one.program], options)
		if err != nil && i == 0 { // no malloc
			return
		}
		if err != nil {
			continue
		}
		h.links = append(h.links, begins)
		if one.function == "free" {
			continue
		}
		if returns, err := executable.Uretprobe(one.function, h.programs["leave"], options); err == nil {
			h.links = append(h.links, returns)
		}
	}
}

func (h *heaps) detach() {
	for _, one := range h.links {
		_ = one.Close() // the kernel takes the breakpoint back with the descriptor, at the latest when this process ends
	}
	h.links = nil
}

func (h *heaps) close() {
	h.detach()
	for _, one := range h.files {
		one.close()
	}
	clear(h.files)
	clear(h.processes)
}

func (f *file) close() {
	if f.lines != nil {
		_ = f.lines.Close() // nothing was written to it, nor to the others
	}
	if f.opened != nil {
		_ = f.opened.Close()
	}
}

// read finds out once what the file says of its functions; false where it says nothing.
func (f *file) read() bool {
	if f.asked || f.opened == nil {
		return f.table != nil
	}
	f.asked = true
	options := symbol.Options{Path: f.path}
	code, err := elf.NewFile(f.opened)
	if err != nil {
		return false
	}
	table, err := symbol.Load(f.opened, options)
	if err != nil {
		return false
	}
	for _, one := range code.Progs {
		if one.Type == elf.PT_LOAD {
			f.loads = append(f.loads, one.ProgHeader)
		}
	}
	f.table = table
	f.lines, _ = symbol.OpenLines(f.opened, options) // nil: names without lines
	return true
}

// numberOf is the device and number of a file, as mappings have them; "" where it is not there.
func numberOf(path string) string {
	var status unix.Stat_t
	if unix.Stat(path, &status) != nil {
		return ""
	}
	return mapped.Number(status.Dev, status.Ino)
}
