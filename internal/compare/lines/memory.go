package lines

import "strings"

// path is what processes have mapped, of memory that they share: what a recording tells of it
// without the numbers of device and file.
func (u *use) path() string {
	if u.memory == "" {
		return ""
	}
	words := strings.SplitN(u.memory, " ", 3)
	switch path := words[len(words)-1]; {
	case len(words) < 3 || path == "/dev/zero":
		return "shared memory without a name"
	case strings.HasPrefix(path, "/SYSV"):
		return "System V segment " + words[1]
	default:
		return strings.TrimPrefix(path, "/memfd:")
	}
}

// moving reports whether one of its processes returns memory to the kernel all the time.
func (u *use) moving(unmaps map[int32]int64) bool {
	for pid := range u.pids {
		if unmaps[pid] >= oftenUnmapped {
			return true
		}
	}
	return false
}
