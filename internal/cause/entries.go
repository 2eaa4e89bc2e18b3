package cause

func fileEntries() []Entry {
	const matrix = "file-system matrix: journal modes, no journal, other file systems"
	return []Entry{
		{"file.journal", "a file operation waits for the file system's journal",
			"blocked in do_get_write_access, wait_transaction_locked, add_transaction_credits or jbd2_log_wait_commit when " +
				"not asked for by fsync",
			matrix, "write the log asynchronously; another journal mode or file system; separate the journal's device",
			"file.writeback and file.inode-lock: the stack tells; the waker (ksoftirqd) is not the blocker"},
		{"file.writeback", "a write waits for a page that is being written back, or whose lock the flusher holds",
			"folio_wait_writeback or __filemap_get_folio under a write, woken by I/O completion or a kworker",
			"vm.dirty_*, stable pages", "write whole new pages, flush earlier in smaller amounts, avoid devices with stable " +
				"pages",
			"memory.reclaim, when shrink_folio_list stands above it"},
		{"file.dirty-throttle", "the kernel makes the writer sleep because too much is dirty",
			"waits in balance_dirty_pages", "vm.dirty_*, limits of the device",
			"raise vm.dirty_background_bytes' distance to vm.dirty_bytes, or write less at once",
			"sleep.deliberate: a timer ends both, the kernel stack tells"},
		{"file.inode-lock", "writers of one file queue on its inode lock",
			"rwsem_down_write_slowpath under a write; the holder", "separate files",
			"one file per writer, or one writer that batches", "lock.contended, which is in user space"},
		{"file.sync", "the program forces data to disk (fsync, O_SYNC, msync) more often or more slowly than before",
			"sync calls per run and the time in them", "replace by batches in the experiment's command; " + matrix,
			"sync once per batch; group commit; check whether the data must survive a power loss",
			"disk.slow: then the number of syncs is the same"},
		{"disk.slow", "the device itself takes long", "block I/O latency per device, queue depth", "another device",
			"a faster device, or fewer and larger requests", "disk.throttled"},
		{"disk.throttled", "a cgroup limit holds the I/O back", "blkio or io limits in the facts; throttle waits",
			"lift the limit", "raise the limit or spread the I/O", "disk.slow"},
	}
}

func processorEntries() []Entry {
	return []Entry{
		{"cpu.throttled", "a cgroup CPU quota stops the program",
			"a quota in the facts; runnable threads that wait while nobody has the CPU; nr_throttled", "raise the quota",
			"raise or remove the quota, or use fewer threads so that it is not burnt at once",
			"cpu.starved, where somebody else runs"},
		{"cpu.starved", "runnable threads wait because others use the CPU",
			"run-queue delay on the critical path and who ran meanwhile", "stop or move the competitor, CPU affinity",
			"move the competitor away, give it a lower priority, or add CPUs",
			"lock.contended and slow calls: everything looks slow without a single slow call"},
		{"cpu.confined", "the program may use fewer CPUs than its threads need",
			"affinity mask or cpuset, threads runnable per allowed CPU", "widen the affinity",
			"widen the affinity or the cpuset, or match the number of threads to it", "cpu.starved"},
	}
}

func memoryEntries() []Entry {
	return []Entry{
		{"memory.faults", "page faults grew: memory is mapped, touched and returned again and again",
			"page-fault frames, and which kind of fault they handle: the first touch of a page, or the first write after a " +
				"fork; mmap, munmap, madvise and brk calls; minor faults per run",
			"huge pages, allocator settings by environment",
			"keep memory (allocator thresholds such as MALLOC_TRIM_THRESHOLD_, pools), or use huge pages",
			"code that simply uses more memory"},
		{"memory.page-in", "pages must be read from disk again", "major faults, block reads, filemap_fault waits; reads " +
			"past the cache (O_DIRECT)",
			"warm cache, memory limit", "more memory, a smaller working set, or read ahead", "disk.slow"},
		{"memory.reclaim", "the memory limit makes the kernel reclaim on the program's time",
			"CPU time and waits below try_to_free_mem_cgroup_pages, reclaim_throttle or the shrinking of lists, in page " +
				"faults, reads and writes; the limit; minor faults", "raise the limit", "raise the limit or use less",
			"memory.page-in, when what was reclaimed is read again; memory.faults, when no limit is met; file.writeback"},
		{"runtime.gc", "the garbage collector takes the time", "collector threads and frames; pauses",
			"heap settings by environment or flag", "allocate less, or give the collector a larger heap",
			"the code that makes the garbage: look there first when no collector setting differs"},
		{"runtime.cold", "code runs interpreted or is being compiled", "interpreter and compiler frames", "JIT flags",
			"take away the option that holds the compiler back; warm up before measuring, or cache compiled code",
			"code.grew in short runs; a program that has text compiled again and again (eval, new Function, templates), which " +
				"is said in the claim, with who asks for it"},
		{"cache.misses", "the hardware counters show more cache misses per unit of work",
			"counters with their trust interval",
			attributionOnly, "smaller or better ordered data", "line.false-sharing"},
		{"branch.misses", "the hardware counters show more mispredicted branches per unit of work",
			"counters with their trust interval", attributionOnly, "sort the data, or compute without branches", "cache.misses"},
		{"frontend.stalls", "the hardware counters show the processor waiting for instructions",
			"counters with their trust interval", attributionOnly, "smaller hot code, huge pages for code, profile-guided " +
				"layout",
			"cache.misses"},
	}
}

func codeEntries() []Entry {
	return []Entry{
		{"code.grew", "a function that both sides run costs more in B",
			"its inclusive and own time in B against A, with an interval from the spread between runs",
			"none: attribution to the deepest frame that explains the change",
			"look at what changed in the function or in how often and with what it is called",
			"a cause that merely passes through the function; a move of cost from a neighbour is filtered out"},
		{"code.added", "B runs a path that A does not have", "frames present in B alone", attributionOnly,
			"make the new path cheaper, rarer, or asynchronous", "a renamed or newly inlined function"},
	}
}

func networkEntries() []Entry {
	return []Entry{
		{"net.delayed", "requests wait on small packets that the sender's kernel keeps back: Nagle's algorithm with " +
			"delayed acknowledgement (about 40 ms), or a cork (200 ms)",
			"waits near 40 ms in socket reads; the timers of late acknowledgements and corks on the waker's stack",
			"TCP_NODELAY or quick acknowledgement where settable",
			"set TCP_NODELAY, or write each message at once; take TCP_CORK off, and MSG_MORE out, at a message's end",
			"sleep.deliberate; net.loss, whose timer is the cork's as well"},
		{"net.reconnect", "a new connection for each request", "connect and accept calls per unit of work", attributionOnly,
			"keep connections open", "syscall.chatty"},
		{"net.loss", "segments are lost and sent again", "retransmits per second, by peer", attributionOnly,
			"find the link that loses them",
			"a slow peer; a server on this host whose listening socket has a full queue: that is said in the claim"},
	}
}

func monitorEntries() []Entry {
	return []Entry{
		{"monitor.attached",
			"another monitor costs the program its time (per-task counters reprogrammed at each context switch, tracing, debug)",
			"holders of perf events, BPF programs and ptrace found on the host; cost per context switch",
			"detach it, or count per CPU instead", "detach the monitor, count per CPU, use no more events than counters",
			"more context switches of the program's own; syscall.traced, when each system call became dearer"},
		{"monitor.multiplexed", "counters were shared out over time, so their values are estimates",
			"time_running below time_enabled", "fewer events", "use no more events than the processor has counters",
			"real variation of the counters"},
	}
}
