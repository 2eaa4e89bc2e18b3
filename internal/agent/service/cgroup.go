package service

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"culprit/internal/fleet/window"
)

// maxCgroupFile bounds /proc/PID/cgroup: a line for each hierarchy of version 1.
const maxCgroupFile = 64 << 10

// cgroupOf is the cgroup of a unit or container below the mount of version 2, by one of its
// processes: what `culprit record --cgroup` takes behind /sys/fs/cgroup. "" where the service is
// none, and where that cannot be told.
func (n *Namer) cgroupOf(pid int32, group string) string {
	if group == "" {
		return ""
	}
	file, err := os.Open(filepath.Join(n.root, "proc", strconv.Itoa(int(pid)), "cgroup"))
	if err != nil {
		return "" // it has ended
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxCgroupFile))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if path, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); is {
			return wholeOf(path, group)
		}
	}
	return ""
}

// wholeOf cuts a path behind the directory that is the unit's or the container's own: those below
// are parts of it. A manifest takes no path with what cannot be printed.
func wholeOf(path, group string) string {
	own := group[strings.LastIndexByte(group, ' ')+1:] // of a container its name, or the begin of its id
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part == own || own != group && strings.Contains(part, own) {
			path = strings.Join(parts[:i+1], "/")
			break
		}
	}
	odd := strings.ContainsFunc(path, func(r rune) bool { return !strconv.IsPrint(r) || r == '\uFFFD' })
	if odd || !strings.HasPrefix(path, "/") || strings.Contains(path, "/..") || len(path) > window.MaxPath {
		return "" // of a cgroup namespace that this process is not in, /../..
	}
	return path
}
