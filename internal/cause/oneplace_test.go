package cause

import (
	"slices"
	"strings"
	"testing"
)

const poolPy = "/usr/lib/python3.11/concurrent/futures/thread.py"

// handing is a program that hands each step to a pool's threads, whose stacks begin with pool;
// enter is what it calls for it. What that takes is spread over locks, calls and functions of the
// library, on both threads.
func handing(main, enter, pool string) (direct, handed plan) {
	const (
		send = "n:libc.so.6!send;k:do_syscall_64;__x64_sys_sendto"
		lock = "n:libc.so.6!pthread_mutex_lock;libc.so.6!__lll_lock_wait;k:do_syscall_64;__x64_sys_futex"
	)
	base := map[string]float64{main + "answer": 300, main + send: 20}
	direct = plan{cpu: base, calls: map[string][2]int64{"sendto": {4000, 1 << 20}, "futex": {10, 0}}}
	handed = plan{cpu: merged(base, map[string]float64{main + enter: 170, main + enter + ";" + lock: 60, main + send: 170,
		pool + ";" + lock: 110, pool + ";n:libc.so.6!take;libc.so.6!sleep": 170, pool + ";n:libc.so.6!run": 60,
		pool + ";n:libc.so.6!done": 60,
		pool + ";n:libc.so.6!tell": 50}),
		calls: map[string][2]int64{"sendto": {16000, 1 << 20}, "futex": {40000, 0}}}
	return direct, handed
}

// TestThreadsOfALibraryWorkForSomebody: what the threads of a pool do belongs to the place that
// hands them their work, which is new or does so more often; of a library that the place does not
// call they are not its own.
func TestThreadsOfALibraryWorkForSomebody(t *testing.T) {
	t.Parallel()
	const java = "java.util.concurrent."
	for _, test := range []struct {
		name, main, enter, pool string
		own                     bool
	}{
		{"python", pyRun + "talk;", "Aside.call;submit@" + poolPy,
			"pool|n:clone3;start_thread;p:Thread.run@/usr/lib/python3.11/threading.py;_worker@" + poolPy, true},
		{"java", "n:start_thread;j:java.lang.Thread.run;Desk.talk;", "Aside.call;" + java + "ThreadPoolExecutor.execute",
			"pool|n:start_thread;j:java.lang.Thread.run;" + java + "ThreadPoolExecutor$Worker.run", true},
		{"java's common pool", "n:start_thread;j:java.lang.Thread.run;Desk.talk;", "Aside.call;" + java +
			"CompletableFuture.supplyAsync;" + java + "ForkJoinPool.execute", "pool|n:start_thread;j:" + java +
			"ForkJoinWorkerThread.run;" + java + "ForkJoinPool.runWorker", true},
		{"go", "g:runtime.goexit;main.talk;", "main.call;net/http.(*Client).Do;net/http.(*persistConn).roundTrip",
			"pool|g:runtime.goexit;net/http.(*persistConn).writeLoop", true},
		{"of the kind that it runs on", "n:start_thread;j:" + java + "ThreadPoolExecutor.runWorker;Desk.talk;",
			"Aside.call;" + java + "ThreadPoolExecutor.execute", "pool|n:start_thread;j:" + java +
				"ThreadPoolExecutor.runWorker", false},
		{"another library's", pyRun + "talk;", "Aside.call;submit@" + poolPy,
			"pool|n:clone3;start_thread;p:Thread.run@/usr/lib/python3.11/threading.py;beat@/site-packages/beat/core.py", false},
	} {
		direct, handed := handing(test.main, test.enter, test.pool)
		suspects := judged(t, "cpu", direct, handed, Costs{})
		own := slices.IndexFunc(suspects, func(one Suspect) bool {
			return one.Cause.is(isCode) && strings.Contains(strings.ToLower(one.Where[0]), ".call") && one.Share.Value > 0.45
		})
		if test.own != (own == 0) {
			t.Errorf("%s: %s", test.name, described(suspects))
		}
		if told := own == 0 && slices.ContainsFunc(suspects[0].Evidence, func(e Evidence) bool {
			return strings.Contains(e.Text, "own threads, which work for it") && e.B > e.A
		}); told != test.own {
			t.Errorf("%s: its threads are told: %v", test.name, told)
		}
	}
}

// TestManySmallPartsHaveOnePlace: where locks, calls and code each explain too little, the function
// that all of them are below is named for them together; where there is none, nothing is.
func TestManySmallPartsHaveOnePlace(t *testing.T) {
	t.Parallel()
	const (
		send = ";n:libc.so.6!send;k:do_syscall_64;__x64_sys_sendto"
		lock = ";n:libc.so.6!pthread_mutex_lock;libc.so.6!__lll_lock_wait;k:do_syscall_64;__x64_sys_futex"
	)
	for _, test := range []struct{ name, x, y, z, place string }{
		{"C", "_start;main;note;put", "_start;main;note;get", "_start;main;note;new", "main;note"},
		{"Go", goRun + "main.note;main.put", goRun + "main.note;main.get", goRun + "main.note;main.new",
			"main.main;main.note"},
		{"three places", "_start;main;put", "_start;main;get", "_start;main;new", ""},
	} {
		direct, noted := map[string]float64{"_start;main;work": 300}, map[string]float64{"_start;main;work": 300}
		noted[test.x+send], noted[test.y+lock], noted[test.z] = 85, 85, 85
		for i := range 14 { // the rest is nowhere
			noted["t|p:f"+string(rune('a'+i))] = 18
		}
		suspects := judged(t, "cpu", plan{cpu: direct, calls: map[string][2]int64{"sendto": {10, 0}}},
			plan{cpu: noted, calls: map[string][2]int64{"sendto": {9000, 1 << 20}, "futex": {9000, 0}}}, Costs{})
		if test.place == "" {
			if len(suspects) > 0 {
				t.Errorf("%s: %s", test.name, described(suspects))
			}
			continue
		}
		if len(suspects) != 1 || suspects[0].Cause != "code.added" || suspects[0].Where[0] != test.place ||
			suspects[0].Level != Explains || !(suspects[0].Share.Value > 0.45) {
			t.Errorf("%s: %s", test.name, described(suspects))
			continue
		}
		for _, part := range []string{"of it lock.contended", "of it syscall.chatty"} {
			if !slices.ContainsFunc(suspects[0].Evidence, func(e Evidence) bool { return e.Text == part && e.B > e.A }) {
				t.Errorf("%s: no evidence %q: %v", test.name, part, suspects[0].Evidence)
			}
		}
	}
}
