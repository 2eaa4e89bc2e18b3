package cause

import "sort"

// Entry is one cause of the catalogue: what `culprit explain ID` tells. Ids
// never change their meaning; new ones may be added.
type Entry struct {
	ID         string
	Claim      string // in one sentence
	Evidence   string // what raises it
	Proof      string // what would prove it, "none: attribution only" where nothing can be flipped
	Remedy     string
	MistakenAs string // how it is mistaken for something else, and how to tell
}

const attributionOnly = "none: attribution only"

// Catalogue lists all causes in the order of their families. It is the only list: a
// cause is added by a line here and, where recordings can show it, a matcher in its family's file.
func Catalogue() []Entry {
	var entries []Entry
	for _, family := range [][]Entry{clockEntries(), syscallEntries(), timerEntries(), lockEntries(), fileEntries(),
		processorEntries(), processEntries(), memoryEntries(), codeEntries(), networkEntries(), monitorEntries()} {
		entries = append(entries, family...)
	}
	return entries
}

// Lookup finds an entry by its id.
func Lookup(id string) (Entry, bool) {
	for _, entry := range Catalogue() {
		if entry.ID == id {
			return entry, true
		}
	}
	return Entry{}, false
}

// IDs lists the ids of all causes in alphabetical order.
func IDs() []string {
	var ids []string
	for _, entry := range Catalogue() {
		ids = append(ids, entry.ID)
	}
	sort.Strings(ids)
	return ids
}

func clockEntries() []Entry {
	return []Entry{
		{"clock.slow-source",
			"reading the time is expensive because the kernel's clock source is not the fastest one available here",
			"the available clock sources and the one that was in force for most of a run; CPU time under functions that read " +
				"the time; measured ns per read of each source",
			"flip clocksource: the program sets each available source in randomised trials and puts the old one back; not " +
				"where the commands set it themselves",
			"measure each source here, then switch to the fastest: current_clocksource in " +
				"/sys/devices/system/clocksource/clocksource0, or clocksource= on the kernel command line",
			"a tracer of system calls: with a source that the vDSO cannot serve each read becomes a system call; " +
				"clock.read-often, on a fast source or on the same slow one on both sides"},
		{"clock.vdso-bypassed",
			"the program reads the time by a real system call although the vDSO would serve it",
			"clock_gettime, gettimeofday or time seen as system calls; their number × (system call − vDSO) matches the loss",
			"none: predicted by count × measured cost",
			"call clock_gettime through the C library instead of syscall(); run without what disables the vDSO (vdso=0, a " +
				"sandbox, a static loader)",
			"a slow clock source that the vDSO cannot serve; CPU-time clocks always need the kernel"},
		{"clock.read-often",
			"the time is read far more often per unit of work than before",
			"CPU time under vDSO and time functions, by call site",
			attributionOnly,
			"read the time once per unit of work and pass it on; use a coarse clock where milliseconds do",
			"clock.slow-source: there the number of reads is the same and each is dearer"},
	}
}

func syscallEntries() []Entry {
	return []Entry{
		{"syscall.traced",
			"every system call pays for a tracer or filter: ptrace, seccomp, audit, ftrace, a perf or BPF program on system " +
				"calls",
			"TracerPid, seccomp mode and number of filters, tracefs instances, holders of perf events and BPF programs; " +
				"frames of tracers and filters in the kernel's system-call entry",
			"detach or remove the tracer where the program can; audit is never switched on, because that cannot be undone",
			"detach the tracer, or run the filter with fewer rules; let strace use --seccomp-bpf",
			"system calls that became dearer by themselves; more calls under a tracer that both sides have are " +
				"syscall.chatty; culprit's own recording appears on both sides"},
		{"syscall.chatty",
			"the same work takes many more system calls (small reads or writes, repeated stat or open, polling)",
			"calls per run and bytes per call, by call and call site",
			attributionOnly,
			"buffer or batch: larger reads and writes, vectored calls, keep files open, cache what stat returns",
			"syscall.traced, where the number of calls is the same; file.sync, where the waiting is in the disk"},
	}
}

func timerEntries() []Entry {
	return []Entry{
		{"timer.ticker",
			"a timer wakes a thread at a fixed rate whether or not there is work",
			"wake-ups by a timer at a regular interval, spread over the run, each with little work; CPU time, switches and " +
				"system calls at zero load; the stack that sleeps; or the signals of a timer that the program set, and " +
				"their handler",
			"none on foreign code; a load sweep shows where a cached value would break even",
			"wake on demand instead of by the clock, make the interval longer, or compute the value when it is asked for",
			"a poll of something that really changes; a rate that follows the load is no ticker, nor is the same rate over " +
				"a longer run"},
		{"sleep.deliberate",
			"the program sleeps on purpose (back-off, retry, poll interval, nanosleep)",
			"time on the critical path under sleep calls that a timer ended",
			attributionOnly,
			"wait for the event itself (condition, poll on a descriptor) or shorten the interval",
			"a main thread that only waits for its workers: then the workers' code is the cause; net.delayed near 40 ms; " +
				"sleeps as long as before that now go one after the other, for a lock or a pool that is too small: that is said " +
				"where it is seen, with the queue's place, the number of threads or that of connections"},
	}
}

func lockEntries() []Entry {
	return []Entry{
		{"lock.contended",
			"threads wait for each other's user-space lock",
			"futex waits whose waker is in the same process, or waits for a lock of a file or a semaphore that another of the " +
				"program's processes gives up; the lock, the function that takes it, what its holder did meanwhile; where a " +
				"runtime parks its tasks without a thread (Go), CPU time in the slow ways of a mutex while the runtime idles; " +
				"CPython's interpreter lock is one, held by whichever thread runs meanwhile; waking all that wait for a " +
				"condition where the other side wakes one, which is said in the claim",
			"scale the threads from 1 to N",
			"hold the lock for less, split it, or share nothing; move slow work out of the critical section",
			"cpu.starved: a holder that has no CPU makes everybody wait; a condition or a join is no lock; a semaphore of one " +
				"that threads both take and give counts as a lock"},
		{"line.false-sharing",
			"threads slow each other by touching different words of one cache line",
			"sampled operand addresses by line, words and threads",
			"pin the threads to one CPU; pad", "pad or align the fields that different threads write to 64 bytes (128 where " +
				"lines are fetched in pairs)",
			"line.true-sharing, where the word is the same; cache.misses of plain capacity"},
		{"line.true-sharing",
			"threads slow each other by writing the same word",
			"the same as for line.false-sharing, with one word", "pin the threads to one CPU",
			"give each thread its own copy and add up on demand; write only when the value changes",
			"lock.contended: a lock's own word is shared by design"},
	}
}

func processEntries() []Entry {
	return []Entry{
		{"process.short-lived",
			"work goes into starting many short-lived processes",
			"processes started per run with parent and command; CPU time in fork, exec, the loader and exit, and waiting " +
				"for children",
			attributionOnly,
			"do the work in the process itself, or keep one helper running and talk to it",
			"code of the parent: tools that poll /proc see none of these processes"},
		{"config.differs",
			"a setting differs between the two sides and nothing stronger explains the change",
			"the list of differing facts; commands that are the same but for settings",
			"flip the settings that can be flipped",
			"use the setting of the faster side",
			"code that changed at the same time"},
	}
}
