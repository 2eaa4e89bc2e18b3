package cause

import (
	"testing"

	"culprit/recording"
)

const (
	deliver    = "arch_do_signal_or_restart;get_signal"
	interrupt  = work + ";k:asm_sysvec_apic_timer_interrupt;irqentry_exit_to_user_mode;" + deliver
	poke       = work + ";k:asm_sysvec_reschedule_ipi;irqentry_exit_to_user_mode;" + deliver
	way        = work + ";k:asm_sysvec_apic_timer_interrupt;irqentry_exit_to_user_mode"
	goBack     = work + ";libc.so.6!__restore_rt;k:entry_SYSCALL_64_after_hwframe;do_syscall_64;__x64_sys_rt_sigreturn"
	trampoline = work + ";libc.so.6!libc.so.6+0x3c04f;"
)

// handling is a program that works for 300 ms and handles signals meanwhile.
func handling(arrival string, handler float64, set, signals int64) plan {
	return plan{cpu: map[string]float64{work: 300, arrival: 40, goBack: 25, trampoline + "keep_time": handler},
		calls: map[string][2]int64{"setitimer": {set, 0}, "rt_sigreturn": {signals, 0}}}
}

// awaiting has a second thread that sleeps until the next of 3000 signals.
func awaiting(waker string) plan {
	const loop = "clone3;start_thread;refresh"
	const pause = loop + ";libc.so.6!pause;k:do_syscall_64;__x64_sys_pause"
	return plan{cpu: map[string]float64{work: 300, "t|" + pause: 60, "t|" + loop: 20},
		calls: map[string][2]int64{"setitimer": {1, 0}, "rt_sigreturn": {3000, 0}, "pause": {3000, 0}},
		waits: []wait{{tid: 101, count: 15, ms: 1, call: "pause", stack: pause, waker: waker, wakerTi: rootPid}}}
}

func TestTickersThatInterrupt(t *testing.T) {
	t.Parallel()
	quiet := plan{cpu: map[string]float64{work: 300}}
	grown := func(more float64) plan {
		p := handling(interrupt, 35, 1, 3000)
		p.cpu[work] += more
		return p
	}
	python := pyRun + "encode;n:python3!_PyErr_CheckSignalsTstate;p:keep_time"
	for _, one := range []situation{
		{name: "a ticker by SIGALRM", metric: "cpu", a: quiet, b: handling(interrupt, 35, 1, 3000),
			cause: "timer.ticker", place: "keep_time", low: 0.95, high: 1, level: Explains},
		{name: "a ticker whose signals the sampler sees on the way back alone", metric: "cpu", a: quiet,
			b: handling(way, 35, 1, 3000), cause: "timer.ticker", place: "keep_time", low: 0.95, high: 1, level: Explains},
		{name: "what it interrupts takes longer by what interrupts hide", metric: "cpu", a: quiet,
			b: grown(60), cause: "timer.ticker", place: "keep_time", low: 0.95, high: 1, level: Explains},
		{name: "what it interrupts takes longer by far more", metric: "cpu", a: quiet,
			b: grown(300), cause: "code.grew", place: "parse", low: 0.7, high: 0.8, level: Explains},
		{name: "the same for the wall time", metric: "wall", a: quiet, b: handling(interrupt, 35, 1, 3000),
			cause: "timer.ticker", place: "keep_time", low: 0.95, high: 1, level: Explains},
		{name: "a ticker by SIGALRM in Python", metric: "cpu", a: plan{cpu: map[string]float64{pyRun + "encode": 300}},
			b: plan{cpu: map[string]float64{pyRun + "encode": 300, python: 60, pyRun + "encode;k:" +
				"asm_sysvec_apic_timer_interrupt;irqentry_exit_to_user_mode;" + deliver: 20},
				calls: map[string][2]int64{"setitimer": {1, 0}, "rt_sigreturn": {3000, 0}}},
			cause: "timer.ticker", place: "keep_time", low: 0.95, high: 1, level: Explains},
		{name: "a thread that sleeps until there is a signal", metric: "cpu", a: quiet,
			b: awaiting(recording.WakerTimer), cause: "timer.ticker", place: "refresh", low: 0.95, high: 1, level: Explains},
		{name: "the same signals from a neighbour", metric: "cpu", a: quiet, b: awaiting(recording.WakerThread),
			cause: "code.added", place: "refresh", low: 0.95, high: 1, level: Explains},
		{name: "a handler that takes longer at the same rate", metric: "cpu", a: handling(interrupt, 35, 1, 400),
			b: handling(interrupt, 160, 1, 530), cause: "code.grew", place: "keep_time", low: 0.9, high: 1, level: Explains},
		{name: "signals that somebody sends, and a timer for something else", metric: "cpu", a: quiet,
			b: handling(poke, 200, 1, 3000), cause: "code.grew", place: "keep_time", low: 0.7, high: 1, level: Explains},
		{name: "signals without a timer", metric: "cpu", a: quiet, b: handling(interrupt, 200, 0, 3000),
			cause: "code.grew", place: "keep_time", low: 0.7, high: 1, level: Explains},
	} {
		t.Run(one.name, func(t *testing.T) {
			checkFirst(t, one, judged(t, one.metric, one.a, one.b, one.costs))
		})
	}
}

// TestCallbacksAreNoHandlers: what a function of the C library calls back has that function above
// it.
func TestCallbacksAreNoHandlers(t *testing.T) {
	sorted := plan{cpu: map[string]float64{work: 300, work + ";libc.so.6!qsort_r;libc.so.6+0x41f00();by_key": 90}}
	sorted.calls = map[string][2]int64{"setitimer": {1, 0}, "rt_sigreturn": {3000, 0}}
	suspects := judged(t, "cpu", plan{cpu: map[string]float64{work: 300}}, sorted, Costs{})
	if len(suspects) == 0 || suspects[0].Cause != "code.added" {
		t.Error(described(suspects))
	}
}
