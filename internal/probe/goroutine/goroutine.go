// Package goroutine tells what goroutines of another process are at, out of that process's memory:
// the kernel sees threads alone, and a goroutine that waits has none.
//
//	program, err := goroutine.Open(pid) // wraps ErrNotGo where it is none
//	now, ok := program.At(g)            // g: what R14 held (x86), or R28 (arm64)
//	now.Tid                             // the thread that it is on; 0: it waits
//	now.Stack                           // where it waits, leaf first
//
// Nothing is stopped, and nothing trusted: a goroutine may go on, or its stack move, while it is
// read. What does not fit together is not told.
package goroutine

import (
	"debug/buildinfo"
	"encoding/binary"
	"errors"
	"fmt"
	"go/version"
	"os"
	"strconv"
	"strings"
	"time"

	"culprit/internal/probe/mapped"
	"culprit/internal/symbol"
)

const (
	// mostFrames and mostStack bound what is read of one stack.
	mostFrames = 64
	mostStack  = 16 << 10
	// renamed is how long the threads of a program are not listed again.
	renamed = time.Second
)

// ErrNotGo says that a process runs no program in Go whose goroutines can be read.
var ErrNotGo = errors.New("not a program in Go of version 1.17 or later")

// Program is a process that runs a program in Go.
type Program struct {
	pid    int
	layout layout
	// own are the threads by the numbers that the program knows them by, which are others in a pid
	// namespace.
	own    map[uint64]int32
	listed time.Time
}

// Now is what a goroutine is at.
type Now struct {
	Tid      int32 // of the thread that it is on, running or in a system call; 0: of none
	Runnable bool  // nothing keeps it but that no thread has taken it up
	// Stack is where it waits: addresses, those of callers as they are returned to, leaf first.
	Stack []uint64
}

// layout is where runtime.g and runtime.m have what is read, in bytes (src/runtime/runtime2.go of
// Go 1.17 to 1.26).
type layout struct {
	framePointer, status, thread int
}

// What no version has moved: g.stack, g.m, and g.sched with sp, pc and g.
const (
	stackLow, stackHigh                      = 0, 8
	onMachine                                = 48
	schedStack, schedAddress, schedGoroutine = 56, 64, 72
	readOfG                                  = 160
)

// layoutOf is by the version: gobuf.ret went with Go 1.25, and g.syscallbp came with 1.23. A later
// version is read as 1.26: what does not fit is not told.
func layoutOf(goVersion string) (layout, error) {
	lang := version.Lang(goVersion)
	if lang == "" && strings.HasPrefix(goVersion, "devel") {
		lang = "go1.26"
	}
	if lang == "" || version.Compare(lang, "go1.17") < 0 {
		return layout{}, fmt.Errorf("%q: %w", goVersion, ErrNotGo)
	}
	gobuf, calls := 6, 4 // words: sp pc g ctxt lr bp; syscallsp syscallpc syscallbp stktopsp
	if version.Compare(lang, "go1.25") < 0 {
		gobuf++ // ret
	}
	if version.Compare(lang, "go1.23") < 0 {
		calls--
	}
	const word = 8
	end := schedStack + gobuf*word
	return layout{framePointer: end - word, status: end + (calls+1)*word, // behind param
		thread: word + gobuf*word + word}, nil // m: g0, morebuf, divmod
}

// Is tells a process that runs a Go program: its scheduler moves work from thread to thread.
func Is(pid int32) bool {
	_, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil
}

// Open looks at the program that a process runs.
func Open(pid int32) (*Program, error) {
	info, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return nil, fmt.Errorf("process %d: %w (%v)", pid, ErrNotGo, err)
	}
	goVersion, _, _ := strings.Cut(info.GoVersion, " ") // "go1.26.8 X:nodwarf5"
	of, err := layoutOf(goVersion)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return &Program{pid: int(pid), layout: of, own: map[uint64]int32{}}, nil
}

// The states of runtime.g.atomicstatus that are told apart; scanning is added to others.
const (
	runnable = 1
	running  = 2
	inCall   = 3
	waiting  = 4
	copying  = 8
	stopped  = 9
	scanning = 0x1000
)

// At reads what a goroutine is at; false where that does not fit together.
func (p *Program) At(g uint64) (now Now, ok bool) {
	var text [readOfG]byte
	if g == 0 || g%8 != 0 || !mapped.Copy(p.pid, g, text[:]) {
		return Now{}, false
	}
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(text[at:]) }
	if word(schedGoroutine) != g {
		return Now{}, false
	}
	switch status := binary.LittleEndian.Uint32(text[p.layout.status:]) &^ scanning; status {
	case running, inCall, copying:
		tid := p.threadOf(word(onMachine))
		return Now{Tid: tid}, tid != 0
	case runnable, stopped, waiting:
		if word(onMachine) != 0 {
			return Now{}, false
		}
		now := Now{Runnable: status != waiting}
		now.Stack = p.stack(word(schedStack), word(schedAddress), word(p.layout.framePointer),
			[2]uint64{word(stackLow), word(stackHigh)})
		return now, len(now.Stack) > 0
	}
	return Now{}, false
}

// stack follows the frame pointers of a goroutine that is on no thread. On arm64 the innermost one
// points to the word below the stack pointer.
func (p *Program) stack(sp, pc, fp uint64, bounds [2]uint64) []uint64 {
	if pc == 0 || sp < bounds[0]+8 || sp >= bounds[1] {
		return nil
	}
	base := sp - 8
	text := make([]byte, min(bounds[1]-base, mostStack))
	if !mapped.Copy(p.pid, base, text) {
		return nil
	}
	addresses := []uint64{pc}
	for from := uint64(0); fp >= base+from && len(addresses) < mostFrames; {
		at := fp - base
		if at%8 != 0 || at >= uint64(len(text)) || at+16 > uint64(len(text)) {
			break
		}
		address := binary.LittleEndian.Uint64(text[at+8:])
		if address == 0 {
			break
		}
		addresses = append(addresses, address)
		from, fp = at+1, binary.LittleEndian.Uint64(text[at:])
	}
	return addresses
}

// threadOf is the thread of a runtime.m, as this process's pid namespace numbers it; 0: not known.
func (p *Program) threadOf(m uint64) int32 {
	var text [8]byte
	if m == 0 || !mapped.Copy(p.pid, m+uint64(p.layout.thread), text[:]) {
		return 0
	}
	own := binary.LittleEndian.Uint64(text[:])
	if tid := p.own[own]; tid != 0 || time.Since(p.listed) < renamed {
		return tid
	}
	p.listThreads()
	return p.own[own]
}

// listThreads finds the threads by their own numbers.
func (p *Program) listThreads() {
	p.listed = time.Now()
	clear(p.own)
	folder := fmt.Sprintf("/proc/%d/task", p.pid)
	tasks, err := os.ReadDir(folder)
	if err != nil {
		return // it has ended
	}
	for _, task := range tasks {
		tid, err := strconv.ParseInt(task.Name(), 10, 32)
		if err != nil {
			continue
		}
		if own, _, err := symbol.Identity(folder + "/" + task.Name()); err == nil {
			p.own[uint64(own)] = int32(tid)
		}
	}
}
