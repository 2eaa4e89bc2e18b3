package recording

import "testing"

// Waiting for work is told apart from waiting inside of work.
func TestIdleWaits(t *testing.T) {
	builder := NewBuilder()
	stack := func(names ...string) int32 {
		var frames []int32
		for _, name := range names {
			frames = append(frames, builder.Frame(Frame{Name: name, Kind: KindNative}))
		}
		return builder.Stack(frames)
	}
	worker := stack("java.lang.Thread.run", "java.util.concurrent.ThreadPoolExecutor.getTask", "pthread_cond_wait")
	lock := stack("main", "pthread_mutex_lock")
	r := &Recording{}
	cases := []struct {
		name string
		wait Wait
		slow *Slow
		idle bool
	}{
		{"an event loop", Wait{Syscall: "epoll_wait", State: "S"}, nil, true},
		{"the next client", Wait{Syscall: "accept4", State: "S"}, nil, true},
		{"the next request", Wait{Syscall: "read", State: "S"},
			&Slow{Name: "read", ObjectKind: ObjectSocket, Object: "tcp from 10.0.0.9:51234", DurationNs: 50}, true},
		{"an answer", Wait{Syscall: "read", State: "S"},
			&Slow{Name: "read", ObjectKind: ObjectSocket, Object: "tcp 10.0.0.1:5432", DurationNs: 50}, false},
		{"a file", Wait{Syscall: "read", State: "D"}, &Slow{Name: "read", ObjectKind: ObjectFile, DurationNs: 50}, false},
		{"after the slow call", Wait{TimeNs: 99, Syscall: "read", State: "S"},
			&Slow{Name: "read", ObjectKind: ObjectPipe, DurationNs: 50}, false},
		{"a poll that was preempted", Wait{Syscall: "epoll_wait", State: "R"}, nil, false},
		{"a worker of a pool", Wait{Syscall: "futex", State: "S", Stack: worker}, nil, true},
		{"a lock", Wait{Syscall: "futex", State: "S", Stack: lock}, nil, false},
		{"a sleep", Wait{Syscall: "clock_nanosleep", State: "S", Stack: NoStack},
			&Slow{Name: "clock_nanosleep", ObjectKind: ObjectTimer, DurationNs: 50}, false},
	}
	for i, c := range cases {
		c.wait.Tid = int32(i)
		r.Waits = append(r.Waits, c.wait)
		if c.slow != nil {
			c.slow.Tid = int32(i)
			r.Slow = append(r.Slow, *c.slow)
		}
	}
	builder.Into(r)
	for i, idle := range r.IdleWaits() {
		if idle != cases[i].idle {
			t.Errorf("%s: idle is %v", cases[i].name, idle)
		}
	}
}
