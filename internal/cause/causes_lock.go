package cause

// Causes of locks in user space, and what recognises them.
const (
	LockContended ID = "lock.contended"

	ruleHerd    Rule = "herd"
	ruleLock    Rule = "lock"
	ruleForeign Rule = "lock of others"
)

func lockContended() Cause {
	return Cause{ID: LockContended, Nature: ofCode | amongThreads,
		Claim: "threads wait for each other's user-space lock",
		Example: "every trade adds to totals behind one mutex: 1.9 times the wall time, futex waits in " +
			"add_to_totals that another thread of the process ended (lock-hot-c)",
		Evidence: "futex waits whose waker is in the same process, or waits for a lock of a file or a " +
			"semaphore that another of the program's processes, or another program, gives up; the lock, the function that " +
			"takes it, what its holder did meanwhile; where a runtime parks its tasks without a thread " +
			"(Go), CPU time in the slow ways of a mutex while the runtime idles; CPython's interpreter " +
			"lock is one, held by whichever thread runs meanwhile; waking all that wait for a condition " +
			"where the other side wakes one, which is said in the claim; cache lines whose code waits for a " +
			"lock as well: its own word, which compiled Java takes without a call, and what it guards; the " +
			"word of a spin lock",
		Proof: "scale the threads from 1 to N",
		Remedy: "hold the lock for less, split it, or share nothing; move slow work out of the " +
			"critical section",
		Gain: "threads and load stay as in these runs: with more of them a lock may queue again",
		MistakenAs: "cpu.starved: a holder that has no CPU makes everybody wait; a condition or a join " +
			"is no lock; a semaphore of one that threads both take and give counts as a lock; where the run " +
			"itself takes longer in Python, waits for the interpreter while it runs belong to that code",
		Recognise: []recogniser{
			{ruleForeign, findForeignLock, []deference{watched}},
			{ruleHerd, findHerd, []deference{
				noCPU, watched, child,
				{[]Rule{ruleSleep, rulePolled}, "a wait that the program gave a time is none to be woken"},
			}},
			{ruleLock, findLock, []deference{
				noCPU, watched, child, timed,
				{[]Rule{ruleForeign}, "what another program holds is nothing that the threads do to each other"},
				{[]Rule{ruleHerd}, "the queue for a condition's lock is there because all were woken"},
				{[]Rule{ruleSleep, rulePolled},
					"a sleep is no wait for a lock, unless the sleepers take turns"},
			}},
		},
	}
}
