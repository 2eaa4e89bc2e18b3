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
		{9, 0x5000}: {first: 1, count: 50, several: true, reading: 20, excluding: 1},
		{9, 0x6000}: {first: 1, count: 50, several: true, reading: 20, excluding: 10},
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
		{"pthread_spin_lock", 0x2000, false},
		{"pthread_rwlock_rdlock", 0x5000, false},
		{"pthread_rwlock_unlock", 0x5000, false},
		{"pthread_rwlock_rdlock", 0x6000, true},
	} {
		if got := locks.dropped(test.function, of(test.address)); got != test.want {
			t.Errorf("%s at %#x: dropped %v", test.function, test.address, got)
		}
	}
}

// What a function takes a lock for is told by its name.
func TestTakenFor(t *testing.T) {
	for _, test := range []struct {
		functions []string
		read      bool
	}{
		{[]string{"pthread_rwlock_rdlock", "pthread_rwlock_unlock", "pthread_rwlock_unlock"}, true},
		{[]string{"sync.(*RWMutex).RLock", "sync.(*RWMutex).RUnlock"}, true},
		{[]string{"pthread_rwlock_wrlock", "pthread_rwlock_unlock"}, false},
		{[]string{"sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock"}, false},
		{[]string{"pthread_rwlock_unlock"}, false},
		{[]string{"pthread_mutex_lock", "pthread_mutex_unlock"}, false},
	} {
		var users lockUsers
		for _, function := range test.functions {
			users.count++
			users.add(function)
		}
		if users.isRead() != test.read {
			t.Errorf("%v: read %v, %+v", test.functions, !test.read, users)
		}
	}
}
