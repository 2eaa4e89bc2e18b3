package cause

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// stall is one way to be held up inside the kernel, told by the kernel functions of the stack that
// waits (or spins). Names were read off stacks of Linux 6.18; older ones stand beside them.
type stall struct {
	cause   ID
	waits   func([]recording.Frame) string // the function that waits so, in place of the names below
	any     []string                       // one of these is on the stack
	with    []string                       // and one of these, where given
	without []string                       // and none of these
	ended   []string                       // or one of these is on the waker's stack instead of "any" on the sleeper's
	running bool                           // the CPU time spent in these functions belongs to it as well
}

// stalls are in order of precedence: a wait for writeback below a reclaim is the reclaim's.
var stalls = []stall{
	{cause: MemoryReclaim, running: true,
		any: []string{"try_to_free_mem_cgroup_pages", "try_to_free_pages", "reclaim_throttle", "shrink_folio_list",
			"shrink_lruvec", "shrink_node", "mem_cgroup_handle_over_high", "__mem_cgroup_handle_over_high",
			"direct_reclaim", "mem_cgroup_oom", "memcg_oom"}},
	{cause: MemoryMapLock, running: true, waits: code.AwaitsMapLock},
	{cause: FileDirtyThrottle, any: []string{"balance_dirty_pages"}},
	{cause: FileJournal, any: []string{"do_get_write_access", "wait_transaction_locked", "add_transaction_credits",
		"jbd2_log_wait_commit", "jbd2_log_wait_for_space", "jbd2_journal_lock_updates",
		"xlog_grant_head_wait", "xlog_wait_on_iclog", "wait_current_trans", "btrfs_commit_transaction"}},
	{cause: FileWriteback, any: []string{"rwsem_down_"},
		with: []string{"get_block", "map_blocks", "convert_unwritten"}, ended: []string{"rwsem_wake"}},
	{cause: FileInodeLock, running: true, any: []string{"rwsem_down_", "rwsem_optimistic_spin", "rwsem_spin_on_owner"},
		with: []string{"write_iter", "buffered_write", "xfs_ilock", "dio_write", "do_truncate", "vfs_fallocate",
			"open_last_lookups", "filename_create", "do_unlinkat", "do_renameat", "iterate_dir", "lookup_slow",
			"path_openat", "generic_file_llseek"},
		without: []string{"mmap_write_lock", "mmap_read_lock", "asm_exc_page_fault"},
		ended:   []string{"rwsem_wake"}},
	{cause: FileWriteback, any: []string{"folio_wait_writeback", "folio_wait_stable", "wait_on_page_writeback",
		"wait_for_stable_page"}},
	{cause: FileWriteback, any: []string{"__filemap_get_folio", "pagecache_get_page", "grab_cache_page", "__folio_lock"},
		with: []string{"write_begin", "write_iter", "page_mkwrite", "perform_write"}},
	{cause: MemoryPageIn, running: true, any: []string{"page_cache_ra_", "page_cache_sync_ra", "page_cache_async_ra",
		"do_page_cache_ra", "read_pages", "filemap_read_folio", "swap_read"}},
	// Who writes adds pages to the cache as well.
	{cause: MemoryPageIn, running: true, any: []string{"filemap_add_folio"},
		without: []string{"write_begin", "write_iter", "perform_write"}},
	// Requests are often handed to the device only when the reader goes to sleep.
	{cause: MemoryPageIn, running: true, any: []string{"filemap_fault", "do_swap_page", "filemap_get_pages"},
		with: []string{"blk_", "submit_bio", "bio_"}},
	// Reads past the cache go to the device each time; for writes see trait.sync.
	{cause: MemoryPageIn, running: true, any: directNames, with: []string{"read_iter", "_direct_read", "_dio_read"}},
	{cause: MemoryPageIn, any: []string{"filemap_fault", "do_swap_page", "swapin_", "swap_read", "__folio_lock_or_retry",
		"filemap_read", "filemap_get_pages", "filemap_update_page", "folio_wait_bit_common"},
		without: []string{"write_begin", "truncate", "invalidate"}},
}

