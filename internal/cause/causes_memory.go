package cause

// Causes of memory, and what recognises them.
const (
	MemoryFaults  ID = "memory.faults"
	MemoryPageIn  ID = "memory.page-in"
	MemoryReclaim ID = "memory.reclaim"
	MemoryMapLock ID = "memory.map-lock"

	ruleFaults  Rule = "page faults"
	rulePageIn  Rule = "page-in"
	ruleReclaim Rule = "reclaim"
	ruleMapLock Rule = "map lock"
)

func memoryFaults() Cause {
	return Cause{ID: MemoryFaults, Nature: ofCode | doneMore,
		Claim: "page faults grew: memory is mapped, touched and returned again and again",
		Alone: "page faults are many: memory is mapped, touched and returned again and again",
		Example: "scratch memory is mapped anew for each tile of a picture: 2.3 times the CPU time, in " +
			"page faults below render_tile (faults-scratch-python)",
		Evidence: "page-fault frames, and which kind of fault they handle: the first touch of a page, " +
			"or the first write after a fork; mmap, munmap, madvise and brk calls; minor faults per run",
		Proof: "huge pages, allocator settings by environment",
		Flips: []Flip{
			{
				Way:  ByRestart,
				What: PartVariable,
				Names: []string{"MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "TCMALLOC", "JE_MALLOC",
					"GODEBUG"},
				Text: "start it with the other side's settings of the allocator",
			},
		},
		Remedy: "keep memory (allocator thresholds such as MALLOC_TRIM_THRESHOLD_, pools), or use huge " +
			"pages",
		Gain:       "memory is kept; see how much more of it the program now holds",
		MistakenAs: "code that simply uses more memory",
		Recognise: []recogniser{
			{ruleFaults, findFaults, []deference{
				noCPU, watched, child,
				{[]Rule{rulePageIn, ruleReclaim},
					"a fault whose page comes from the disk, or has to be freed first, is told by that"},
				{[]Rule{ruleCold, ruleCollector}, "the memory of a compiler or a collector is theirs"},
				{[]Rule{ruleClock, ruleTicker, ruleAlarm, ruleSync},
					"a fault on the way to something else belongs to that"},
			}},
		},
	}
}

func memoryPageIn() Cause {
	return Cause{ID: MemoryPageIn,
		Claim: "pages must be read from disk again",
		Alone: "what is read is not in memory, and has to come from the disk",
		Example: "a file that stayed in the page cache is read from disk in each pass: 1.8 times the " +
			"wall time below load_chunk (pagein-read-python)",
		Evidence: "major faults, block reads, filemap_fault waits; reads past the cache (O_DIRECT)",
		Proof:    "warm cache, memory limit",
		Flips: []Flip{{Way: BySetting, What: "cgroup.memory.max",
			Text: "lift the memory limit of its cgroup"}},
		Remedy:     "more memory, a smaller working set, or read ahead",
		Gain:       "the pages stay in memory: a boot, or a neighbour that needs memory, puts them out again",
		MistakenAs: "disk.slow",
		Settings:   []string{"target.cgroup.memory", "vm.swappiness", "block."},
		Recognise:  []recogniser{{rulePageIn, stalledFor(MemoryPageIn), []deference{watched, device}}},
	}
}

func memoryReclaim() Cause {
	return Cause{ID: MemoryReclaim,
		Claim: "the memory limit makes the kernel reclaim on the program's time",
		Example: "a service in a cgroup whose memory limit leaves next to no page cache: 1.3 to 2 " +
			"times the CPU time, below shrink_folio_list in its own reads (reclaim-sessions-python)",
		Evidence: "CPU time and waits below try_to_free_mem_cgroup_pages, reclaim_throttle or the " +
			"shrinking of lists, in page faults, reads and writes; the limit; minor faults",
		Proof: "raise the limit",
		Flips: []Flip{{Way: BySetting, What: "cgroup.memory.max", Exact: true,
			Text: "lift the memory limit of its cgroup"}},
		Remedy: "raise the limit or use less",
		Gain:   "the limit stays above what is used, under full load as well",
		MistakenAs: "memory.page-in, when what was reclaimed is read again; memory.faults, when no " +
			"limit is met; file.writeback",
		Settings:  []string{"target.cgroup.memory", "vm."},
		Recognise: []recogniser{{ruleReclaim, stalledFor(MemoryReclaim), []deference{watched, device}}},
	}
}

func memoryMapLock() Cause {
	return Cause{ID: MemoryMapLock, Nature: amongThreads,
		Claim: "threads wait for the lock of their process's memory map, which mapping, unmapping, forking " +
			"and many page faults take",
		Example: "a thread fills its index anew in memory that it maps, locks and unmaps: the work of " +
			"another one, which maps scratch memory, takes 3.6 times as long (maplock-index-c)",
		Evidence: "waits and spinning in mmap, munmap, mprotect, madvise, brk or a page fault, right where " +
			"they take mmap_lock; the holder",
		Proof: attributionOnly,
		Remedy: "map and unmap less: keep memory (allocator thresholds, pools, arenas), unmap in smaller " +
			"pieces, fork a smaller process (posix_spawn does not copy page tables), or do what holds the " +
			"lock for long in a process of its own",
		Gain: "no other thread maps, unmaps or locks much memory at once; readers of /proc/PID/smaps " +
			"hold the lock as well",
		MistakenAs: "lock.contended, which is in user space; memory.faults, where the faults themselves " +
			"take the time",
		Recognise: []recogniser{{ruleMapLock, stalledFor(MemoryMapLock), []deference{watched}}},
		Before: []deference{
			{[]Rule{ruleFaults}, "a fault that waits for the memory map has not begun its work"},
		},
	}
}
