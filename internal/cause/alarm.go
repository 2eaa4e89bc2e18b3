package cause

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// timerCalls are the system calls that set a timer whose end is a signal.
var timerCalls = []string{"syscall.setitimer.count", "syscall.timer_settime.count", "syscall.alarm.count"}

// countSignals are the signals that the program has handled: each handler ends with this call.
const countSignals = "syscall.rt_sigreturn.count"

// findAlarm claims a ticker that interrupts the program by signals: its thread does not sleep for
// the timer, so that no wake-ups tell of it. A program that sets a timer and then returns from
// handlers at a fixed rate has one.
func findAlarm(s *scene) []finding {
	signals := s.countOf(countSignals)
	if s.countOf(timerCalls...).b <= 0 || !signals.grew(timesTicks, fewestTicks) || !s.faster(signals) ||
		signals.b < fewestAlarms*s.wall().b || !s.timedSignals() {
		return nil
	}
	return []finding{{cause: TimerTicker, tell: s.tellAlarm,
		match: func(i int) bool { return s.paths[i].Kind == compare.Running && s.handlesSignal(i) }}}
}

func (s *scene) tellAlarm(c *claim) {
	handlers := byValue(s.tally(c.members, func(i int) string {
		if at := code.SignalHandler(s.paths[i].Frames); at >= 0 {
			return s.paths[i].Frames[at].Name
		}
		return ""
	}))
	if s.mostly(c, func(i int) bool { return signalWaits[s.traits[i].call] }) {
		c.absorbs = callsAround // a loop that waits for the signals is there because of them
	}
	c.at(inCode(first(handlers)))
	s.locate(c, "")
	signals := s.countOf(countSignals)
	c.add("syscalls", "signals handled, in a program that set a timer for them", signals, "signals/run")
	c.add("syscalls", "time between two of them", sides{b: s.wall().b * 1e3 / signals.b}, "ms")
}

// fewestAlarms are the signals a second that make a ticker: as many as wake-ups do in package
// compare.
const fewestAlarms = 15

// signalWaits are system calls that only a signal ends.
var signalWaits = map[string]bool{"pause": true, "rt_sigsuspend": true}

// timedSignals reports whether most signals that an interrupt brought came with a timer's. Those
// that another process sends come with interrupts between CPUs. Where the program sleeps until
// there is one, its wakers tell.
func (s *scene) timedSignals() bool {
	within := func(name string) float64 {
		return over(s.paths, func(path *compare.Path) bool {
			return isRunning(path) && delivers(path.Frames) && code.InKernel(path.Frames, name)
		}).b
	}
	by := func(waker string) float64 {
		_, times := s.overWaits(func(wait *compare.Wait) bool {
			return signalWaits[wait.Syscall] && wait.WakerKind == waker
		})
		return times.b
	}
	timed := within("apic_timer_interrupt")
	sent := within("asm_sysvec_") - within("asm_sysvec_apic_timer_interrupt")
	return timed+by(recording.WakerTimer) > sent+by(recording.WakerThread)
}

// delivers reports whether the kernel delivers a signal in a program that handles many.
func delivers(frames []recording.Frame) bool {
	return code.DeliversSignal(frames) || code.LeavesInterrupt(frames)
}

// handlesSignal reports whether a path delivers a signal, is in a handler, or comes back from one.
func (s *scene) handlesSignal(i int) bool {
	call := s.traits[i].call
	return call == "rt_sigreturn" || signalWaits[call] || delivers(s.paths[i].Frames) ||
		code.SignalHandler(s.paths[i].Frames) >= 0
}

// hiddenSeconds bounds what a timer's interrupt takes beside what samples show of it: it runs with
// interrupts off, so that the software clock books it on the code that was interrupted, and in a
// virtual machine it leaves the guest to be brought and to be set again, 12 µs each time on the
// host that this was measured on; caches are refilled then.
const hiddenSeconds = 30e-6

// giveInterrupted gives a ticker that interrupts the program the growth of the functions that it
// was seen to interrupt, where that is no more than so many signals may hide.
func (l *ledger) giveInterrupted(rule transfer) {
	for _, c := range slices.Clone(l.claims) {
		if c.cause == TimerTicker {
			l.giveInterruptedBy(c, rule)
		}
	}
}

func (l *ledger) giveInterruptedBy(c *claim, rule transfer) {
	interrupted := map[string]bool{}
	for _, i := range c.members {
		frames, end := l.paths[i].Frames, l.traits[i].place+1
		if at := code.SignalHandler(frames); at >= 0 {
			end = 0
			for above, own := range code.Own(frames[:at]) {
				if own {
					end = above + 1
				}
			}
		}
		interrupted[prefix(frames[:end])] = true
	}
	rest := l.all(func(i int) bool {
		return l.free(i) && isRunning(&l.paths[i]) && interrupted[l.ownFunction(i)]
	})
	if grown := l.grew(rest); grown > 0 && grown <= l.countOf(countSignals).more()*hiddenSeconds {
		l.move(rule.rule, c, rest.members, rule.because)
	}
}
