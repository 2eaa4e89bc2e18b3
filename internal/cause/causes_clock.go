package cause

// Causes of reading the time, and what recognises them.
const (
	ClockSlowSource   ID = "clock.slow-source"
	ClockVDSOBypassed ID = "clock.vdso-bypassed"
	ClockReadOften    ID = "clock.read-often"

	ruleClock Rule = "clock reads"
)

func clockSlowSource() Cause {
	return Cause{ID: ClockSlowSource,
		Claim: "reading the time is expensive because the kernel's clock source is not the fastest one " +
			"available here",
		Example: "a rate limiter asks for the time at each request; on kvm-clock it took 1.15 times " +
			"the CPU time of tsc, all of it below clock reads; with hpet or acpi_pm a read costs 6 to 8 " +
			"times as much (clock-slow-c)",
		Evidence: "the available clock sources and the one that was in force for most of a run; CPU " +
			"time under functions that read the time; measured ns per read of each source",
		Proof: "flip clocksource: the program sets each available source in randomised trials and puts " +
			"the old one back; not where the commands set it themselves",
		Flips: []Flip{{Way: BySetting, What: "clocksource", Exact: true, Text: "flip clocksource"}},
		Remedy: "measure each source here, then switch to the fastest: current_clocksource in " +
			"/sys/devices/system/clocksource/clocksource0, or clocksource= on the kernel command line",
		Gain: "the fast clock source stays in force: a boot, or a kernel that distrusts it, may change " +
			"it",
		MistakenAs: "a tracer of system calls: with a source that the vDSO cannot serve each read " +
			"becomes a system call; clock.read-often, on a fast source or on the same slow one on both " +
			"sides",
	}
}

func clockVDSOBypassed() Cause {
	return Cause{ID: ClockVDSOBypassed,
		Claim: "the program reads the time by a real system call although the vDSO would serve it",
		Example: "a meter calls syscall(SYS_clock_gettime) for each record: 7.9 times the CPU time, " +
			"and number of calls × (system call − vDSO) gives 95 % of it (clock-raw-rust)",
		Evidence: "clock_gettime, gettimeofday or time seen as system calls; their number × (system " +
			"call − vDSO) matches the loss",
		Proof: "none: predicted by count × measured cost",
		Remedy: "call clock_gettime through the C library instead of syscall(); run without what " +
			"disables the vDSO (vdso=0, a sandbox, a static loader)",
		Gain: "the vDSO serves the time: a sandbox, a static loader or vdso=0 would take that away " +
			"again",
		MistakenAs: "a slow clock source that the vDSO cannot serve; CPU-time clocks always need the " +
			"kernel",
	}
}

func clockReadOften() Cause {
	return Cause{ID: ClockReadOften, Nature: ofCode | doneMore,
		Claim: "the time is read far more often per unit of work than before",
		Alone: "the time is read very often",
		Example: "a deadline that was checked once in a thousand records is checked at each one: 1.8 " +
			"times the CPU time, below deadline_passed (clock-often-c)",
		Evidence: "CPU time under vDSO and time functions, by call site",
		Proof:    attributionOnly,
		Remedy: "read the time once per unit of work and pass it on; use a coarse clock where " +
			"milliseconds do",
		Gain:       "callers do with the time that was read once; see that none needs a fresher one",
		MistakenAs: "clock.slow-source: there the number of reads is the same and each is dearer",
		Recognise:  []recogniser{{ruleClock, findClock, []deference{noCPU, watched, child}}},
	}
}
