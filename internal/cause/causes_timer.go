package cause

// Causes of what a timer ends, and what recognises them.
const (
	TimerTicker     ID = "timer.ticker"
	SleepDeliberate ID = "sleep.deliberate"

	ruleSleep  Rule = "sleep"
	ruleTicker Rule = "ticker"
	ruleAlarm  Rule = "alarm"
)

func timerTicker() Cause {
	return Cause{ID: TimerTicker,
		Claim: "a timer wakes a thread at a fixed rate whether or not there is work",
		Example: "a thread counts time in steps of 400 µs so that others need not read it: 2.1 times " +
			"the CPU time, as many wake-ups a second whether there is work or not, in count_time " +
			"(ticker-c)",
		Evidence: "wake-ups by a timer at a regular interval, spread over the run, each with little " +
			"work; CPU time, switches and system calls at zero load; the stack that sleeps; or the " +
			"signals of a timer that the program set, and their handler",
		Proof: "none on foreign code; a load sweep shows where a cached value would break even",
		Remedy: "wake on demand instead of by the clock, make the interval longer, or compute the " +
			"value when it is asked for",
		Gain: "nobody needs what the ticks did on time: a value kept fresh, a look at a queue",
		MistakenAs: "a poll of something that really changes; a rate that follows the load is no " +
			"ticker, nor is the same rate over a longer run",
		Recognise: []recogniser{
			{ruleTicker, findTicker, []deference{
				watched, child,
				{[]Rule{ruleClock}, "a read of the clock is as dear outside of a tick"},
				{[]Rule{ruleJournal}, "the journal makes a call dearer whoever makes it"},
			}},
			{ruleAlarm, findAlarm, []deference{
				watched, child,
				{[]Rule{ruleClock}, "a read of the clock is as dear outside of a handler"},
			}},
		},
	}
}

func sleepDeliberate() Cause {
	return Cause{ID: SleepDeliberate,
		Claim: "the program sleeps on purpose (back-off, retry, poll interval, nanosleep)",
		Example: "the pause before a retry grew from 1 to 12 ms: 2 times the wall time, waits that a " +
			"timer ended, and no more CPU time (sleep-node)",
		Evidence: "time on the critical path under sleep calls that a timer ended",
		Proof:    attributionOnly,
		Remedy:   "wait for the event itself (condition, poll on a descriptor) or shorten the interval",
		Gain: "the sleep guarded nothing: a back-off or a pause between two tries may be missed under " +
			"load",
		MistakenAs: "a main thread that only waits for its workers: then the workers' code is the " +
			"cause; net.delayed near 40 ms; sleeps as long as before that now go one after the other, for " +
			"a lock or a pool that is too small: that is said where it is seen, with the queue's place, " +
			"the number of threads or that of connections",
		Recognise: []recogniser{
			{ruleSleep, findSleep, []deference{watched, kernelTimer}},
		},
	}
}
