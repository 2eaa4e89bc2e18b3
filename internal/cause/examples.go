package cause

// Example is a case of a cause, as it is met: most are programs of the lineup, with what was seen of them there
// (lineup/RESULTS.md; the name in brackets runs it again: go run ./lineup -run NAME). It is empty for an unknown id.
func Example(id string) string { return examples[id] }

var examples = map[string]string{
	"clock.slow-source": "a rate limiter asks for the time at each request; on kvm-clock it took 1.15 times the " +
		"CPU time of tsc, all of it below clock reads; with hpet or acpi_pm a read costs 6 to 8 times as much " +
		"(clock-slow-c)",
	"clock.vdso-bypassed": "a meter calls syscall(SYS_clock_gettime) for each record: 7.9 times the CPU time, " +
		"and number of calls × (system call − vDSO) gives 95 % of it (clock-raw-rust)",
	"clock.read-often": "a deadline that was checked once in a thousand records is checked at each one: 1.8 " +
		"times the CPU time, below deadline_passed (clock-often-c)",
	"syscall.traced": "the service is started under strace, or in a sandbox with many seccomp rules: 2.2 to 2.8 " +
		"times the CPU time, as many calls as before, each dearer (traced-strace-c, traced-sandbox-python)",
	"syscall.chatty": "a file is read 128 bytes at a time instead of 64 KiB: 2.8 times the CPU time, as many " +
		"bytes in 512 times the reads, below fill_buffer (chatty-read-c)",
	"timer.ticker": "a thread counts time in steps of 400 µs so that others need not read it: 2.1 times the CPU " +
		"time, as many wake-ups a second whether there is work or not, in count_time (ticker-c)",
	"sleep.deliberate": "the pause before a retry grew from 1 to 12 ms: 2 times the wall time, waits that a " +
		"timer ended, and no more CPU time (sleep-node)",
	"lock.contended": "every trade adds to totals behind one mutex: 1.9 times the wall time, futex waits in " +
		"add_to_totals that another thread of the process ended (lock-hot-c)",
	"line.false-sharing": "the counters of two workers moved next to each other: 2.7 times the CPU time; they " +
		"write different words of one 64-byte line, in note (line-workers-c)",
	"line.true-sharing": "all threads add to one atomic total after each item: 5.5 times the CPU time; several " +
		"threads write the same word, in report (line-total-rust)",
	"file.journal": "a mail spool lies on a file system with a journal of 4 MB, which is full all the time: 2.1 " +
		"times the wall time, blocked in the journal below unlink, with no fsync asked for " +
		"(journal-spool-python)",
	"file.writeback": "counters are written in place on a disk that asks for pages not to change on their way to " +
		"it: 2.3 times the wall time, waits for writeback below pwrite64 in store_counter " +
		"(writeback-counters-c)",
	"file.dirty-throttle": "of the disk that an export writes to only 2 MB may be dirty: 4.6 times the wall " +
		"time, asleep in balance_dirty_pages below write (dirty-export-node)",
	"file.inode-lock": "index entries go into a file that another thread writes in large blocks: 2.6 times the " +
		"wall time, queued on the inode's lock below pwrite64 in note_record (inode-writers-c)",
	"file.sync": "a journal is forced to disk after 80 records instead of 640: 1.4 times the wall time, in " +
		"fdatasync below make_durable (sync-each-c); redis with appendfsync always: 2.1 times " +
		"(server-redissync-c)",
	"disk.slow": "a catalogue lies on a disk that answers 350 reads a second: 12.5 times the wall time, as many " +
		"requests, each of them longer on the device (slowdisk-lookup-go)",
	"disk.throttled": "a backup's cgroup may write 17 MB a second: 5.5 times the wall time; I/O that the limit " +
		"holds back before the device sees it (disklimit-backup-rust)",
	"cpu.throttled": "a quota of 0.35 CPUs: 2.9 times the wall time; threads that could run and wait while " +
		"nobody has the CPU (throttled-quota-c)",
	"cpu.starved": "a nightly backup is packed on the same CPU: 1.8 times the wall time, runnable and waiting, " +
		"CPU used by gzip (starved-backup-python)",
	"cpu.confined": "two threads under taskset -c 0 on a host of two CPUs: 2 times the wall time and the same " +
		"CPU time; they wait for each other (confined-resize-c)",
	"process.short-lived": "a script starts basename for each line: 2.4 times the CPU time, in fork, exec, the " +
		"loader and exit of processes that live for a millisecond (shellout-names-shell)",
	"config.differs": "the same command with PYTHONMALLOC=debug in its environment: 1.4 times the CPU time " +
		"spread over all functions, and this one setting that differs (config-debug-python)",
	"memory.faults": "scratch memory is mapped anew for each tile of a picture: 2.3 times the CPU time, in page " +
		"faults below render_tile (faults-scratch-python)",
	"memory.page-in": "a file that stayed in the page cache is read from disk in each pass: 1.8 times the wall " +
		"time below load_chunk (pagein-read-python)",
	"memory.reclaim": "a service in a cgroup whose memory limit leaves next to no page cache: 1.3 to " +
		"2 times the CPU time, below shrink_folio_list in its own reads (reclaim-sessions-python)",
	"runtime.gc": "GOGC=25: 1.6 times the CPU time in the collector, for the same work (gc-tree-go); a heap of " +
		"42 MB in a JVM: 1.4 times (gc-heap-java)",
	"runtime.cold": "hot JavaScript runs in the interpreter, because its functions are longer than the compiler " +
		"may take: 2 times the CPU time, in movingAverage (cold-sum-node)",
	"cache.misses": "rows that are read column by column: as many instructions, more cycles for each, more " +
		"misses. " +
		notRaised,
	"branch.misses": "a filter on data that is no longer sorted: as many instructions, more mispredicted " +
		"branches. " +
		notRaised,
	"frontend.stalls": "generated code that no longer fits the instruction cache: fewer instructions per cycle, " +
		"though data is at hand. " +
		notRaised,
	"code.grew": "timers no longer arrive in order, so that each insertion moves half of the table: 1.9 times " +
		"the CPU time, all of the growth in insert_timer (quadratic-c)",
	"code.added": "an audit was added to each order: 1.7 times the CPU time, 89 % of the growth below " +
		"auditOrder, which A does not have (added-go)",
	"net.delayed": "some answers are sent as two small packets without TCP_NODELAY: 2.2 times the wall time, " +
		"waits of 40 ms in read below receive_all (delayed-header-c)",
	"net.reconnect": "a client opens a new connection for every fifth request: 2.7 times the CPU time, half of " +
		"the growth below connect (reconnect-lookup-go)",
	"net.loss": "on the way to a replica one segment in 900 is lost: 4 times the wall time, waits for sockets, " +
		"and retransmits (loss-replica-go)",
	"monitor.attached": "perf counts events of each task of a program that switches often: 1.3 times the CPU " +
		"time, each context switch dearer, counters opened by process perf (monitor-perf-c)",
	"monitor.multiplexed": "perf stat with six events on a processor with four counters: each is counted for two " +
		"thirds of the time and scaled up. " +
		notRaised,
}

// notRaised ends the example of a cause that stands in the catalogue without a matcher.
const notRaised = "culprit does not read hardware counters: it never names this by itself"
