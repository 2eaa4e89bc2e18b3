package agent

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"culprit/internal/host"
)

// meter measures what the agent takes of the host: its own process, the recorder's, and the BPF
// programs, of which the recording tells.
type meter struct {
	own      time.Duration
	recorder map[int]time.Duration // by process
}

func newMeter() *meter { return &meter{own: cpuOf(os.Getpid()), recorder: map[int]time.Duration{}} }

// took is the CPU time since it was asked last. pids are the recorders; one that was not there then
// has all of its.
func (m *meter) took(pids ...int) time.Duration {
	now := cpuOf(os.Getpid())
	total := now - m.own
	m.own = now
	for _, pid := range pids {
		used := cpuOf(pid)
		if used <= 0 {
			continue // it has ended
		}
		total += used - m.recorder[pid]
		m.recorder[pid] = used
	}
	for pid := range m.recorder {
		if cpuOf(pid) <= 0 {
			delete(m.recorder, pid)
		}
	}
	return total
}

// cpuOf is the CPU time of a process; 0 when it is gone.
func cpuOf(pid int) time.Duration {
	if pid <= 0 { // 0 would be the caller
		return 0
	}
	used, err := host.ProcessCPUTime(pid)
	if err != nil {
		return 0
	}
	return used
}

// residentOf is the memory of a process in bytes.
func residentOf(pid int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// maxDescriptors bounds the descriptors that are looked at for BPF maps.
const maxDescriptors = 4096

// mapsOf is what the BPF maps of a process take, in bytes: the kernel counts them on nobody's
// resident memory.
func mapsOf(pid int) (bytes int64) {
	folder := filepath.Join("/proc", strconv.Itoa(pid), "fdinfo")
	list, err := os.Open(folder)
	if err != nil {
		return 0
	}
	defer list.Close()
	names, err := list.Readdirnames(maxDescriptors)
	if err != nil {
		return 0
	}
	counted := map[string]bool{} // a map may have several descriptors
	for _, name := range names {
		id, size := mapOf(filepath.Join(folder, name))
		if id != "" && !counted[id] {
			counted[id] = true
			bytes += size
		}
	}
	return bytes
}

// mapOf reads one descriptor; "" where it is of no map.
func mapOf(path string) (id string, size int64) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch key {
		case "map_id":
			id = strings.TrimSpace(value)
		case "memlock":
			size, _ = strconv.ParseInt(strings.TrimSpace(value), 10, 64) // 0 where it is no number
		}
	}
	return id, size
}
