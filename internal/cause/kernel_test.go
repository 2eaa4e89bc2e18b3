package cause

import (
	"maps"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

const (
	inWrite = "_start;main;serve;log;libc.so.6!write;k:do_syscall_64;__x64_sys_write;ksys_write;vfs_write;" +
		"ext4_file_write_iter;ext4_buffered_write_iter;"
	inWriteWorker = "clone3;start_thread;append;libc.so.6!write;k:__x64_sys_write;vfs_write;ext4_buffered_write_iter;"
	broken        = "k:asm_exc_page_fault;exc_page_fault;handle_mm_fault;do_anonymous_page;clear_page_erms"
	inFault       = "_start;main;serve;scan;k:asm_exc_page_fault;exc_page_fault;handle_mm_fault;filemap_fault;"
	inRead        = "_start;main;serve;load;libc.so.6!pread64;k:do_syscall_64;__x64_sys_pread64;vfs_read;"
	inReceive     = "_start;main;serve;ask;libc.so.6!recv;k:__x64_sys_recvfrom;inet_recvmsg;tcp_recvmsg;sk_wait_data"
	delack        = "k:asm_sysvec_apic_timer_interrupt;run_timer_softirq;call_timer_fn;tcp_delack_timer;tcp_send_ack;" +
		"tcp_v4_rcv;sock_def_readable"
	lookingUp = "_start;main;serve;resolve;libc.so.6!getaddrinfo;libc.so.6!__res_vinit;k:do_syscall_64;" +
		"__x64_sys_newfstatat;vfs_statx"
	goHandler = "g:runtime.goexit;net/http.(*conn).serve;main.main.func1;encoding/json.Marshal"
	goDial    = "g:runtime.goexit;net/http.(*Transport).startDialConnForLocked.func1;net/http.(*Transport).dialConnFor;" +
		"net/http.(*Transport).dialConn;net/http.(*Transport).dial;net.(*Dialer).DialContext;net.(*sysDialer).dialTCP;"
	goConnect = "net.(*netFD).connect;syscall.Connect;syscall.connect;k:do_syscall_64;__x64_sys_connect;tcp_v4_connect"
	goSocket  = "net.sysSocket;syscall.Socket;syscall.socket;k:do_syscall_64;__x64_sys_socket;sock_alloc"
	goRead    = "g:runtime.goexit;net/http.(*persistConn).readLoop;net/http.(*persistConn).close;net.(*conn).Close;"
	goClose   = "internal/poll.(*FD).destroy;syscall.Close;syscall.Syscall;k:do_syscall_64;__x64_sys_close;tcp_close"
	arrival   = "k:handle_softirqs;net_rx_action;tcp_v4_rcv;tcp_data_queue;sock_def_readable;ep_poll_callback"
)

// held is a plan that works for 200 ms and waits as told.
func held(waits ...wait) plan { return plan{cpu: map[string]float64{work: 200}, waits: waits} }

func fileSituations() []situation {
	free := held()
	const copying, starting = inWrite + "generic_perform_write;copy_folio_from_iter_atomic", inWrite +
		"ext4_dirty_inode;__ext4_journal_start_sb;jbd2__journal_start;start_this_handle"
	through := map[string]float64{starting: 30, inWrite + "ext4_write_begin;ext4_map_blocks;ext4_mb_new_blocks": 70,
		inWrite + "ext4_journalled_write_end;jbd2_journal_dirty_metadata": 20}
	writes := func(calls int64) map[string][2]int64 { return map[string][2]int64{"write": {calls, calls * 8192}} }
	ordered := map[string]string{"target.mount.files.journal_data": "ordered"}
	journal := map[string]string{"target.mount.files.journal_data": "journal"}
	worker := map[string]float64{work: 200, "w|" + inWriteWorker + "generic_perform_write": 200}
	return []situation{
		{name: "the journal holds a write up", metric: "wall", a: free,
			b: held(wait{count: 10, ms: 20, call: "write", waker: recording.WakerKernel, stack: inWrite +
				"file_update_time_flags;ext4_reserve_inode_write;do_get_write_access;out_of_line_wait_on_bit"}),
			cause: "file.journal", place: "log;write", low: 0.9, high: 1, level: Explains},
		{name: "fsync that waits for the journal was asked for", metric: "wall", a: free,
			b: held(wait{count: 10, ms: 20, call: "fsync", waker: recording.WakerKernel,
				stack: "_start;main;serve;commit;libc.so.6!fsync;k:__x64_sys_fsync;ext4_sync_file;jbd2_log_wait_commit"}),
			cause: "file.sync", place: "commit;fsync", low: 0.9, high: 1, level: Explains},
		{name: "data that goes through the journal, by a setting", metric: "cpu",
			a:     plan{cpu: map[string]float64{copying: 100, starting: 4}, calls: writes(4000), facts: ordered},
			b:     plan{cpu: merged(through, map[string]float64{copying: 100}), calls: writes(4000), facts: journal},
			cause: "file.journal", place: "(?m)^target.mount.files.journal_data=journal$", low: 0.9, high: 1, level: Explains},
		{name: "the same, the settings not known", metric: "cpu",
			a:     plan{cpu: map[string]float64{copying: 100, starting: 4}, calls: writes(4000)},
			b:     plan{cpu: merged(through, map[string]float64{copying: 100}), calls: writes(4000)},
			cause: "code.grew", place: "log", low: 0.9, high: 1, level: Explains},
		{name: "a journal that takes most of what calls grew by", metric: "cpu",
			a: plan{cpu: map[string]float64{copying: 100, starting: 4}, calls: writes(4000)},
			b: plan{cpu: map[string]float64{copying: 130, starting: 90}, calls: writes(4000)}, cause: "file.journal",
			place: "log", low: 0.9, high: 1, level: Explains},
		{name: "more calls, which all go through the journal", metric: "cpu",
			a: plan{cpu: map[string]float64{copying: 20, starting: 30}, calls: writes(1000)},
			b: plan{cpu: map[string]float64{copying: 80, starting: 120}, calls: writes(4000)}, cause: "syscall.chatty",
			place: "log;write", low: 0.9, high: 1, level: Explains},
		{name: "a stable page", metric: "wall", a: free,
			b: held(wait{count: 10, ms: 20, call: "write", waker: recording.WakerInterrupt, stack: inWrite +
				"ext4_da_write_begin;__filemap_get_folio;folio_wait_writeback;folio_wait_bit_common;io_schedule",
				ended: "k:blk_mq_end_request;ext4_finish_bio;folio_end_writeback"}),
			cause: "file.writeback", place: "folio_wait_writeback", low: 0.9, high: 1, level: Explains},
		{name: "writeback below a reclaim is the reclaim's", metric: "wall", a: free,
			b: held(wait{count: 10, ms: 20, call: "write", waker: recording.WakerInterrupt, stack: inWrite +
				"__filemap_get_folio;try_charge_memcg;try_to_free_mem_cgroup_pages;shrink_folio_list;folio_wait_writeback"}),
			cause: "memory.reclaim", place: "log", low: 0.9, high: 1, level: Explains},
		{name: "too much is dirty", metric: "wall", a: free,
			b: held(wait{count: 10, ms: 20, call: "write", waker: recording.WakerTimer, stack: inWrite +
				"generic_perform_write;balance_dirty_pages;io_schedule_timeout"}),
			cause: "file.dirty-throttle", place: "balance_dirty_pages", low: 0.9, high: 1, level: Explains},
		{name: "a sleep that a timer ends is no throttle", metric: "wall", a: free,
			b: held(wait{count: 10, ms: 20, call: "nanosleep", waker: recording.WakerTimer,
				stack: "_start;main;pause;" + nap}),
			cause: "sleep.deliberate", place: "pause", low: 0.9, high: 1, level: Explains},
		{name: "two writers of one file", metric: "wall", a: plan{cpu: worker},
			b: plan{cpu: worker, waits: []wait{{count: 20, ms: 10, call: "write", waker: recording.WakerThread, wakerTi: 101,
				stack: inWrite + "down_write;rwsem_down_write_slowpath;schedule"}}},
			cause: "file.inode-lock", place: "log;write", low: 0.9, high: 1, level: Explains},
		{name: "two writers of one file, the lock's own functions left out of the sleeper's stack", metric: "wall",
			a: plan{cpu: worker},
			b: plan{cpu: worker, waits: []wait{{count: 20, ms: 10, call: "write", waker: recording.WakerThread, wakerTi: 101,
				stack: "_start;main;serve;log;libc.so.6!write;k:__x64_sys_write;vfs_write;shmem_file_write_iter",
				ended: "k:__x64_sys_write;vfs_write;shmem_file_write_iter;up_write;rwsem_wake;wake_up_q"}}},
			cause: "file.inode-lock", place: "log;write", low: 0.9, high: 1, level: Explains},
		{name: "the memory map's lock is no inode's", metric: "wall",
			a: plan{cpu: map[string]float64{work: 200}},
			b: plan{cpu: map[string]float64{work: 200}, calls: map[string][2]int64{"munmap": {4000, 0}},
				waits: []wait{{count: 20, ms: 10, call: "munmap", waker: recording.WakerInterrupt, stack: "_start;main;release;" +
					"libc.so.6!munmap;k:__x64_sys_munmap;mmap_write_lock;rwsem_down_write_slowpath"}}},
			cause: "memory.map-lock", place: "release", low: 0.9, high: 1, level: Explains},
	}
}

func diskSituations() []situation {
	const reading = inRead + "filemap_read;filemap_get_pages;folio_wait_bit_common;io_schedule"
	disk := func(count, totalMs int64) []recording.Block {
		return []recording.Block{{Device: "vdb", Operation: "read", Count: count, TotalNs: totalMs * ms}}
	}
	busy := func(own, count, totalMs int64) []recording.Block { // reads of its own beside everybody's
		return append(disk(count, totalMs), recording.Block{Device: "vdb", Operation: "read", Count: own,
			TotalNs: 3 * own * ms, Pid: rootPid, Target: true})
	}
	reads := func(each float64) []wait {
		return []wait{{count: 40, ms: each, call: "pread64", waker: recording.WakerInterrupt, stack: reading}}
	}
	side := func(each float64, block []recording.Block, limit string) plan {
		p := plan{cpu: map[string]float64{work: 200}, waits: reads(each), block: block}
		if limit != "" {
			p.facts = map[string]string{"target.cgroup.io.read_bps": limit}
		}
		return p
	}
	held := func(p plan, pieces, sleptMs int64) plan {
		p.block = append(p.block, recording.Block{Device: "vdb", Operation: "read", Throttled: pieces,
			ThrottledNs: sleptMs * ms, ThrottledBy: "batch", Pid: rootPid, Target: true})
		return p
	}
	limited := side(0.5, disk(40, 16), "8:16 1048576")
	return []situation{
		{name: "a limit of a parent cgroup, which is no fact, held the reads back", metric: "wall",
			a: side(0.5, disk(40, 16), ""), b: held(side(6, disk(40, 18), ""), 38, 210),
			cause: "disk.throttled", place: "cgroup batch", low: 0.9, high: 1, level: Explains},
		{name: "a limit that held back next to nothing", metric: "wall", a: side(0.5, disk(40, 16), ""),
			b: held(side(6, disk(40, 18), ""), 2, 9), cause: "memory.page-in", place: "load;pread64", low: 0.9, high: 1,
			level: Explains},
		{name: "the same limit on both sides, one of which reads more", metric: "wall", a: limited,
			b: held(plan{cpu: limited.cpu, facts: limited.facts, block: disk(400, 160), waits: []wait{{count: 400, ms: 0.6,
				call: "pread64", waker: recording.WakerInterrupt, stack: reading}}}, 380, 200),
			cause: "memory.page-in", place: "load;pread64", low: 0.9, high: 1, level: Explains},
		{name: "the disk became slow", metric: "wall", a: side(0.5, disk(40, 16), ""), b: side(6, disk(40, 230), ""),
			cause: "disk.slow", place: "device vdb", low: 0.9, high: 1, level: Explains},
		{name: "more reads of the same disk", metric: "wall",
			a: plan{cpu: map[string]float64{work: 200}, block: disk(4, 2)},
			b: side(6, disk(40, 20), ""), cause: "memory.page-in", place: "load;pread64", low: 0.9, high: 1, level: Explains},
		{name: "reads that only one side makes, on a disk that is everybody's", metric: "wall",
			a: plan{cpu: map[string]float64{work: 200}, block: busy(1, 1400, 670)}, b: side(6, busy(110, 1000, 1240), ""),
			cause: "memory.page-in", place: "load;pread64", low: 0.9, high: 1, level: Explains},
		{name: "a limit holds the reads back", metric: "wall", a: side(0.5, disk(40, 16), ""),
			b: side(6, disk(40, 18), "8:16 1048576"), cause: "disk.throttled", place: "io.read_bps", low: 0.9, high: 1,
			level: Explains},
		{name: "a limit that did not bite", metric: "wall", a: side(0.5, disk(40, 16), ""),
			b: side(6, disk(40, 230), "8:16 104857600"), cause: "disk.slow", place: "device vdb", low: 0.9, high: 1,
			level: Explains},
	}
}

func memorySituations() []situation {
	touching := map[string]float64{work: 200}
	const readIn = "_start;main;serve;scan;libc.so.6!pread;k:__x64_sys_pread64;filemap_read;page_cache_ra_unbounded;" +
		"filemap_add_folio"
	const freeing = ";charge_memcg;try_charge_memcg;try_to_free_mem_cgroup_pages;shrink_lruvec"
	const scan, anonymous = "_start;main;serve;scan", ";" + broken
	paged := func(own float64) plan { // 60 ms for page-ins on the CPU, 20 for the rest of the faults, 40 on the disk
		return plan{cpu: map[string]float64{scan: own, inFault + "filemap_read_folio;submit_bio": 60,
			scan + ";k:asm_exc_page_fault;exc_page_fault;handle_mm_fault;filemap_map_pages": 20},
			waits: []wait{{count: 40, ms: 1, waker: recording.WakerInterrupt,
				stack: inFault + "folio_wait_bit_common;io_schedule"}, {count: 1, ms: 2, call: "execve",
				waker: recording.WakerInterrupt, stack: "k:__x64_sys_execve;load_elf_binary;filemap_read;folio_wait_bit_common"}}}
	}
	scans := plan{cpu: map[string]float64{scan: 200}}
	roomy := map[string]string{"target.cgroup.memory.limit_bytes": "max"}
	tight := map[string]string{"target.cgroup.memory.limit_bytes": "25165824"}
	return []situation{
		{name: "pages come from the disk again", metric: "wall", a: plan{cpu: touching},
			b: held(wait{count: 40, ms: 4, waker: recording.WakerInterrupt,
				stack: inFault + "folio_wait_bit_common;io_schedule"}),
			cause: "memory.page-in", place: "scan", low: 0.9, high: 1, level: Explains},
		{name: "the code behind page-ins is slower as well", metric: "wall", a: scans, b: paged(270),
			cause: "memory.page-in", place: "(?m)scan$", low: 0.95, high: 1, level: Explains},
		{name: "the same of the CPU time", metric: "cpu", a: scans, b: paged(270),
			cause: "memory.page-in", place: "scan", low: 0.95, high: 1, level: Explains},
		{name: "code that does more work, and pages come in as well", metric: "wall", a: scans, b: paged(400),
			cause: "code.grew", place: "scan", low: 0.55, high: 0.7, level: Explains},
		{name: "stacks that broke before they came to user space say whose they are", metric: "cpu",
			a:     plan{cpu: merged(scans.cpu, map[string]float64{broken: 30})},
			b:     plan{cpu: merged(scans.cpu, map[string]float64{broken: 580})},
			cause: "code.grew", place: "(?m)^process prog$", low: 0.9, high: 1, level: Explains},
		{name: "page-ins of one function, and another one grew", metric: "wall",
			a:     plan{cpu: map[string]float64{scan: 200, work: 100}},
			b:     plan{cpu: merged(paged(200).cpu, map[string]float64{work: 280}), waits: paged(0).waits},
			cause: "code.grew", place: "parse", low: 0.5, high: 0.7, level: Explains},
		{name: "reclaim on the program's time", metric: "cpu", a: plan{cpu: touching},
			b: plan{cpu: merged(touching, map[string]float64{"_start;main;serve;fill;k:asm_exc_page_fault;charge_memcg;" +
				"try_charge_memcg;try_to_free_mem_cgroup_pages;shrink_lruvec": 90})},
			cause: "memory.reclaim", place: "fill", low: 0.9, high: 1, level: Explains},
		{name: "charging memory without reclaim is the code's", metric: "cpu", a: plan{cpu: touching},
			b: plan{cpu: merged(touching, map[string]float64{"_start;main;serve;fill;k:asm_exc_page_fault;charge_memcg;" +
				"try_charge_memcg": 90})},
			cause: "code.added", place: "fill", low: 0.9, high: 1, level: Explains},
		{name: "as many pages are read in, and others are reclaimed for them", metric: "cpu",
			a:     plan{cpu: merged(touching, map[string]float64{readIn: 60}), facts: roomy},
			b:     plan{cpu: merged(touching, map[string]float64{readIn: 62, readIn + freeing: 90}), facts: tight},
			cause: "memory.reclaim", place: "target.cgroup.memory.limit_bytes=25165824", low: 0.9, high: 1, level: Explains},
		{name: "what was reclaimed is read from the disk again, which takes longer", metric: "wall",
			a: plan{cpu: merged(touching, map[string]float64{readIn: 5}), facts: roomy},
			b: plan{cpu: merged(touching, map[string]float64{readIn: 20, readIn + freeing: 20}), facts: tight,
				waits: []wait{{count: 40, ms: 4, waker: recording.WakerInterrupt,
					stack: inFault + "folio_wait_bit_common;io_schedule"}}},
			cause: "memory.page-in", place: "scan", low: 0.7, high: 0.95, level: Explains},
		{name: "memory is returned and taken again under a limit that is not met", metric: "cpu",
			a: plan{cpu: touching, facts: tight, calls: map[string][2]int64{"munmap": {10, 0}}},
			b: plan{cpu: merged(touching, map[string]float64{"_start;main;serve;fill;k:asm_exc_page_fault;charge_memcg;" +
				"try_charge_memcg": 90}), facts: tight, calls: map[string][2]int64{"munmap": {3000, 0}}},
			cause: "memory.faults", place: "fill", low: 0.9, high: 1, level: Explains},
	}
}

// faultSituations are of the first touch of pages.
func faultSituations() []situation {
	const scan = "_start;main;serve;scan"
	scans := plan{cpu: map[string]float64{scan: 200}}
	touched := func(ms, faults float64, unmaps int64, heldMB float64) plan {
		return plan{cpu: merged(scans.cpu, map[string]float64{scan + ";" + broken: ms}), faults: faults, memoryMB: heldMB,
			calls: map[string][2]int64{"munmap": {unmaps, 0}}}
	}
	return []situation{
		{name: "the same memory without huge pages", metric: "cpu",
			a: plan{cpu: merged(scans.cpu, map[string]float64{scan + ";" + broken: 60}), faults: 300,
				facts: map[string]string{"target.thp": "1"}},
			b: plan{cpu: merged(scans.cpu, map[string]float64{scan + ";" + broken: 260}), faults: 115000,
				facts: map[string]string{"target.thp": "0"}},
			cause: "memory.faults", place: "(?m)^target.thp=0$", low: 0.9, high: 1, level: Explains},
		{name: "more memory with huge pages as before is the code's", metric: "cpu",
			a:     plan{cpu: merged(scans.cpu, map[string]float64{scan + ";" + broken: 60}), faults: 300},
			b:     plan{cpu: merged(scans.cpu, map[string]float64{scan + ";" + broken: 260}), faults: 115000},
			cause: "code.grew", place: "scan", low: 0.9, high: 1, level: Explains},
		{name: "much memory returned and taken again by few calls", metric: "cpu",
			a:     touched(60, 300, 20, 60),
			b:     touched(260, 115000, 60, 60),
			cause: "memory.faults", place: "scan", low: 0.9, high: 1, level: Explains},
		{name: "more memory, which is held", metric: "cpu",
			a:     touched(60, 300, 20, 60),
			b:     touched(260, 115000, 60, 400),
			cause: "code.grew", place: "scan", low: 0.9, high: 1, level: Explains},
	}
}

func networkSituations() []situation {
	free := held()
	answer := func(length float64, ended string) plan {
		return held(wait{count: 10, ms: length, call: "recvfrom", waker: recording.WakerInterrupt, stack: inReceive,
			ended: ended})
	}
	connecting := "_start;main;serve;open_peer;libc.so.6!connect;k:__x64_sys_connect;tcp_v4_connect"
	loop := map[string]float64{"n:uv_run;s:ask@/srv/shop.js": 200}
	loopConnect := "n:uv_run;s:ask@/srv/shop.js;connect@node:net"
	loopAccept := "n:uv_run;uv__server_io;s:onconnection@node:net;greet@/srv/shop.js"
	backlog := "k:handle_softirqs;net_rx_action;process_backlog;tcp_v4_rcv;tcp_data_queue;sock_def_readable"
	lost := answer(210, "k:run_timer_softirq;tcp_write_timer;tcp_retransmit_timer;tcp_v4_rcv;sock_def_readable")
	lost.network = []recording.Network{{Event: recording.NetRetransmit, Peer: "10.0.0.7:443", Target: true, Count: 10}}
	return append(loopSituations(), []situation{
		{name: "delayed acknowledgements of a peer on this host", metric: "wall", a: free, b: answer(41, delack),
			cause: "net.delayed", place: "ask;recvfrom", low: 0.9, high: 1, level: Explains},
		{name: "delayed acknowledgements of a remote peer", metric: "wall", a: free, b: answer(41, ""),
			cause: "net.delayed", place: "ask;recvfrom", low: 0.9, high: 1, level: Explains},
		{name: "delayed acknowledgements in an event loop", metric: "wall", a: free,
			b: held(wait{count: 10, ms: 42, call: "epoll_pwait", waker: recording.WakerInterrupt, ended: arrival,
				stack: "_start;main;serve;loop;libc.so.6!epoll_pwait;k:__x64_sys_epoll_pwait;do_epoll_wait"}),
			cause: "net.delayed", place: "loop;epoll_pwait", low: 0.9, high: 1, level: Explains},
		{name: "an event loop that something else than a segment wakes after 42 ms", metric: "wall", a: free,
			b: held(wait{count: 10, ms: 42, call: "epoll_pwait", waker: recording.WakerInterrupt, ended: "k:eventfd_write",
				stack: "_start;main;serve;loop;libc.so.6!epoll_pwait;k:__x64_sys_epoll_pwait;do_epoll_wait"}),
			cause: "code.added", place: "loop", low: 0.9, high: 1, level: Explains},
		{name: "an answer that takes 80 ms is no delayed acknowledgement", metric: "wall", a: free, b: answer(80, ""),
			cause: "downstream.slow", place: "ask", low: 0.9, high: 1, level: Explains},
		{name: "answers that stay corked", metric: "wall", a: free, b: answer(207, backlog),
			cause: "net.delayed", place: "ask;recvfrom", low: 0.9, high: 1, level: Explains},
		{name: "answers of a remote peer that takes as long", metric: "wall", a: free, b: answer(207, arrival),
			cause: "downstream.slow", place: "ask", low: 0.9, high: 1, level: Explains},
		{name: "answers that stay corked no longer than this", metric: "wall", a: free, b: answer(120, backlog),
			cause: "downstream.slow", place: "ask", low: 0.9, high: 1, level: Explains},
		{name: "lost segments", metric: "wall", a: free, b: lost,
			cause: "net.loss", place: "peer 10.0.0.7:443", low: 0.9, high: 1, level: Explains},
		{name: "a connection for each request", metric: "cpu",
			a:     plan{cpu: map[string]float64{work: 200, connecting: 1}, calls: map[string][2]int64{"connect": {1, 0}}},
			b:     plan{cpu: map[string]float64{work: 200, connecting: 90}, calls: map[string][2]int64{"connect": {900, 0}}},
			cause: "net.reconnect", place: "open_peer;connect", low: 0.9, high: 1, level: Explains},
		{name: "a connection for each request of an event loop", metric: "cpu",
			a: plan{cpu: merged(loop, map[string]float64{loopConnect: 1}), calls: map[string][2]int64{"connect": {1, 0}}},
			b: plan{cpu: merged(loop, map[string]float64{loopConnect: 60, "n:uv_run;uv__server_io;node::OnConnection": 40}),
				calls: map[string][2]int64{"connect": {900, 0}}},
			cause: "net.reconnect", place: "ask", low: 0.9, high: 1, level: Explains},
		{name: "what the program does with each new connection is its own", metric: "cpu",
			a: plan{cpu: merged(loop, map[string]float64{loopAccept: 10}), calls: map[string][2]int64{"connect": {1, 0}}},
			b: plan{cpu: merged(loop, map[string]float64{loopAccept: 110}),
				calls: map[string][2]int64{"connect": {900, 0}}},
			cause: "code.grew", place: "greet", low: 0.9, high: 1, level: Explains},
		{name: "names looked up for each request, which opens hardly a connection", metric: "cpu",
			a: plan{cpu: map[string]float64{lookingUp: 1, work: 200}, calls: map[string][2]int64{"connect": {2, 0}}},
			b: plan{cpu: map[string]float64{lookingUp: 70, work: 200}, calls: map[string][2]int64{"connect": {41, 0},
				"newfstatat": {8000, 0}}},
			cause: "syscall.chatty", place: "resolve", low: 0.9, high: 1, level: Explains},
		{name: "a run time that opens connections on a stack of its own", metric: "cpu",
			a: plan{cpu: map[string]float64{goHandler: 200}, calls: map[string][2]int64{"connect": {1, 0}}},
			b: plan{cpu: map[string]float64{goHandler: 200, goDial + goConnect: 30, goDial + goSocket: 12, goRead + goClose: 45},
				calls: map[string][2]int64{"connect": {4000, 0}, "close": {8000, 0}}},
			cause: "net.reconnect", place: `^net/http\.\(\*Transport\)\.dialConnFor;connect`, low: 0.9, high: 1,
			level: Explains},
		{name: "a dearer way to open the same connections", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 200, connecting: 1}, calls: map[string][2]int64{"connect": {900, 0}}},
			b: plan{cpu: map[string]float64{work: 200, connecting: 1, "_start;main;serve;open_peer": 90},
				calls: map[string][2]int64{"connect": {900, 0}}},
			cause: "code.grew", place: "open_peer", low: 0.9, high: 1, level: Explains},
	}...)
}

