package cause

import (
	"testing"

	"culprit/recording"
)

// Words that a lock guards are handed on with it, also where the code at them is called by the one
// that takes the lock, and is at them for no larger a part than where each thread had its own. Of
// threads that wait for a lock elsewhere, or hardly at all, nothing of the kind is known.
func TestWordsThatALockGuards(t *testing.T) {
	const inKernel = ";libc.so.6!pthread_mutex_lock;k:__x64_sys_futex"
	for _, test := range []struct {
		name, waits string
		ms          float64 // of each of fifty waits
		want        ID
	}{
		{"the caller waits", "_start;main;serve", 4, LockContended},
		{"the code itself waits", work, 4, LockContended},
		{"others wait", "_start;main;log", 4, CodeGrew},
		{"the caller hardly waits", "_start;main;serve", 0.2, CodeGrew},
	} {
		a, b := layouts(200, 44, true), layouts(350, 77, false)
		b.waits = []wait{{tid: rootPid, count: 50, ms: test.ms, call: "futex", stack: test.waits + inKernel,
			waker: recording.WakerThread, wakerTi: 101}}
		suspects := judged(t, "cpu", a, b, Costs{})
		if len(suspects) == 0 || suspects[0].Cause != test.want {
			t.Errorf("%s: %+v", test.name, suspects)
		}
	}
}
