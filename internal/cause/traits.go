package cause

import (
	"strings"

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

// The names below are those of functions of kernels, C libraries and runtimes.
var (
	clockCalls = map[string]bool{"clock_gettime": true, "gettimeofday": true, "time": true, "clock_gettime64": true}
	clockNames = []string{"__vdso_clock_gettime", "__vdso_gettimeofday", "__vdso_time", "__kernel_clock_gettime",
		"__cvdso_clock_gettime", "os::javaTimeMillis", "os::javaTimeNanos", "os::elapsed_counter", "JVM_CurrentTimeMillis",
		"JVM_NanoTime", "System.currentTimeMillis", "System.nanoTime", "System$1.nanoTime", "Clock.currentInstant",
		"SystemClock.", "Instant.now", "VM.getNanoTimeAdjustment", "time.Now", "time.now", "time.Since", "runtime.nanotime",
		"runtime.walltime", "time.runtimeNano", "_PyTime_GetSystemClock", "_PyTime_GetMonotonicClock",
		"_PyTime_GetPerfCounter", "_PyTime_TimeUnchecked", "py_get_system_clock", "py_get_monotonic_clock", "pymonotonic",
		"time_perf_counter", "time_monotonic", "time_time", "uv_hrtime", "uv__hrtime", "Date.now", "DateNow",
		"performance.now", "process.hrtime", "hrtimeBigInt", "v8::base::TimeTicks::Now", "CurrentClockTimeMillis",
		"std::chrono::_V2", "chrono::_V2::s", "std::time::Instant::now", "std::time::SystemTime::now", "Timespec::now",
		"pvclock_clocksource_read", "read_hpet", "acpi_pm_read", "read_xen_clocksource"}
	clockExact = map[string]bool{"clock_gettime": true, "gettimeofday": true, "__clock_gettime": true,
		"__gettimeofday": true}
	tracedNames = []string{"ptrace_stop", "ptrace_do_notify", "ptrace_notify", "ptrace_report_syscall", "__seccomp_filter",
		"seccomp_run_filters", "__secure_computing", "seccomp_run", "perf_syscall_enter", "perf_syscall_exit",
		"perf_trace_sys_enter", "perf_trace_sys_exit", "ftrace_syscall_enter", "ftrace_syscall_exit",
		"trace_event_raw_event_sys",
		"__audit_syscall", "audit_filter_syscall", "syscall_trace_enter_audit"}
	spawnCalls = map[string]bool{"fork": true, "vfork": true, "clone": true, "clone3": true, "execve": true,
		"execveat": true,
		"wait4":    true, "waitid": true, "exit": true, "exit_group": true, "waitpid": true}
	spawnNames = []string{"posix_spawn", "__spawni", "_Fork", "__libc_fork", "copy_process", "kernel_clone", "do_exit",
		"begin_new_exec", "load_elf_binary", "bprm_execve", "exit_mmap", "ret_from_fork", "schedule_tail",
		"_posixsubprocess", "Popen.", "subprocess_fork_exec", "os_posix_spawn", "ProcessBuilder.start", "ProcessImpl.",
		"java.lang.Runtime.exec", "os.StartProcess", "os.startProcess", "syscall.forkExec", "syscall.forkAndExecInChild",
		"os/exec.", "os.(*Process)", "uv_spawn", "SyncProcessRunner", "ProcessWrap", "std::process::Command",
		"std::sys::process", "dl_main", "_dl_start", "_dl_relocate_object", "_dl_map_object"}
	spawnExact = map[string]bool{"fork": true, "vfork": true, "popen": true, "system": true, "pclose": true,
		"do_system": true}
	faultNames = []string{"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "handle_mm_fault",
		"do_page_fault"}
	mapCalls = map[string]bool{"mmap": true, "munmap": true, "madvise": true, "brk": true, "mremap": true,
		"mprotect": true}
	syncCalls = map[string]bool{"fsync": true, "fdatasync": true, "msync": true, "sync": true,
		"sync_file_range": true, "syncfs": true}
	syncNames      = []string{"vfs_fsync", "ext4_sync_file", "xfs_file_fsync", "btrfs_sync_file", "generic_write_sync"}
	timerLoopNames = []string{"uv__run_timers", "listOnTimeout", "processTimers"}
	schedulerNames = []string{"runtime.mcall", "runtime.park_m", "runtime.schedule", "runtime.findRunnable",
		"runtime.sysmon",
		"runtime.netpoll", "runtime.stopm", "runtime.startm", "runtime.wakep", "runtime.notesleep", "runtime.notetsleep",
		"runtime.notewakeup", "runtime.goready", "runtime.ready", "runtime.timeSleep", "runtime.(*timers)",
		"runtime.(*timer)",
		"runtime.checkTimers", "runtime.runtimer", "runtime.mstart", "runtime.usleep", "runtime.futex", "runtime.gopark",
		"runtime.resetspinning", "runtime.goroutineReady", "time.Sleep", "time.sendTime", "time.goFunc", "runtime.mPark",
		"uv__run_timers", "uv_run", "uv__io_poll", "listOnTimeout", "processTimers", "uv__update_time"}
)

// traitsOf reads the traits of all paths, then fills in what a path leaves open by its neighbours.
func traitsOf(paths []compare.Path) []trait {
	traits := make([]trait, len(paths))
	for i := range paths {
		traits[i] = traitOf(&paths[i])
	}
	inferTraits(paths, traits)
	return traits
}

func traitOf(path *compare.Path) trait {
	t := trait{place: -1, kernel: len(path.Frames), lock: path.Lock}
	for i, own := range compare.IsApplication(path.Frames) {
		if own {
			t.place = i
		}
	}
	for i := len(path.Frames) - 1; i >= 0; i-- {
		frame := &path.Frames[i]
		if frame.Kind == recording.KindKernel {
			t.kernel = i
			t.kernelFrame(frame.Name)
		} else if i > t.place {
			t.userFrame(frame)
		} else {
			// Above the application's own code only whole subsystems of a runtime tell.
			t.collector = t.collector || compare.Collects(frame.Name)
			t.scheduler = t.scheduler || containsAny(frame.Name, timerLoopNames)
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
	t.collector = t.collector || compare.IsCollector(path.Comm)
	return t
}

func (t *trait) kernelFrame(name string) {
	// Frames come deepest first: the entry function has the last word.
	if call := compare.SyscallOfFrame(name); call != "" {
		t.call = call
	}
	t.traced = t.traced || containsAny(name, tracedNames)
	t.spawn = t.spawn || containsAny(name, spawnNames)
	t.fault = t.fault || containsAny(name, faultNames)
	t.sync = t.sync || containsAny(name, syncNames)
	t.clock = t.clock || containsAny(name, clockNames)
}

func (t *trait) userFrame(frame *recording.Frame) {
	name := frame.Name
	t.clock = t.clock || frame.Kind == recording.KindVDSO || clockExact[name] || containsAny(name, clockNames)
	t.spawn = t.spawn || spawnExact[name] || containsAny(name, spawnNames) ||
		strings.HasSuffix(frame.File, "/subprocess.py") || strings.HasPrefix(frame.File, "node:child_process") ||
		strings.HasPrefix(frame.File, "node:internal/child_process")
	t.lock = t.lock || compare.IsLockFunction(name)
	t.collector = t.collector || compare.Collects(name)
	t.scheduler = t.scheduler || containsAny(name, schedulerNames)
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

// wrapping is the part of the time below a library function that must have one purpose for all of it to have that
// purpose: wrappers, entry and exit code.
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

// entered reports whether a path is in the kernel for a system call: not for a fault or an interrupt.
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
