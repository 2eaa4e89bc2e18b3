package cause

import (
	"cmp"
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
	compiler  bool   // compiling
	scheduler bool   // a language runtime's own scheduling, timers and idling
	timers    bool   // a run time's loop that runs timers, of a frame alone
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
// ran are the kinds of code seen in them.
func (s *scene) traitsOf(paths []compare.Path) (traits []trait, ran map[recording.FrameKind]bool) {
	purposes := purposes{}
	traits, ran = make([]trait, len(paths)), map[recording.FrameKind]bool{}
	for i := range paths {
		traits[i] = s.traitOf(&paths[i], purposes)
	}
	inferTraits(paths, traits)
	for frame := range purposes {
		ran[frame.Kind] = true
	}
	return traits, ran
}

// purposes are the traits of single frames. The paths of a scene share most of theirs.
type purposes map[recording.Frame]trait

func (p purposes) of(frame recording.Frame) trait {
	known, seen := p[frame]
	if !seen {
		known = purposeOf(frame)
		p[frame] = known
	}
	return known
}

func purposeOf(frame recording.Frame) trait {
	t := trait{clock: code.ReadsClock(frame), spawn: code.Spawns(frame)}
	if frame.Kind == recording.KindKernel {
		t.call = code.SyscallOf(frame.Name)
		t.traced, t.fault, t.sync = code.Traces(frame), code.Faults(frame), code.Syncs(frame)
		return t
	}
	t.compiler = code.Compiles(frame)
	t.lock, t.collector = code.FightsForLock(frame.Name), code.Collects(frame.Name)
	t.scheduler, t.timers = code.Schedules(frame), code.RunsTimers(frame)
	return t
}

func (s *scene) traitOf(path *compare.Path, known purposes) trait {
	t := trait{place: s.code.Innermost(path.Frames), kernel: len(path.Frames), lock: path.Lock}
	t.compiler = code.IsCompiler(path.Comm) || s.code.CompilerAt(path.Frames) >= 0 ||
		code.CompilesPHP(path.Frames)
	for i := len(path.Frames) - 1; i >= 0; i-- {
		frame := path.Frames[i]
		of := known.of(frame)
		t.compiler = t.compiler || of.compiler
		switch {
		case frame.Kind == recording.KindKernel:
			t.kernel, t.call = i, cmp.Or(of.call, t.call) // the entry function has the last word
			t.join(of)
		case i > t.place:
			t.join(of)
		default: // above the application's own code only whole subsystems of a runtime tell
			t.collector = t.collector || of.collector
			t.scheduler = t.scheduler || of.timers
		}
	}
	t.call = cmp.Or(path.Syscall, t.call)
	t.clock = t.clock || clockCalls[t.call]
	t.spawn = t.spawn || spawnCalls[t.call]
	// A write past the cache (O_DIRECT) is forced out as if it were synced.
	t.sync = t.sync || syncCalls[t.call] || strings.Contains(t.call, "write") && code.InKernel(path.Frames, directNames...)
	t.collector = t.collector || code.IsCollector(path.Comm)
	return t
}

// join adds the purposes of a frame.
func (t *trait) join(of trait) {
	t.clock, t.traced, t.spawn = t.clock || of.clock, t.traced || of.traced, t.spawn || of.spawn
	t.lock, t.collector, t.fault = t.lock || of.lock, t.collector || of.collector, t.fault || of.fault
	t.sync, t.scheduler = t.sync || of.sync, t.scheduler || of.scheduler
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

// inferTraits gives paths without a purpose that of their neighbours: those
// caught in a wrapper, or on the way into or out of the kernel.
func inferTraits(paths []compare.Path, traits []trait) {
	nodes, points := map[string]*nodeTotals{}, make([][]string, len(paths))
	for i := range paths {
		points[i] = traits[i].points(&paths[i])
		for _, point := range points[i] {
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
		for _, point := range points[i] {
			node := nodes[point]
			call := node.call()
			if node.clock > 0 && node.clock >= majority*node.seconds {
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
	return majority
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
	length := len(frames)
	for i := range frames {
		length += len(frames[i].Name)
	}
	text.Grow(length)
	for _, frame := range frames {
		text.WriteString(frame.Name)
		text.WriteByte(0)
	}
	return text.String()
}
