package record

import (
	"path"
	"strings"
	"sync"
)

// tail keeps the end of what the recorder printed on standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail has room for a panic and the trace of the stack behind it.
const maxTail = 64 << 10

// Write keeps the end of what was written.
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, data...)
	if len(t.text) > maxTail {
		t.text = append([]byte(nil), t.text[len(t.text)-maxTail:]...)
	}
	return len(data), nil
}

// last says what happened: a panic and where it was, or the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line + placeOf(lines[i+1:])
		}
	}
	return lines[len(lines)-1]
}

// placeOf finds in a trace, where the line of a call is followed by that of its place, the
// innermost call that is not the Go runtime's: " (table.go:75 +0x1d)". "" where there is none.
func placeOf(trace []string) string {
	for i, line := range trace {
		place, is := strings.CutPrefix(line, "\t")
		if !is || i == 0 || strings.HasPrefix(trace[i-1], "runtime.") || strings.HasPrefix(trace[i-1], "panic(") {
			continue
		}
		return " (" + path.Base(place) + ")"
	}
	return ""
}
