package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"culprit/recording"
)

// strace reads logs of `strace -f -ttt -T`, and as much as other flags leave of
// them (https://strace.io; the printing is in src/strace.c of its sources).
type straceReader struct {
	names    *names
	threads  map[int32]*straceThread
	order    []*straceThread
	children map[int32]bool // ids that strace announced as attached
	main     *straceThread  // of lines without an id
	calls    map[callKey]*recording.Syscall
	callList []*recording.Syscall
	errnos   map[errnoKey]int64
	failed   []errnoKey
	futexes  map[uint64]wake
	slow     []slowCall
	args     [maxArgs][]byte

	now               int64 // time of the last line
	firstNs, lastNs   int64
	timed, clock      bool
	lengths           int64 // calls whose length is known
	good, bad         int64
	tooLong, lostRows int64
	lostSlow          int64
	stack             []recording.Frame // of strace -k, leaf first
	stackOf           *slowCall
	begun             []byte // a line whose rest comes with the next
}

type callKey struct {
	thread *straceThread
	name   string
}

type errnoKey struct {
	process     *straceProcess
	name, errno string
}

// wake is the last FUTEX_WAKE on an address.
type wake struct {
	thread *straceThread
	timeNs int64
}

// slowCall is a call that is kept whole: of slowNs and over, or a wait.
type slowCall struct {
	thread   *straceThread
	call     straceCall
	on       object
	number   uint64 // descriptor or futex address
	size     int64
	waker    *straceThread
	wakerTid int32
	kind     string
	stack    int32
}

const (
	slowNs         = 1e6
	maxThreads     = 100_000
	maxCallRows    = 200_000
	maxSlowCalls   = 100_000
	maxFutexes     = 64 << 10
	maxPendingArgs = 4 << 10
	maxStackLines  = 1024
)

func newStrace() *straceReader {
	return &straceReader{names: newNames(), threads: map[int32]*straceThread{}, children: map[int32]bool{},
		calls: map[callKey]*recording.Syscall{}, errnos: map[errnoKey]int64{}, futexes: map[uint64]wake{}}
}

// read reads one log; of strace -ff each file is one thread, whose id ends its name.
func (s *straceReader) read(name string, input *bufio.Reader) error {
	lines := &lineReader{input: input}
	var own int32
	if tid, err := strconv.ParseInt(strings.TrimPrefix(path.Ext(name), "."), 10, 31); err == nil {
		own = int32(tid)
	}
	s.main, s.now, s.clock = nil, 0, false
	good, bad := s.good, s.bad
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		s.line(line, own)
	}
	s.endStack()
	s.tooLong += lines.tooLong
	if s.good == good || s.bad-bad > s.good-good {
		return fmt.Errorf("%d lines are system calls and %d are not understood; "+
			"make the log with `strace -f -ttt -T -o FILE`", s.good-good, s.bad-bad)
	}
	return nil
}

func (s *straceReader) line(line []byte, own int32) {
	// On a terminal strace says who was attached in the middle of the line that it is writing.
	if at := bytes.Index(line, []byte("strace: Process ")); at > 0 && bytes.HasSuffix(line, []byte(" attached")) {
		s.announcement(line[at+len("strace: "):])
		s.begun = append(s.begun[:0], line[:at]...)
		return
	}
	if len(s.begun) > 0 {
		line = append(s.begun, line...)
		s.begun = s.begun[:0]
	}
	if frame, ok := parseStraceFrame(line); ok {
		if s.stackOf != nil && len(s.stack) < maxStackLines {
			s.stack = append(s.stack, frame)
		}
		return
	}
	s.endStack()
	l := parseStraceLine(line)
	if len(l.text) == 0 {
		return
	}
	if rest, ok := bytes.CutPrefix(l.text, []byte("strace: ")); ok {
		s.announcement(rest)
		return
	}
	thread := s.threadOf(l, own)
	if thread == nil {
		s.lostRows++
		return
	}
	l.timeNs = s.clockOf(l)
	if l.timeNs >= 0 {
		thread.seen(l.timeNs)
	}
	if s.event(thread, l) {
		s.good++
	} else {
		s.bad++
	}
}

// announcement reads "strace: Process 12 attached".
func (s *straceReader) announcement(text []byte) {
	rest, ok := bytes.CutPrefix(text, []byte("Process "))
	number, verb := cutWord(rest)
	if tid, is := parseID(number); ok && is && bytes.HasPrefix(verb, []byte("attached")) && len(s.children) < maxThreads {
		s.children[tid] = true
	}
}

// clockOf turns a line's time into nanoseconds since any fixed moment; -1: none.
func (s *straceReader) clockOf(l straceLine) int64 {
	switch {
	case l.timeNs < 0:
		return -1
	case l.relative:
		s.now = min(s.now+l.timeNs, maxAmount*1000)
	case l.clock:
		const day = 86400 * 1e9
		s.clock = true
		at := s.now/day*day + l.timeNs
		if at < s.now-day/2 { // past midnight
			at += day
		}
		s.now = at
	default:
		s.now = l.timeNs
	}
	if !s.timed {
		s.timed, s.firstNs, s.lastNs = true, s.now, s.now
	}
	s.firstNs, s.lastNs = min(s.firstNs, s.now), max(s.lastNs, s.now)
	return s.now
}

func (t *straceThread) seen(timeNs int64) {
	if t.firstNs < 0 {
		t.firstNs = timeNs
	}
	t.lastNs = max(t.lastNs, timeNs)
}

// parseStraceFrame reads " > /usr/lib/libc.so.6(write+0x10) [0xf1e10]" of strace -k.
func parseStraceFrame(line []byte) (recording.Frame, bool) {
	text, ok := bytes.CutPrefix(line, []byte(" > "))
	if !ok {
		return recording.Frame{}, false
	}
	if at := bytes.LastIndex(text, []byte(" [")); at > 0 {
		text = text[:at]
	}
	file, symbol, ok := bytes.Cut(text, []byte("("))
	symbol = bytes.TrimSuffix(symbol, []byte(")"))
	if at := bytes.LastIndex(symbol, []byte("+0x")); at >= 0 {
		symbol = symbol[:at]
	}
	frame := recording.Frame{Name: string(symbol), Module: moduleName(string(file)), Kind: recording.KindNative}
	if !ok || len(symbol) == 0 {
		frame.Name = unknownName(frame.Module, "", false)
	}
	return frame, true
}

// endStack gives the call above the lines of its stack.
func (s *straceReader) endStack() {
	if s.stackOf != nil && len(s.stack) > 0 {
		ids := make([]int32, 0, len(s.stack)+1)
		for i := len(s.stack) - 1; i >= 0; i-- {
			ids = append(ids, s.names.frame(s.stack[i]))
		}
		s.stackOf.stack = s.names.stack(ids)
	}
	s.stack, s.stackOf = s.stack[:0], nil
}

func startedAt(s *straceReader) time.Time {
	if !s.timed || s.clock || s.firstNs < 1e8*1e9 {
		return time.Time{}
	}
	return time.Unix(0, s.firstNs)
}