func runtimeSituations() []situation {
	const hot, own = "n:node!_start;s:main;s:sum", "clone3;start_thread;count"
	queue := []wait{{count: 20, ms: 0, runMs: 10, stack: work, waker: recording.WakerNone, runner: "prog"}}
	two := map[string]float64{work: 200, "w|" + own: 200}
	switching := "_start;main;serve;pass;libc.so.6!read;k:__x64_sys_read;schedule;__schedule;finish_task_switch"
	switches := []wait{{tid: 101, count: 50, ms: 0.1, call: "read", stack: "clone3;read", waker: recording.WakerInterrupt}}
	sharers := func(other int32) []line {
		return []line{{0, rootPid, true, work, 0}, {other, 101, true, own, 0}}
	}
	return []situation{
		{name: "interpreted instead of compiled", metric: "cpu", a: plan{cpu: map[string]float64{hot: 100}},
			b:     plan{cpu: map[string]float64{hot: 60, hot + ";V8::StubFrame": 140}},
			cause: "runtime.cold", place: "sum", low: 0.9, high: 1, level: Explains},
		{name: "more work of an interpreted function", metric: "cpu",
			a:     plan{cpu: map[string]float64{hot: 40, hot + ";V8::StubFrame": 60}},
			b:     plan{cpu: map[string]float64{hot: 80, hot + ";V8::StubFrame": 120}},
			cause: "code.grew", place: "sum", low: 0.9, high: 1, level: Explains},
		{name: "compiled code that has the collector run", metric: "cpu", // by a stub, which looks like a bytecode handler
			a: plan{cpu: map[string]float64{hot: 100}},
			b: plan{cpu: map[string]float64{hot: 200,
				hot + ";V8::StubFrame;V8::ExitFrame;n:node!v8::internal::Heap::CollectGarbage": 90}},
			cause: "code.grew", place: "sum", low: 0.45, high: 0.6, level: Explains},
		{name: "reclaim in two functions, most of it in the reads of one", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 200}},
			b: plan{cpu: map[string]float64{work: 200, "_start;main;serve;fill;k:asm_exc_page_fault;try_charge_memcg;" +
				"try_to_free_mem_cgroup_pages;shrink_lruvec": 40, "_start;main;serve;load;libc.so.6!pread;" +
				"k:__x64_sys_pread64;try_charge_memcg;try_to_free_mem_cgroup_pages;shrink_lruvec": 60}},
			cause: "memory.reclaim", place: "load;pread64", low: 0.9, high: 1, level: Explains},
		{name: "held on one CPU", metric: "wall",
			a:     plan{cpu: two, onCPUs: 2, facts: map[string]string{"target.affinity": "0-1"}},
			b:     plan{cpu: two, waits: queue, facts: map[string]string{"target.affinity": "0"}},
			cause: "cpu.confined", place: `target\.affinity=0 \(1 of 2`, low: 0.9, high: 1, level: Explains},
		{name: "somebody else has that one CPU", metric: "wall",
			a: plan{cpu: two, facts: map[string]string{"target.affinity": "0-1"}},
			b: plan{cpu: two, facts: map[string]string{"target.affinity": "0"}, waits: []wait{{count: 20, runMs: 10,
				stack: work, waker: recording.WakerNone, runner: "hog"}}},
			cause: "cpu.starved", place: "hog", low: 0.9, high: 1, level: Explains},
		{name: "a monitor at each context switch", metric: "cpu", a: plan{cpu: map[string]float64{work: 200}},
			b: plan{cpu: map[string]float64{work: 200, "_start;main;serve;pass;libc.so.6!read;k:__x64_sys_read;schedule;" +
				"__perf_event_task_sched_out;event_sched_out": 90}},
			cause: "monitor.attached", place: "perf_event_task_sched_out", low: 0.9, high: 1, level: Explains},
		{name: "the recorder's own count of faults", metric: "cpu", a: plan{cpu: map[string]float64{work: 200}},
			b: plan{cpu: map[string]float64{work: 200, "_start;main;serve;fill;k:asm_exc_page_fault;exc_page_fault;" +
				"do_user_addr_fault;handle_mm_fault;clear_page_erms": 60,
				"_start;main;serve;fill;k:asm_exc_page_fault;exc_page_fault;do_user_addr_fault;__perf_sw_event": 30}},
			cause: "code.added", place: "fill", low: 0.9, high: 1, level: Explains},
		{name: "a monitor whose work is hidden in the switches", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 200, switching: 50}, calls: map[string][2]int64{"read": {9000, 0}},
				waits: switches},
			b: plan{cpu: map[string]float64{work: 200, switching: 140}, calls: map[string][2]int64{"read": {9000, 0},
				"perf_event_open": {12, 0}}, waits: switches},
			cause: "monitor.attached", place: "counters opened by process prog", low: 0.9, high: 1, level: Explains},
		{name: "more switches are not a monitor", metric: "cpu", a: plan{cpu: map[string]float64{work: 200}},
			b: plan{cpu: map[string]float64{work: 200, "_start;main;serve;pass;libc.so.6!read;k:__x64_sys_read;schedule;" +
				"__schedule": 90}},
			cause: "code.added", place: "pass", low: 0.9, high: 1, level: Explains},
		{name: "different words of one line", metric: "cpu", a: plan{cpu: two},
			b:     plan{cpu: map[string]float64{work: 350, "w|" + own: 350}, lines: sharers(8), onCPUs: 2},
			cause: "line.false-sharing", place: "parse|count", low: 0.9, high: 1, level: Explains},
		{name: "the same word of one line", metric: "cpu", a: plan{cpu: two},
			b:     plan{cpu: map[string]float64{work: 350, "w|" + own: 350}, lines: sharers(0), onCPUs: 2},
			cause: "line.true-sharing", place: "parse|count", low: 0.9, high: 1, level: Explains},
	}
}

