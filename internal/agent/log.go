package agent

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// log tells of what goes wrong once, and again when it is something else or has gone on for long:
// an agent whose disk is full is not to fill another one with lines.
type log struct {
	mutex sync.Mutex
	out   io.Writer
	open  map[string]complaint
}

type complaint struct {
	text string
	at   time.Time
}

// repeatAfter is when what goes on is told again.
const repeatAfter = 6 * time.Hour

func newLog(out io.Writer) *log {
	if out == nil {
		out = io.Discard
	}
	return &log{out: out, open: map[string]complaint{}}
}

// trouble tells of something that goes wrong.
func (l *log) trouble(about, text string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if before, told := l.open[about]; told && before.text == text && time.Since(before.at) < repeatAfter {
		return
	}
	l.open[about] = complaint{text, time.Now()}
	l.line(text)
}

// better tells that it went away, where it was told of.
func (l *log) better(about, text string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if _, told := l.open[about]; told {
		delete(l.open, about)
		l.line(text)
	}
}

// note tells something once.
func (l *log) note(text string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.line(text)
}

func (l *log) line(text string) {
	fmt.Fprintf(l.out, "culprit agent: %s\n", strings.Join(strings.Fields(text), " "))
}

// troubles are what goes wrong now.
func (l *log) troubles() (texts []string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, about := range slices.Sorted(maps.Keys(l.open)) {
		texts = append(texts, l.open[about].text)
	}
	return texts
}