// directNames are the kernel's functions for O_DIRECT, of iomap (ext4, xfs, btrfs) and of block
// devices.
var directNames = []string{"iomap_dio", "blkdev_direct_IO", "__blockdev_direct_IO"}

// matches reports whether the kernel part of a stack is this way of waiting.
func (w *stall) matches(path *compare.Path) bool {
	frames := path.Frames
	if w.waits != nil {
		return w.waits(frames) != ""
	}
	return !code.InKernel(frames, w.without...) && (len(w.with) == 0 || code.InKernel(frames, w.with...)) &&
		(code.InKernel(frames, w.any...) || code.InKernel(path.WakerStack, w.ended...))
}

// deepest names the innermost kernel function that tells the wait.
func (w *stall) deepest(path *compare.Path) string {
	if w.waits != nil {
		return w.waits(path.Frames)
	}
	for _, frame := range slices.Backward(path.Frames) {
		if frame.Kind == recording.KindKernel && containsAny(frame.Name, w.any) {
			return frame.Name
		}
	}
	if code.InKernel(path.WakerStack, w.ended...) && len(path.Frames) > 0 {
		return lastFrame(path.Frames).Name
	}
	return ""
}

// stallOn is the kind of stall that a path is on, nil for none.
func stallOn(path *compare.Path) *stall {
	for w := range stalls {
		one := &stalls[w]
		if (path.Kind == compare.Blocked || one.running && path.Kind == compare.Running) && one.matches(path) {
			return one
		}
	}
	return nil
}

// isAsked reports whether a path stalls because the program forced its data to disk: that is
// file.sync's. Memory is reclaimed for whoever needs some.
func (w *stall) isAsked(sync bool) bool { return sync && w.cause != MemoryReclaim }

// stalledOn is the kind of stall of each path, by the first way of waiting that its stack shows;
// nil for none.
func (s *scene) stalledOn() []*stall {
	kind := make([]*stall, len(s.paths))
	for i := range s.paths {
		if one := stallOn(&s.paths[i]); one != nil && !one.isAsked(s.traits[i].sync) {
			kind[i] = one
		}
	}
	s.leaveHoles(kind)
	s.markJournalled(kind)
	return kind
}

// stalledFor claims waits inside the kernel of one kind.
func stalledFor(cause ID) func(*scene) []finding {
	return func(s *scene) []finding {
		return []finding{{cause: cause, tell: s.describeStall,
			match: func(i int) bool { return s.stalls[i] != nil && s.stalls[i].cause == cause }}}
	}
}

// describeStall says where a stall is, in which kernel function, who ended it, and what else speaks
// for it.
func (s *scene) describeStall(c *claim) {
	functions := s.tally(c.members, func(i int) string { return s.stalls[i].deepest(&s.paths[i]) })
	wakers := s.tally(c.members, func(i int) string {
		if s.paths[i].Kind == compare.Blocked {
			return wakerOf(&s.paths[i])
		}
		return ""
	})
	s.locateWait(c)
	if c.cause == journalled.cause {
		for _, setting := range s.changed(journalSettings...) {
			c.at(inSetting(setting))
		}
	}
	if c.cause == MemoryMapLock || c.cause == FileInodeLock {
		s.holders(c)
	}
	for _, name := range most(functions, 2) {
		c.at(Place{Kind: InKernel, Name: name})
		c.add("offcpu", "held up in "+name, sides{b: functions[name]}, "s/run")
	}
	for _, name := range most(wakers, 2) {
		c.add("offcpu", "ended by "+name, sides{b: wakers[name]}, "s/run")
	}
	s.hopEvidence(c)
	s.stallEvidence(c)
}

