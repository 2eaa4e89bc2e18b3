package oncpu

import (
	"slices"
	"strings"

	"culprit/internal/code"
)

// lockWords are the words that functions which take or give back a lock work on, by who was seen
// there.
type lockWords map[wordOf]*lockUsers

type lockUsers struct {
	first     uint64 // task of Go or thread
	count     int64
	several   bool
	reading   int64 // samples of those that take the lock for reading
	excluding int64 // of those that keep others out
}

// fewestOfLock is how often a lock's word must be sampled with one user alone to be that one's own.
const fewestOfLock = worthAWatch

// locksIn gathers them from samples with their stacks. Who shares such a word waits for a lock,
// which is told by its functions and by waits. It is a word as any other where one thread alone
// takes the lock, for others may work on what lies beside it; and where it is taken for reading:
// readers do not wait for each other, and still all write their number into it.
func locksIn(seen []seenOperand, stacks []namedStack) lockWords {
	found := lockWords{}
	for i := range seen {
		one, stack := &seen[i], &stacks[i]
		if !isLock(stack.innermost) {
			continue
		}
		at, user := wordOf{one.pid, one.address}, uint64(one.tid)
		if stack.golang {
			user = one.task
		}
		if found[at] == nil {
			found[at] = &lockUsers{first: user}
		}
		found[at].count++
		found[at].several = found[at].several || found[at].first != user
		found[at].add(stack.innermost)
	}
	return found
}

// dropped reports whether an operand is the word of a lock that several take. Behind a call it may
// be what a function that takes locks has just done: there others tell whether it is one.
func (w lockWords) dropped(function string, one *seenOperand) bool {
	of := w[wordOf{one.pid, one.address}]
	if !isLock(function) && (!one.returned || of == nil) {
		return false
	}
	return of == nil || of.count < fewestOfLock || of.several && !of.isRead()
}

// add counts what a function takes a lock for.
func (u *lockUsers) add(function string) {
	switch {
	case begins(function, readFunctions):
		u.reading++
	case !begins(function, eitherFunctions):
		u.excluding++
	}
}

// isRead tells a lock that is taken for reading, by all but a few.
func (u *lockUsers) isRead() bool {
	return u.reading > 0 && float64(u.excluding) < othersLeast*float64(u.count)
}

// lockFunctions begin the names of functions that work on a lock's own word: who shares that, waits
// for a lock. Who spins is seen nowhere else than at the word, which is kept.
var lockFunctions = []string{"pthread_", "__pthread_", "___pthread_", "__lll_", "lll_", "sem_", "__new_sem_",
	"runtime.lock", "runtime.unlock", "sync.(*Mutex)", "sync.(*RWMutex)", "internal/sync.(*Mutex)"}

// readFunctions are those that let others in as well, and eitherFunctions those that give back what
// was taken for reading or not.
var (
	readFunctions = []string{"pthread_rwlock_rdlock", "pthread_rwlock_tryrdlock", "pthread_rwlock_timedrdlock",
		"pthread_rwlock_clockrdlock", "__pthread_rwlock_rdlock", "__pthread_rwlock_tryrdlock", "___pthread_rwlock_rdlock",
		"___pthread_rwlock_tryrdlock", "___pthread_rwlock_timedrdlock", "___pthread_rwlock_clockrdlock",
		"sync.(*RWMutex).RLock", "sync.(*RWMutex).TryRLock", "sync.(*RWMutex).RUnlock", "sync.(*RWMutex).rUnlockSlow"}
	eitherFunctions = []string{"pthread_rwlock_unlock", "__pthread_rwlock_unlock", "___pthread_rwlock_unlock"}
)

func isLock(function string) bool {
	return begins(function, lockFunctions) && !code.SpinsForLock(function)
}

func begins(function string, starts []string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(function, start) })
}
