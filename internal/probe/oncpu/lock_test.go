package oncpu

import "testing"

// The word of a lock that several threads take is left to the lock; of a lock that one thread alone
// takes it is a word as any other, once it was sampled often enough.
func TestLockWords(t *testing.T) {
	of := func(address uint64) *seenOperand { return &seenOperand{pid: 9, access: access{address: address}} }
	locks := lockWords{
		{9, 0x1000}: {first: 1, count: 50},
		{9, 0x2000}: {first: 1, count: 50, several: true},
		{9, 0x3000}: {first: 1, count: fewestOfLock - 1},
	}
	for _, test := range []struct {
		function string
		address  uint64
		want     bool
	}{
		{"sync.(*Mutex).Lock", 0x1000, false},
		{"pthread_mutex_lock", 0x2000, true},
		{"internal/sync.(*Mutex).lockSlow", 0x2000, true},
		{"pthread_mutex_lock", 0x3000, true},
		{"pthread_mutex_lock", 0x4000, true},
		{"main.count", 0x2000, false},
	} {
		if got := locks.dropped(test.function, of(test.address)); got != test.want {
			t.Errorf("%s at %#x: dropped %v", test.function, test.address, got)
		}
	}
}
