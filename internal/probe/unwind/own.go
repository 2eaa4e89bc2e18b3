package unwind

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
)

// nameLength is how many characters of a program's or map's name the kernel keeps.
const nameLength = 15

// ownProgram finds a BPF program that this process holds by its name. The
// library does not export its programs; its descriptors are all the access there is.
func ownProgram(name string) (*ebpf.Program, error) {
	for _, id := range ownIDs("prog_id") {
		program, err := ebpf.NewProgramFromID(ebpf.ProgramID(id))
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
	for _, id := range ownIDs("map_id") {
		found, err := ebpf.NewMapFromID(ebpf.MapID(id))
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

// ownIDs reads the ids behind this process's BPF descriptors.
func ownIDs(key string) []uint64 {
	paths, _ := filepath.Glob("/proc/self/fdinfo/*") // fails only on a bad pattern
	var ids []uint64
	for _, path := range paths {
		if id, ok := idOf(path, key); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func idOf(path, key string) (uint64, bool) {
	file, err := os.Open(path)
	if err != nil {
		return 0, false // closed since the listing
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, 64<<10))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), key+":"); ok {
			id, err := strconv.ParseUint(strings.TrimSpace(value), 10, 32)
			return id, err == nil
		}
	}
	return 0, false
}