// liveSituations are of services that ran already, on one host at the same time.
func liveSituations() []situation {
	switching := "_start;main;serve;pass;libc.so.6!read;k:__x64_sys_read;schedule;__schedule;finish_task_switch"
	switches := []wait{{tid: 101, count: 50, ms: 0.1, call: "read", stack: "clone3;read", waker: recording.WakerInterrupt}}
	calls := map[string][2]int64{"read": {20000, 0}}
	entered := "_start;main;serve;pass;libc.so.6!read;k:do_syscall_64;syscall_trace_enter;perf_trace_sys_enter;" +
		"trace_call_bpf;bpf_prog_6deef7357e7b4530_sys_enter of bpftrace;bpf_get_stackid"
	several := map[string]float64{"_start;main;serve;parse": 160, "_start;main;serve;render": 110,
		"_start;main;serve;store": 80, "_start;main;serve;pass;libc.so.6!read;k:__x64_sys_read;pipe_read": 60}
	often := func(hertz string) map[string]string {
		return map[string]string{"target.counted": "perf samples 1 event of 1 process", "target.sampled_hz": hertz}
	}
	never := map[string]string{"target.counted": "none", "target.sampled_hz": "0"}
	return []situation{
		{name: "a monitor of one of two live services", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 200, switching: 50}, waits: switches,
				facts: map[string]string{"tracers.perf": "perf ×5", "target.counted": "none"}},
			b: plan{cpu: map[string]float64{work: 200, switching: 140}, waits: switches,
				facts: map[string]string{"tracers.perf": "perf ×5", "target.counted": "perf counts 5 events of 1 process"}},
			cause: "monitor.attached", place: "target.counted=perf counts 5 events", low: 0.9, high: 1, level: Explains},
		{name: "a monitor of both", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 200, switching: 50}, waits: switches,
				facts: map[string]string{"target.counted": "perf counts 5 events of 1 process"}},
			b: plan{cpu: map[string]float64{work: 200, switching: 140}, waits: switches,
				facts: map[string]string{"target.counted": "perf counts 5 events of 1 process"}},
			cause: "code.grew", place: "pass", low: 0.9, high: 1, level: Explains},
		{name: "strace stops one of two", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 200}, calls: calls, facts: map[string]string{"target.tracer": "none"}},
			b: plan{cpu: map[string]float64{work: 200, "_start;main;serve;pass;libc.so.6!read;k:do_syscall_64;" +
				"syscall_trace_enter;ptrace_report_syscall;ptrace_stop": 150}, calls: calls,
				facts: map[string]string{"target.tracer": "strace"}},
			cause: "syscall.traced", place: "target.tracer=strace", low: 0.9, high: 1, level: Explains},
		{name: "a BPF program that somebody holds takes stacks at the calls of one", metric: "cpu",
			a:     plan{cpu: map[string]float64{work: 200, entered: 4}, calls: calls},
			b:     plan{cpu: map[string]float64{work: 200, entered: 100}, calls: calls},
			cause: "syscall.traced", place: "BPF programs of process bpftrace", low: 0.9, high: 1, level: Explains},
		{name: "a BPF program of somebody at the faults of one", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 200, "_start;main;serve;fill;k:asm_exc_page_fault;exc_page_fault;" +
				"__traceiter_page_fault_user;bpf_trace_run3;bpf_prog_6deef7357e7b4530_fault of bpftrace": 2}},
			b: plan{cpu: map[string]float64{work: 200, "_start;main;serve;fill;k:asm_exc_page_fault;exc_page_fault;" +
				"__traceiter_page_fault_user;bpf_trace_run3;bpf_prog_6deef7357e7b4530_fault of bpftrace": 60}},
			cause: "monitor.attached", place: "BPF programs of process bpftrace", low: 0.9, high: 1, level: Explains},
		{name: "a profiler samples one very often", metric: "cpu", a: plan{cpu: several, facts: never},
			b:     plan{cpu: grown(several, 1.15), facts: often("20000")},
			cause: "monitor.attached", place: "target.counted=perf samples", low: 0.9, high: 1, level: Explains},
		{name: "a profiler samples one now and then, and all of it does more", metric: "cpu",
			a:     plan{cpu: several, facts: never},
			b:     plan{cpu: grown(several, 1.15), facts: often("99")},
			cause: "code.grew", place: "parse", low: 0.2, high: 1, level: Explains},
		{name: "a profiler samples one very often, and one function does more", metric: "cpu",
			a: plan{cpu: several, facts: never},
			b: plan{cpu: merged(several, map[string]float64{"_start;main;serve;parse": 220}),
				facts: often("20000")},
			cause: "code.grew", place: "parse", low: 0.8, high: 1, level: Explains},
		{name: "a profiler samples both very often", metric: "cpu",
			a:     plan{cpu: several, facts: often("20000")},
			b:     plan{cpu: grown(several, 1.15), facts: often("20000")},
			cause: "code.grew", place: "parse", low: 0.2, high: 1, level: Explains},
	}
}

