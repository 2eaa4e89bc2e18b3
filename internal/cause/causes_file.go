package cause

// Causes of file systems, and what recognises them.
const (
	FileJournal       ID = "file.journal"
	FileWriteback     ID = "file.writeback"
	FileDirtyThrottle ID = "file.dirty-throttle"
	FileInodeLock     ID = "file.inode-lock"
	FileSync          ID = "file.sync"

	ruleSync      Rule = "sync"
	ruleInode     Rule = "inode lock"
	ruleWriteback Rule = "writeback"
	ruleJournal   Rule = "journal"
	ruleDirty     Rule = "dirty throttle"
)

// fileMatrix proves or ends the proof of causes that hang on the file system.
const fileMatrix = "file-system matrix: journal modes, no journal, other file systems"

func fileJournal() Cause {
	return Cause{ID: FileJournal,
		Claim: "a file operation waits for the file system's journal",
		Example: "a mail spool lies on a file system with a journal of 4 MB, which is full all the " +
			"time: 2.1 times the wall time, blocked in the journal below unlink, with no fsync asked for " +
			"(journal-spool-python)",
		Evidence: "blocked in do_get_write_access, wait_transaction_locked, add_transaction_credits or " +
			"jbd2_log_wait_commit when not asked for by fsync",
		Proof: fileMatrix,
		Remedy: "write the log asynchronously; another journal mode or file system; separate the " +
			"journal's device",
		Gain: "file system, its options and what else is written to it stay as they are",
		MistakenAs: "file.writeback and file.inode-lock: the stack tells; the waker (ksoftirqd) is not " +
			"the blocker",
		Settings:  []string{"mount.", "target.mount.", "vm.dirty"},
		Recognise: []recogniser{{ruleJournal, stalledFor(FileJournal), []deference{watched, device}}},
	}
}

func fileWriteback() Cause {
	return Cause{ID: FileWriteback,
		Claim: "a write waits for a page that is being written back, or whose lock the flusher holds",
		Example: "counters are written in place on a disk that asks for pages not to change on their " +
			"way to it: 2.3 times the wall time, waits for writeback below pwrite64 in store_counter " +
			"(writeback-counters-c)",
		Evidence: "folio_wait_writeback or __filemap_get_folio under a write, woken by I/O completion " +
			"or a kworker",
		Proof: "vm.dirty_*, stable pages",
		Remedy: "write whole new pages, flush earlier in smaller amounts, avoid devices with stable " +
			"pages",
		Gain:       "no more is written than in these runs: a longer run or a neighbour may meet it again",
		MistakenAs: "memory.reclaim, when shrink_folio_list stands above it",
		Settings:   []string{"mount.", "target.mount.", "vm.dirty", "block."},
		Recognise:  []recogniser{{ruleWriteback, stalledFor(FileWriteback), []deference{watched, device}}},
	}
}

func fileDirtyThrottle() Cause {
	return Cause{ID: FileDirtyThrottle,
		Claim: "the kernel makes the writer sleep because too much is dirty",
		Example: "of the disk that an export writes to only 2 MB may be dirty: 4.6 times the wall " +
			"time, asleep in balance_dirty_pages below write (dirty-export-node)",
		Evidence: "waits in balance_dirty_pages",
		Proof:    "vm.dirty_*, limits of the device",
		Remedy:   "raise vm.dirty_background_bytes' distance to vm.dirty_bytes, or write less at once",
		Gain: "no more is written than in these runs: a longer run or a neighbour may meet the limit " +
			"again",
		MistakenAs: "sleep.deliberate: a timer ends both, the kernel stack tells",
		Settings:   []string{"vm.dirty", "mount.", "target.mount.", "bdi."},
		Recognise:  []recogniser{{ruleDirty, stalledFor(FileDirtyThrottle), []deference{watched, device}}},
	}
}

func fileInodeLock() Cause {
	return Cause{ID: FileInodeLock,
		Claim: "writers of one file queue on its inode lock",
		Example: "index entries go into a file that another thread writes in large blocks: 2.6 times " +
			"the wall time, queued on the inode's lock below pwrite64 in note_record (inode-writers-c)",
		Evidence:   "rwsem_down_write_slowpath under a write; the holder",
		Proof:      "separate files",
		Remedy:     "one file per writer, or one writer that batches",
		Gain:       "each writer keeps to its own file",
		MistakenAs: "lock.contended, which is in user space",
		Settings:   []string{"mount.", "target.mount."},
		Recognise:  []recogniser{{ruleInode, stalledFor(FileInodeLock), []deference{watched, device}}},
	}
}

func fileSync() Cause {
	return Cause{ID: FileSync, Nature: ofCode,
		Claim: "the program forces data to disk (fsync, O_SYNC, msync) more often or more slowly than " +
			"before",
		Alone: "the program forces data to disk (fsync, O_SYNC, msync) and waits for it",
		Example: "a journal is forced to disk after 80 records instead of 640: 1.4 times the wall " +
			"time, in fdatasync below make_durable (sync-each-c); redis with appendfsync always: 2.1 " +
			"times (server-redissync-c)",
		Evidence:   "sync calls per run and the time in them",
		Proof:      "replace by batches in the experiment's command; " + fileMatrix,
		Remedy:     "sync once per batch; group commit; check whether the data must survive a power loss",
		Gain:       "what is no longer forced to disk may be lost with the power",
		MistakenAs: "disk.slow: then the number of syncs is the same",
		Recognise: []recogniser{
			{ruleSync, findSync, []deference{
				noCPU, watched, child, device,
				{[]Rule{ruleLock}, "who waits for a lock has not begun to write"},
			}},
		},
	}
}
