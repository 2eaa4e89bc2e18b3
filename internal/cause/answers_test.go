package cause

const (
	inFileServer = "_start;main;price_of;libc.so.6!open;k:__x64_sys_openat;do_sys_openat2;fuse_open;" +
		"__fuse_simple_request;request_wait_answer"
	inDaemon = "_start;main;session_loop;libc.so.6!read;k:ksys_read;fuse_dev_do_read"
	handsOn  = "k:tcp_sendmsg;process_backlog;tcp_v4_rcv;tcp_data_queue;sock_def_readable;__wake_up_common"
)

// Waits that another program ends: for its answers, for files that it serves, for a lock that it
// holds.
func answerSituations() []situation {
	free := held()
	asked := func(count int, length float64) wait {
		return wait{count: count, ms: length, call: "recvfrom", stack: inReceive, ended: handsOn, outside: "postgres"}
	}
	files := func(count int, length float64) wait {
		return wait{count: count, ms: length, call: "openat", stack: inFileServer, outside: "bindfs"}
	}
	calls := func(p plan, call string, times int64) plan {
		p.calls = map[string][2]int64{call: {times, times * 100}}
		return p
	}
	brief := files(300, 0.2)
	brief.stack = "_start;main;price_of;libc.so.6!open"
	accepts := held(asked(10, 50))
	accepts.calls = map[string][2]int64{"recvfrom": {10, 1000}, "accept4": {10, 0}}
	return []situation{
		{name: "answers of another program take longer", metric: "wall", a: calls(held(asked(10, 1)), "recvfrom", 10),
			b: calls(held(asked(10, 70)), "recvfrom", 10), cause: "downstream.slow", place: "answered by postgres",
			low: 0.9, high: 1, level: Explains},
		{name: "answers that take as long as a delayed acknowledgement", metric: "wall", a: calls(free, "recvfrom", 10),
			b: calls(held(asked(10, 41)), "recvfrom", 10), cause: "downstream.slow", place: "answered by postgres",
			low: 0.9, high: 1, level: Explains},
		{name: "another program is asked more often", metric: "wall", a: calls(held(asked(10, 5)), "recvfrom", 10),
			b: calls(held(asked(100, 5)), "recvfrom", 100), cause: "code.grew", place: "ask", low: 0.9, high: 1,
			level: Explains},
		{name: "a program that accepts connections waits for work", metric: "wall", a: free, b: accepts,
			cause: "code.added", place: "ask", low: 0.9, high: 1, level: Explains},
		{name: "files that another process serves", metric: "wall", a: calls(free, "openat", 300),
			b: calls(held(files(300, 0.5)), "openat", 300), cause: "downstream.slow", place: "answered by bindfs",
			low: 0.9, high: 1, level: Explains},
		{name: "waits for such files too short for a stack in the kernel", metric: "wall", a: calls(free, "openat", 600),
			b: calls(held(files(300, 0.5), brief), "openat", 600), cause: "downstream.slow",
			place: "answered by bindfs", low: 0.9, high: 1, level: Explains},
		{name: "a server of files waits for questions", metric: "wall", a: free,
			b: held(wait{count: 300, ms: 0.5, call: "read", stack: inDaemon, outside: "cat"}), cause: "code.added",
			place: "session_loop", low: 0.9, high: 1, level: Explains},
		{name: "another program holds the lock of a file", metric: "wall", a: free,
			b: held(wait{count: 20, ms: 10, call: "flock", outside: "backup",
				stack: "_start;main;append;libc.so.6!flock;k:__do_sys_flock;locks_lock_inode_wait"}),
			cause: "lock.contended", place: "held by backup", low: 0.9, high: 1, level: Explains},
		{name: "another program holds a lock in memory that both share", metric: "wall", a: free,
			b: held(wait{count: 20, ms: 10, call: "futex", outside: "backup",
				stack: "_start;main;append;libc.so.6!pthread_mutex_lock;k:__x64_sys_futex;futex_wait"}),
			cause: "lock.contended", place: "held by backup", low: 0.9, high: 1, level: Explains},
		{name: "a scanner permits each access", metric: "wall", a: calls(free, "openat", 50),
			b: calls(held(wait{count: 50, ms: 3, call: "openat", outside: "scand",
				stack: "_start;main;load;libc.so.6!open;k:__x64_sys_openat;fsnotify;fanotify_handle_event"}), "openat", 50),
			cause: "monitor.attached", place: "answered by scand", low: 0.9, high: 1, level: Explains},
	}
}