// tracepointSituations are of events of others, and of programs of the recorder, at the calls of a
// service.
func tracepointSituations() []situation {
	calls := map[string][2]int64{"read": {20000, 0}}
	call := "_start;main;serve;pass;libc.so.6!read;k:do_syscall_64;syscall_trace_enter;__traceiter_sys_enter;"
	records := call + "perf_trace_sys_enter;perf_tp_event;perf_swevent_event"
	own := call + "__bpf_trace_sys_enter;bpf_trace_run2;bpf_prog_be424e2b1a1e7127_call_entered"
	return []situation{
		{name: "perf trace writes records of the calls of one", metric: "cpu",
			a: plan{cpu: map[string]float64{work: 200, own: 20}, calls: calls,
				facts: map[string]string{"target.counted": "none"}},
			b: plan{cpu: map[string]float64{work: 200, own: 20, records: 150}, calls: calls,
				facts: map[string]string{"target.counted": "perf samples 2 events of 1 process"}},
			cause: "syscall.traced", place: "target.counted=perf samples", low: 0.9, high: 1, level: Explains},
		{name: "recording takes longer at the calls of one, and a function does more", metric: "cpu",
			a:     plan{cpu: map[string]float64{work: 200, own: 20}, calls: calls},
			b:     plan{cpu: map[string]float64{work: 240, own: 150}, calls: calls},
			cause: "code.grew", place: "parse", low: 0.9, high: 1, level: Explains},
	}
}