// hopEvidence says what stood behind those who ended the waits: the second hop, where it was
// recorded.
func (s *scene) hopEvidence(c *claim) {
	ended := map[[2]string]bool{}
	for _, i := range c.members {
		if path := &s.paths[i]; path.Kind == compare.Blocked && path.WakerComm != "" {
			ended[[2]string{path.Process, path.WakerComm}] = true
		}
	}
	waited, grown := map[string]sides{}, map[string]float64{}
	for i := range s.hops {
		hop := &s.hops[i]
		if !ended[[2]string{hop.Process, hop.WakerComm}] || len(hop.Frames) == 0 {
			continue
		}
		text := "behind it " + hop.WakerComm + " waited in " + lastFrame(hop.Frames).Name
		if hop.HopComm != "" {
			text += " for " + hop.HopComm
		}
		waited[text] = waited[text].plus(means(hop.A, hop.B))
		grown[text] = waited[text].more()
	}
	for _, text := range most(grown, 2) {
		c.add("offcpu", text, waited[text], "s/run")
	}
}

// wakerOf says in words who ended a wait: with its innermost own function where that is known.
func wakerOf(path *compare.Path) string {
	name := path.WakerKind
	if path.WakerComm != "" {
		name = path.WakerComm
	}
	for i := len(path.WakerStack) - 1; i >= 0; i-- {
		frame := path.WakerStack[i].Name
		if !containsAny(frame, []string{"wake", "autoremove", "complete", "default_wake"}) {
			return name + " in " + frame
		}
	}
	return name
}

// stallEvidence adds the settings that differ and the counts that go with a stall.
func (s *scene) stallEvidence(c *claim) {
	known, _ := Lookup(c.cause)
	settings := s.changed(known.Settings...)
	c.tellSettings(settings[:min(len(settings), 3)])
	switch c.cause {
	case MemoryPageIn:
		s.addCount(c, "faults.major", "faults that waited for a disk", "faults/run")
		s.addCount(c, "metric.major_faults", "major page faults", "faults/run")
	case MemoryReclaim:
		s.addCount(c, "faults.minor", "page faults", "faults/run")
	}
	s.addLatency(c, "time of one block request")
}

// addCount adds a count of the whole tree as evidence where there is one.
func (s *scene) addCount(c *claim, name, text, unit string) {
	c.add("counts", text, s.count(name, ""), unit)
}

var (
	// journalNames are functions of file systems' journals, which run in every call that changes a
	// file system.
	journalNames = []string{"jbd2_", "ext4_journal", "ext4_handle_dirty", "do_get_write_access", "start_this_handle",
		"xlog_", "xfs_trans_"}
	// fileSystems begin the names of functions of file systems that have a journal.
	fileSystems = []string{"jbd2_", "ext4_", "xfs_"}
	// journalSettings are facts about the journal that files lie under.
	journalSettings = []string{"target.mount.files.journal", "target.mount.cwd.journal"}
	// journalled is the CPU time of calls that the journal made dearer.
	journalled = stall{cause: FileJournal, any: journalNames}
)

// markJournalled takes for the journal's the CPU time of system calls on files that became dearer,
// and not more often, for the journal: most of what they grew by is in its functions, or a good
// part of it where the journal's settings differ as well. What goes through the journal as data is
// given its place on the disk at once (data=journal rules delayed allocation out: fs/ext4/super.c),
// which is outside of the journal's own functions. Without a baseline nothing is dear.
func (s *scene) markJournalled(kind []*stall) {
	if s.oneSided {
		return
	}
	all, journal := map[string]float64{}, map[string]float64{}
	onFiles := func(i int) bool {
		return s.paths[i].Kind == compare.Running && kind[i] == nil && s.traits[i].call != "" && !s.traits[i].sync &&
			code.InKernel(s.paths[i].Frames, fileSystems...)
	}
	for i := range s.paths {
		if onFiles(i) {
			all[s.traits[i].call] += s.grown(i)
			if code.InKernel(s.paths[i].Frames, journalNames...) {
				journal[s.traits[i].call] += s.grown(i)
			}
		}
	}
	least := majority
	if len(s.changed(journalSettings...)) > 0 {
		least = leastShare
	}
	for i := range s.paths {
		if !onFiles(i) {
			continue
		}
		call := s.traits[i].call
		if all[call] > 0 && journal[call] >= least*all[call] && !s.callCount(call).grew(timesCalls, 1) {
			kind[i] = &journalled
		}
	}
}
