package oncpu

import (
	"slices"
	"strings"
)

// lockWords are the words that functions which take or give back a lock work on, by who was seen
// there.
type lockWords map[wordOf]*lockUsers

type lockUsers struct {
	first   uint64 // task of Go or thread
	count   int64
	several bool
}

// fewestOfLock is how often a lock's word must be sampled with one user alone to be that one's own.
const fewestOfLock = worthAWatch

// locksIn gathers them from samples with their stacks. Who shares such a word waits for a lock,
// which is told by its functions and by waits. A lock that one thread alone takes is a word as any
// other: others may work on what lies beside it.
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
	}
	return found
}

// dropped reports whether an operand is the word of a lock that several take.
func (w lockWords) dropped(function string, one *seenOperand) bool {
	if !isLock(function) {
		return false
	}
	of := w[wordOf{one.pid, one.address}]
	return of == nil || of.several || of.count < fewestOfLock
}

// lockFunctions begin the names of functions that work on a lock's own word: who shares that, waits
// for a lock.
var lockFunctions = []string{"pthread_", "__pthread_", "___pthread_", "__lll_", "lll_", "sem_", "__new_sem_",
	"runtime.lock", "runtime.unlock", "sync.(*Mutex)", "sync.(*RWMutex)", "internal/sync.(*Mutex)"}

func isLock(function string) bool {
	return slices.ContainsFunc(lockFunctions, func(start string) bool { return strings.HasPrefix(function, start) })
}