// grown is each amount so many times as large.
func grown(cpu map[string]float64, times float64) map[string]float64 {
	cpu = maps.Clone(cpu)
	for stack := range cpu {
		cpu[stack] *= times
	}
	return cpu
}

func TestCPUsIn(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3": 4, "0-1,3": 3, "": 0, "x": 0, "3-1": 0, "-1": 0} {
		if got := cpusIn(list); got != want {
			t.Errorf("cpusIn(%q) = %d, want %d", list, got, want)
		}
	}
}

// A limit on both sides is nobody's cause, and neither is one that says "no limit".
func TestLimitOfIO(t *testing.T) {
	const name = "target.cgroup.io.read_bps"
	for _, one := range []struct{ a, b, want string }{
		{"", "8:16 1048576", name + "=8:16 1048576"}, {"8:16 1", "8:16 1", ""}, {"", "max", ""}, {"8:16 1", "", ""},
	} {
		s := scene{factsA: map[string]string{name: one.a}, factsB: map[string]string{name: one.b}}
		if got := s.ioLimit().String(); got != one.want {
			t.Errorf("limits %q and %q: %q, want %q", one.a, one.b, got, one.want)
		}
	}
}

// The one who wakes is not the one who is slow: what it had waited for itself is told with it.
func TestWhatStoodBehind(t *testing.T) {
	suspects := judged(t, "wall", held(), held(wait{count: 10, ms: 20, call: "write", waker: recording.WakerKernel,
		stack:  inWrite + "add_transaction_credits;wait_transaction_locked",
		behind: "k:kthread;kjournald2;jbd2_journal_commit_transaction;submit_bio_wait"}), Costs{})
	if len(suspects) == 0 || suspects[0].Cause != "file.journal" {
		t.Fatalf("suspects %s", described(suspects))
	}
	for _, evidence := range suspects[0].Evidence {
		if evidence.Text == "behind it jbd2/vda-8 waited in submit_bio_wait for ksoftirqd/0" && evidence.B > 0.19 {
			return
		}
	}
	t.Errorf("nothing behind the waker in %+v", suspects[0].Evidence)
}

