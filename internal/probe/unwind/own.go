package unwind

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// nameLength is how many characters of a program's or map's name the kernel keeps.
const nameLength = 15

// ownProgram finds a BPF program that this process holds by its name. The library does not export
// its programs; its descriptors are all the access there is: to open a program by its id takes
// CAP_SYS_ADMIN (the kernel's bpf_prog_get_fd_by_id).
func ownProgram(name string) (*ebpf.Program, error) {
	for copied := range copiesOf("prog_id") {
		program, err := ebpf.NewProgramFromFD(copied)
		if err != nil {
			continue
		}
		if info, err := program.Info(); err == nil && isNamed(info.Name, name) {
			return program, nil
		}
		program.Close()
	}
	return nil, fmt.Errorf("find the unwinder's program %s: not among this process's descriptors", name)
}

// ownMap finds a BPF map that this process holds by its name.
func ownMap(name string) (*ebpf.Map, error) {
	for copied := range copiesOf("map_id") {
		found, err := ebpf.NewMapFromFD(copied)
		if err != nil {
			continue
		}
		if info, err := found.Info(); err == nil && isNamed(info.Name, name) {
			return found, nil
		}
		found.Close()
	}
	return nil, fmt.Errorf("find the unwinder's map %s: not among this process's descriptors", name)
}

// isNamed compares with a name that the kernel may have cut.
func isNamed(shown, name string) bool {
	return shown == name || shown == name[:min(len(name), nameLength)]
}

// copiesOf copies, one after the other, this process's descriptors that have such an id. A copy
// belongs to who gets it.
func copiesOf(key string) iter.Seq[int] {
	return func(yield func(int) bool) {
		paths, _ := filepath.Glob("/proc/self/fdinfo/*") // fails only on a bad pattern
		for _, path := range paths {
			own, err := strconv.ParseUint(filepath.Base(path), 10, 31)
			if err != nil || !hasID(path, key) {
				continue
			}
			copied, err := unix.FcntlInt(uintptr(own), unix.F_DUPFD_CLOEXEC, 0)
			if err == nil && !yield(copied) { // else it was closed since the listing
				return
			}
		}
	}
}

func hasID(path, key string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false // closed since the listing
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, 64<<10))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), key+":") {
			return true
		}
	}
	return false
}
