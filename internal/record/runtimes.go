package record

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"culprit/internal/probe/unwind"
)

// The unwinder of a run time (Python, Java, Node …) takes 0.1 to 0.6 s to load, so it is loaded
// only when needed, and before the recording where it can be told by then: stacks that are taken
// earlier have no frames of it.

// RunTimesOf names the run times whose files the processes of a tree have mapped.
func RunTimesOf(pid int) (names []string) {
	for _, member := range tree(pid) {
		names = mappedRunTimes(names, fmt.Sprintf("/proc/%d/maps", member))
	}
	return names
}

// mappedRunTimes adds those of the files that a process has mapped.
func mappedRunTimes(names []string, path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return names // ended meanwhile
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, 1<<20))
	for lines.Scan() {
		if at := strings.IndexByte(lines.Text(), '/'); at >= 0 {
			names = WithRunTimes(names, unwind.RunTimeOf(lines.Text()[at:]))
		}
	}
	return names
}

// WithRunTimes adds those that are not among names yet; "" is none.
func WithRunTimes(names []string, more ...string) []string {
	for _, name := range more {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// WatchRunTimes looks at a tree from time to time until done is closed and names the run times that
// came by.
func WatchRunTimes(pid int, done <-chan struct{}) (names []string) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		select {
		case <-done:
			return names
		case <-time.After(pause):
			names = WithRunTimes(names, RunTimesOf(pid)...)
		}
	}
}

// RunTimeOfCommand guesses from the words of a command, before it runs, whose run time it needs:
// that of its file or of the interpreter in its first line. "" when it cannot be told.
func RunTimeOfCommand(words []string) string {
	if len(words) == 0 {
		return ""
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return ""
	}
	files := []string{path}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		files = append(files, resolved)
	}
	for _, candidate := range append(files, interpreterOf(path)...) {
		if name := unwind.RunTimeOf(candidate); name != "" {
			return name
		}
	}
	return ""
}

// interpreterOf splits the first line of a script: the interpreter, or env and its name.
func interpreterOf(path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	first := make([]byte, 128)
	n, _ := file.Read(first) // a short file has no such line
	line, _, _ := strings.Cut(string(first[:n]), "\n")
	if !strings.HasPrefix(line, "#!") {
		return nil
	}
	return strings.Fields(line[2:])
}