// Twice as slow writes are a slow disk, however many quick flushes come on top, and whatever
// somebody reads meanwhile; not where there are more writes. Limits of the root cgroup are nobody's
// own.
func TestSlowdownIsByOperation(t *testing.T) {
	s := &scene{counts: []compare.Count{
		{Name: counts.Block + ".write", A: []float64{100}, B: []float64{100}},
		{Name: counts.BlockSeconds + ".write", A: []float64{0.2}, B: []float64{0.4}},
		{Name: counts.Block + ".flush", A: []float64{10}, B: []float64{40}},
		{Name: counts.BlockSeconds + ".flush", A: []float64{0.001}, B: []float64{0.004}},
		{Name: counts.Block + ".read", A: []float64{10}, B: []float64{900}},
		{Name: counts.BlockSeconds + ".read", A: []float64{0.01}, B: []float64{0.9}}}}
	if got := s.slowdown("write", "flush"); got < 1.8 || got > 2 {
		t.Errorf("slowdown is %g, want nearly 2", got)
	}
	if !s.slower("write", "flush") || s.slower("read") {
		t.Error("want slower writes beside somebody's reads, and as quick reads as before")
	}
	s.counts[0].B, s.counts[1].B = []float64{200}, []float64{0.8}
	if s.slower("write", "flush") {
		t.Error("twice as many writes told as a slower disk")
	}
	s.factsB = map[string]string{"target.cgroup.io.write_bps": "7:4 104857600", "target.cgroup.path.blkio": "/"}
	if got := s.ioLimit().String(); got != "" {
		t.Errorf("limit %q of the root cgroup taken for the target's own", got)
	}
}
