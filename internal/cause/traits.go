package cause

import (
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// trait is what one path was doing, read off the names of kernel, C library
// and runtime functions. Names of commands and of the program's own code do not count.
type trait struct {
	call      string // the system call it served, "" when none
	clock     bool   // reading the time
	traced    bool   // paying for a tracer or filter of system calls
	spawn     bool   // starting or waiting for a process
	lock      bool   // taking a user-space lock
	collector bool   // collecting garbage
	fault     bool   // handling a page fault
	sync      bool   // forcing data to disk
	scheduler bool   // a language runtime's own scheduling, timers and idling
	place     int    // deepest frame of the application's own code, −1 when none
	kernel    int    // first kernel frame, len(frames) when none
}

// The system calls of one purpose each.
var (
	clockCalls = map[string]bool{"clock_gettime": true, "gettimeofday": true, "time": true, "clock_gettime64": true}
	spawnCalls = map[string]bool{"fork": true, "vfork": true, "clone": true, "clone3": true, "execve": true,
		"execveat": true,
		"wait4":    true, "waitid": true, "exit": true, "exit_group": true, "waitpid": true}
	mapCalls = map[string]bool{"mmap": true, "munmap": true, "madvise": true, "brk": true, "mremap": true,
		"mprotect": true}
	syncCalls = map[string]bool{"fsync": true, "fdatasync": true, "msync": true, "sync": true,
		"sync_file_range": true, "syncfs": true}
)

// traitsOf reads the traits of all paths, then fills in what a path leaves open by its neighbours.
func traitsOf(paths []compare.Path) []trait {
	traits, known := make([]trait, len(paths)), map[recording.Frame]trait{}
	for i := range paths {
		traits[i] = traitOf(&paths[i], known)
	}
	inferTraits(paths, traits)
	return traits
}

// traitOf reads the traits of a path. Those of single frames are read once: the same frames stand in
// thousands of paths.
func traitOf(path *compare.Path, known map[recording.Frame]trait) trait {
	t := trait{place: code.Innermost(path.Frames), kernel: len(path.Frames), lock: path.Lock}
	for i := len(path.Frames) - 1; i >= 0; i-- {
		frame := path.Frames[i]
		if frame.Kind == recording.KindKernel {
			t.kernel = i
			t.add(known, frame, (*trait).kernelFrame)
		} else if i > t.place {
			t.add(known, frame, (*trait).userFrame)
		} else {
			// Above the application's own code only whole subsystems of a runtime tell.
			t.collector = t.collector || code.Collects(frame.Name)
			t.scheduler = t.scheduler || code.RunsTimers(frame)
		}
	}
	if path.Syscall != "" {
		t.call = path.Syscall
	}
	if clockCalls[t.call] {
		t.clock = true
	}
	if spawnCalls[t.call] {
		t.spawn = true
	}
	// A write past the cache (O_DIRECT) is forced out as if it were synced.
	t.sync = t.sync || syncCalls[t.call] || strings.Contains(t.call, "write") && kernelHas(path.Frames, directNames)
	t.collector = t.collector || code.IsCollector(path.Comm)
	return t
}

// add takes over what a frame tells, as read finds it the first time.
func (t *trait) add(known map[recording.Frame]trait, frame recording.Frame,
	read func(*trait, recording.Frame)) {
	one, seen := known[frame]
	if !seen {
		read(&one, frame)
		known[frame] = one
	}
	if one.call != "" { // frames come deepest first: the entry function has the last word
		t.call = one.call
	}
	t.clock, t.spawn, t.lock = t.clock || one.clock, t.spawn || one.spawn, t.lock || one.lock
	t.traced, t.fault, t.sync = t.traced || one.traced, t.fault || one.fault, t.sync || one.sync
	t.collector, t.scheduler = t.collector || one.collector, t.scheduler || one.scheduler
}

func (t *trait) kernelFrame(frame recording.Frame) {
	t.call = code.SyscallOf(frame.Name)
	t.traced = t.traced || code.Traces(frame)
	t.spawn = t.spawn || code.Spawns(frame)
	t.fault = t.fault || code.Faults(frame)
	t.sync = t.sync || code.Syncs(frame)
	t.clock = t.clock || code.ReadsClock(frame)
}

func (t *trait) userFrame(frame recording.Frame) {
	t.clock = t.clock || code.ReadsClock(frame)
	t.spawn = t.spawn || code.Spawns(frame)
	t.lock = t.lock || code.IsLockFunction(frame.Name)
	t.collector = t.collector || code.Collects(frame.Name)
	t.scheduler = t.scheduler || code.Schedules(frame)
}

// nodeTotals is what is known of the paths below one point of the call tree.
type nodeTotals struct {
	seconds, kernel, clock float64 // all; in system calls, known or not; reading the time
	calls                  map[string]float64
	known                  float64 // sum of calls
}

// call is the system call that most of the known ones are, "" without a majority.
func (n *nodeTotals) call() string {
	for call, seconds := range n.calls {
		if seconds > majority*n.known {
			return call
		}
	}
	return ""
}

// wrapping is the part of the time below a library function that must have one purpose for all of
// it to have that purpose: wrappers, entry and exit code.
const wrapping = 0.5

// inferTraits gives paths without a purpose that of their neighbours: those
// caught in a wrapper, or on the way into or out of the kernel.
func inferTraits(paths []compare.Path, traits []trait) {
	nodes := map[string]*nodeTotals{}
	for i := range paths {
		for _, point := range traits[i].points(&paths[i]) {
			node := nodes[point]
			if node == nil {
				node = &nodeTotals{calls: map[string]float64{}}
				nodes[point] = node
			}
			seconds := mean(paths[i].A) + mean(paths[i].B)
			node.seconds += seconds
			if traits[i].clock {
				node.clock += seconds
			}
			if traits[i].entered(&paths[i]) {
				node.kernel += seconds
			}
			if traits[i].call != "" {
				node.calls[traits[i].call] += seconds
				node.known += seconds
			}
		}
	}
	for i := range paths {
		t := &traits[i]
		if t.call != "" || t.clock || t.lock || t.fault || t.collector || paths[i].Kind != compare.Running {
			continue
		}
		entered := t.entered(&paths[i])
		for _, point := range t.points(&paths[i]) {
			node := nodes[point]
			call := node.call()
			if node.clock > 0 && node.clock >= wrapping*node.seconds {
				t.clock = true
				break
			}
			if call != "" && (entered || node.kernel >= t.wrapping(&paths[i])*node.seconds) {
				t.call = call
				t.clock = clockCalls[call]
				t.spawn, t.sync = t.spawn || spawnCalls[call], t.sync || syncCalls[call]
				break
			}
		}
	}
}

// entered reports whether a path is in the kernel for a system call: not for a fault or an
// interrupt.
func (t *trait) entered(path *compare.Path) bool {
	if t.kernel >= len(path.Frames) || t.fault {
		return false
	}
	name := path.Frames[t.kernel].Name
	return !strings.Contains(name, "sysvec") && !strings.Contains(name, "interrupt") && !strings.Contains(name, "irq")
}

// managedWrapping is the same in managed languages, whose libraries put checks,
// conversions and native bridges around each call.
const managedWrapping = 0.2

func (t *trait) wrapping(path *compare.Path) float64 {
	if t.place >= 0 {
		switch path.Frames[t.place].Kind {
		case recording.KindPython, recording.KindNode, recording.KindJVM, recording.KindRuby, recording.KindPHP:
			return managedWrapping
		}
	}
	return wrapping
}

// points are where in the call tree a path may take its purpose from: what the
// application's own code called, and the last user frame before the kernel.
func (t *trait) points(path *compare.Path) []string {
	var points []string
	if t.place >= 0 && t.place+1 < len(path.Frames) {
		points = append(points, prefix(path.Frames[:t.place+2]))
	}
	if t.kernel < len(path.Frames) && t.kernel > 0 {
		points = append(points, "k;"+prefix(path.Frames[:t.kernel]))
	}
	return points
}

func prefix(frames []recording.Frame) string {
	var text strings.Builder
	for _, frame := range frames {
		text.WriteString(frame.Name)
		text.WriteByte(0)
	}
	return text.String()
}
