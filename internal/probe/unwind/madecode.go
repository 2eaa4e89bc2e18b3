package unwind

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/support"
)

// Code that a program made itself lies in memory without a file, where the library's unwinder ends
// the stack, unless it is that of a run time it knows. The rule for such code is its frame pointer
// (.NET, V8, Java with -XX:+PreserveFramePointer and most just-in-time compilers keep one), and the
// library has a command for that. So each such region is entered into the library's tables as if it
// were a file: madeFile, mapped so that an offset in it is the address itself, with that one rule
// for every page of 64 KB. A function without a frame pointer of its own still gets its name; its
// caller is then skipped, or the stack is broken there.

const (
	madeFile   = 0x63756c707269743a // a file id that no file has: they are hashes
	madeModule = "[jit]"
	unnamed    = "[unnamed code]"

	maxMakers    = 256  // processes with such code at a time
	maxMadePages = 4096 // of 64 KB, of all processes: a quarter of what the library's table has room for
)

// Why the unwinder stopped at an address (support/ebpf/errors.h): it knows no mapping there; the
// mapping has no file.
const (
	errNoMapping   = 4012
	errUnsupported = 4018
)

// madeCode lets the unwinder walk through such code, and names it.
type madeCode struct {
	mu      sync.Mutex
	maps    map[string]*ebpf.Map // the library's
	ready   bool                 // the rule is in the library's tables
	pages   map[uint64]bool      // that have it
	makers  map[libpf.PID]*maker
	refused bool // the rule could not be entered: not tried again
}

// maker is a process with code that it made.
type maker struct {
	born     string // when it started: numbers are used again
	regions  []region
	prefixes map[support.PIDPage]bool // entered for it
	names    madeNames
	look     pace
}

type region struct{ start, end uint64 }

func newMadeCode(maps map[string]*ebpf.Map) *madeCode {
	return &madeCode{maps: maps, pages: map[uint64]bool{}, makers: map[libpf.PID]*maker{}}
}

// pace spaces out what is repeated: at once when it found something new, else more and more rarely.
type pace struct {
	next  time.Time
	pause time.Duration
}

const (
	minPause = 100 * time.Millisecond
	maxPause = 10 * time.Second
)

func (p *pace) due(now time.Time) bool { return !now.Before(p.next) }

func (p *pace) done(now time.Time, found bool) {
	p.pause = min(2*p.pause, maxPause)
	if found || p.pause == 0 {
		p.pause = minPause
	}
	p.next = now.Add(p.pause)
}

// saw is called with each new stack: frames in code that the process made get their names, and a
// stack that ended at unknown code has the process looked at, so that the next one will not.
func (m *madeCode) saw(pid libpf.PID, frames libpf.Frames) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if endedAtUnknown(frames) {
		m.lookAt(pid)
	}
	if made := m.makers[pid]; made != nil {
		made.nameFrames(pid, frames, true)
	}
}

// finish names frames whose names came later than their stack.
func (m *madeCode) finish(pid libpf.PID, frames libpf.Frames) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made := m.makers[pid]; made != nil {
		made.nameFrames(pid, frames, false)
	}
}

func endedAtUnknown(frames libpf.Frames) bool {
	if len(frames) == 0 {
		return false
	}
	root := frames[len(frames)-1].Value()
	return root.Type.IsError() && (root.AddressOrLineno == errNoMapping || root.AddressOrLineno == errUnsupported)
}

// nameFrames names in place those frames that are in the process's own code. early: a name that is
// not known may still come.
func (made *maker) nameFrames(pid libpf.PID, frames libpf.Frames, early bool) {
	for i := range frames {
		frame := frames[i].Value()
		address := uint64(frame.AddressOrLineno)
		if frame.Type != libpf.NativeFrame || frame.Mapping.Valid() || frame.FunctionName != libpf.NullString ||
			!made.has(address) {
			continue
		}
		name := made.names.at(pid, address)
		if name == "" && early {
			continue
		}
		if name == "" {
			name = unnamed
		}
		frame.FunctionName = libpf.Intern(name)
		frames[i] = unique.Make(frame)
	}
}

func (made *maker) has(address uint64) bool {
	for _, known := range made.regions {
		if address >= known.start && address < known.end {
			return true
		}
	}
	return false
}

