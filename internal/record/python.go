package record

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// NeedsPython reports whether a Python interpreter runs in a process's tree.
// Python's unwinder takes 0.6 s to load, so it is loaded only when needed.
func NeedsPython(pid int) bool {
	for _, member := range tree(pid) {
		if mapsPython(fmt.Sprintf("/proc/%d/maps", member)) {
			return true
		}
	}
	return false
}

// mapsPython looks for an interpreter among the files that a process has mapped.
func mapsPython(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false // ended meanwhile
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, 1<<20))
	for lines.Scan() {
		at := strings.IndexByte(lines.Text(), '/')
		if at >= 0 && isPython(lines.Text()[at:]) {
			return true
		}
	}
	return false
}

func isPython(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, "python") || strings.HasPrefix(base, "libpython")
}

// WatchPython looks at a tree from time to time until done is closed and
// reports whether a Python interpreter came by.
func WatchPython(pid int, done <-chan struct{}) bool {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		select {
		case <-done:
			return false
		case <-time.After(pause):
			if NeedsPython(pid) {
				return true
			}
		}
	}
}

// CommandNeedsPython guesses from the words of a command, before it runs,
// whether it is a Python program: its file is an interpreter, or names one in its first line.
func CommandNeedsPython(words []string) bool {
	if len(words) == 0 {
		return false
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return false
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil && isPython(resolved) || isPython(path) {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	first := make([]byte, 128)
	n, _ := file.Read(first) // a short file has no such line
	line, _, _ := strings.Cut(string(first[:n]), "\n")
	return strings.HasPrefix(line, "#!") && strings.Contains(line, "python")
}
