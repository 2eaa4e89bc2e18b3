package code

import (
	"strings"

	"culprit/recording"
)

// Parts of the names of functions of kernels, C libraries and run times that are there for one
// purpose; those in sets are whole names.
var (
	clockNames = words(
		// Linux 4.9 to 6.18: the vDSO, and what reads a clock that has no place in it
		`__vdso_clock_gettime __vdso_gettimeofday __vdso_time __kernel_clock_gettime
		__cvdso_clock_gettime pvclock_clocksource_read read_hpet acpi_pm_read read_xen_clocksource`,
		// JDK 8 to 25
		`os::javaTimeMillis os::javaTimeNanos os::elapsed_counter JVM_CurrentTimeMillis JVM_NanoTime
		System.currentTimeMillis System.nanoTime System$1.nanoTime Clock.currentInstant SystemClock.
		Instant.now VM.getNanoTimeAdjustment`,
		// Go 1.9 to 1.26
		`time.Now time.now time.Since runtime.nanotime runtime.walltime time.runtimeNano`,
		// CPython 3.8 to 3.14
		`_PyTime_GetSystemClock _PyTime_GetMonotonicClock _PyTime_GetPerfCounter _PyTime_TimeUnchecked
		py_get_system_clock py_get_monotonic_clock pymonotonic time_perf_counter time_monotonic
		time_time`,
		// Node 12 to 24
		`uv_hrtime uv__hrtime Date.now DateNow performance.now process.hrtime hrtimeBigInt
		v8::base::TimeTicks::Now CurrentClockTimeMillis`,
		// libstdc++ and Rust
		`std::chrono::_V2 chrono::_V2::s std::time::Instant::now std::time::SystemTime::now
		Timespec::now`,
	)
	clockExact  = wordSet(`clock_gettime gettimeofday __clock_gettime __gettimeofday`)
	tracedNames = words(`ptrace_stop ptrace_do_notify ptrace_notify ptrace_report_syscall
		__seccomp_filter seccomp_run_filters __secure_computing seccomp_run perf_syscall_enter
		perf_syscall_exit perf_trace_sys_enter perf_trace_sys_exit ftrace_syscall_enter
		ftrace_syscall_exit trace_event_raw_event_sys __audit_syscall audit_filter_syscall
		syscall_trace_enter_audit`)  // Linux 4.9 to 6.18
	spawnNames = words(
		// Linux, glibc and its dynamic linker
		`copy_process kernel_clone do_exit begin_new_exec load_elf_binary bprm_execve exit_mmap
		ret_from_fork schedule_tail posix_spawn __spawni _Fork __libc_fork dl_main _dl_start
		_dl_relocate_object _dl_map_object`,
		// CPython, the JDK, Go, Node, Rust
		`_posixsubprocess Popen. subprocess_fork_exec os_posix_spawn`,
		`ProcessBuilder.start ProcessImpl. java.lang.Runtime.exec`,
		`os.StartProcess os.startProcess syscall.forkExec syscall.forkAndExecInChild os/exec.
		os.(*Process)`,
		`uv_spawn SyncProcessRunner ProcessWrap`,
		`std::process::Command std::sys::process`,
	)
	spawnExact = wordSet(`fork vfork popen system pclose do_system`)
	faultNames = words(`asm_exc_page_fault exc_page_fault do_user_addr_fault handle_mm_fault
		do_page_fault`)
	syncNames = words(`vfs_fsync ext4_sync_file xfs_file_fsync btrfs_sync_file generic_write_sync`)
	// timerLoopNames are Node's: libuv's loop, and its own list of timers.
	timerLoopNames = words(`uv__run_timers listOnTimeout processTimers`)
	schedulerNames = words(
		// Go 1.9 to 1.26
		`runtime.mcall runtime.park_m runtime.schedule runtime.findRunnable runtime.sysmon
		runtime.netpoll runtime.stopm runtime.startm runtime.wakep runtime.notesleep
		runtime.notetsleep runtime.notewakeup runtime.goready runtime.ready runtime.timeSleep
		runtime.(*timers) runtime.(*timer) runtime.checkTimers runtime.runtimer runtime.mstart
		runtime.usleep runtime.futex runtime.gopark runtime.resetspinning runtime.goroutineReady
		time.Sleep time.sendTime time.goFunc runtime.mPark`,
		// Node 12 to 24
		`uv__run_timers uv_run uv__io_poll listOnTimeout processTimers uv__update_time`,
	)
)

// ReadsClock tells a function that reads the time.
func ReadsClock(frame recording.Frame) bool {
	return frame.Kind == recording.KindVDSO || containsAny(frame.Name, clockNames) ||
		frame.Kind != recording.KindKernel && clockExact[frame.Name]
}

// Spawns tells a function that starts a process, or that a process starts or ends in.
func Spawns(frame recording.Frame) bool {
	if containsAny(frame.Name, spawnNames) {
		return true
	}
	return frame.Kind != recording.KindKernel && (spawnExact[frame.Name] ||
		strings.HasSuffix(frame.File, "/subprocess.py") ||
		beginsWithAny(frame.File, []string{"node:child_process", "node:internal/child_process"}))
}

// Traces tells a function of the kernel that serves a tracer or a filter of system calls.
func Traces(frame recording.Frame) bool {
	return frame.Kind == recording.KindKernel && containsAny(frame.Name, tracedNames)
}

// Faults tells a function of the kernel that handles a page fault.
func Faults(frame recording.Frame) bool {
	return frame.Kind == recording.KindKernel && containsAny(frame.Name, faultNames)
}

// Syncs tells a function of the kernel that forces data to disk.
func Syncs(frame recording.Frame) bool {
	return frame.Kind == recording.KindKernel && containsAny(frame.Name, syncNames)
}

// Schedules tells a function of a run time's own scheduling, timers and idling.
func Schedules(frame recording.Frame) bool { return containsAny(frame.Name, schedulerNames) }

// RunsTimers tells a function in which an event loop runs what a timer started.
func RunsTimers(frame recording.Frame) bool { return containsAny(frame.Name, timerLoopNames) }