// lookAt enters the regions of a process into the library's tables.
func (m *madeCode) lookAt(pid libpf.PID) {
	now := time.Now()
	if made := m.makers[pid]; made != nil && !made.look.due(now) {
		return
	}
	if m.makers[pid] == nil && m.isRunTimes(pid) { // asked first: most processes that are not known yet have ended soon
		return
	}
	made := m.makerOf(pid)
	if made == nil || m.isRunTimes(pid) {
		return
	}
	found, err := m.update(pid, made)
	made.look.done(now, found && err == nil)
}

// makerOf finds what is known of a process, or begins to know it; nil when it is gone, or there are
// too many.
func (m *madeCode) makerOf(pid libpf.PID) *maker {
	born, alive := startOf(pid)
	if !alive {
		return nil
	}
	if made := m.makers[pid]; made != nil {
		if made.born == born {
			return made
		}
		m.drop(pid)
	}
	if len(m.makers) >= maxMakers {
		return nil
	}
	made := &maker{born: born, prefixes: map[support.PIDPage]bool{}}
	m.makers[pid] = made
	return made
}

// drop takes a process out of the library's tables.
func (m *madeCode) drop(pid libpf.PID) {
	made := m.makers[pid]
	for prefix := range made.prefixes {
		m.leave(prefix)
	}
	made.names.close()
	delete(m.makers, pid)
}

// isRunTimes tells whether the library walks the process's made code itself: it has marked it then.
func (m *madeCode) isRunTimes(pid libpf.PID) bool {
	key := pidPage(pid, 0, 64)
	var mark support.PIDPageMappingInfo
	err := m.maps["pid_page_to_mapping_info"].Lookup(&key, &mark)
	return err != nil || mark.File_id&support.PIDPageMappingInfoFlagUsesAnonymousMappings != 0
}

// update reads the process's mappings and enters what is new of them.
func (m *madeCode) update(pid libpf.PID, made *maker) (found bool, err error) {
	if err := m.enterRule(); err != nil {
		return false, err
	}
	regions := madeRegions(pid)
	wanted := map[support.PIDPage]bool{}
	for _, one := range regions {
		if err := m.enterPages(one); err != nil {
			return found, err
		}
		if err := prefixesOf(pid, one, wanted); err != nil {
			return found, err
		}
	}
	for prefix := range made.prefixes {
		if !wanted[prefix] {
			m.leave(prefix)
			delete(made.prefixes, prefix)
		}
	}
	made.regions = regions
	for prefix := range wanted {
		if made.prefixes[prefix] {
			continue
		}
		if err := m.enter(prefix); err != nil && !errors.Is(err, ebpf.ErrKeyExist) { // the library's own
			return found, err
		}
		made.prefixes[prefix], found = true, true
	}
	return found, nil
}

// madeRegions finds the code of a process that has no file. Of a run time that the library walks
// itself there is none, also before the library has marked the process: it enters its own regions
// only where nothing is entered yet, and gives the whole process up where something is.
func madeRegions(pid libpf.PID) (regions []region) {
	runTimes := false
	// It reports a search that ended early as an error of its own, and a process that is gone has
	// none.
	_, _ = process.New(pid, pid).IterateMappings(func(mapping process.RawMapping) bool {
		if runTimes = makesOwnCode(mapping.Path); runTimes {
			return false
		}
		if mapping.IsExecutable() && mapping.IsAnonymous() && mapping.Path != "[vsyscall]" {
			regions = append(regions, region{mapping.Vaddr, mapping.Vaddr + mapping.Length})
		}
		return true
	})
	if runTimes {
		return nil
	}
	return regions
}

// forget takes out processes that are gone, or are others by now.
func (m *madeCode) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for pid, made := range maps.Clone(m.makers) {
		if born, alive := startOf(pid); alive && born == made.born {
			continue
		}
		m.drop(pid)
	}
}

// startOf reads when a process started, in clock ticks since boot.
func startOf(pid libpf.PID) (born string, alive bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/stat")
	if err != nil {
		return "", false
	}
	const started = 19 // places behind the name, which may hold anything
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= started {
		return "", false
	}
	return fields[started], true
}

// errFull says that no more pages of made code are entered.
var errFull = fmt.Errorf("more than %d pages of made code", maxMadePages)
