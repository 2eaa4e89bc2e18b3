package cause

// chanceSituations are lines that look shared and are not what costs.
func chanceSituations() []situation {
	const own = "clone3;start_thread;count"
	const touch = ";k:asm_exc_page_fault;exc_page_fault;do_user_addr_fault;handle_mm_fault;do_anonymous_page"
	before := map[string]float64{work: 200, "w|" + own: 200}
	shared := []line{{0, rootPid, true, work, 0}, {8, 101, true, own, 0}}
	oneWord := []line{{0, rootPid, true, work, 0}, {0, 101, true, own, 0}}
	return []situation{
		// Each thread maps, touches and unmaps its own memory, which the kernel gives to the other
		// one next: 27 samples a run were in the same lines where it was seen.
		{name: "memory that is mapped in one thread after the other", metric: "cpu",
			a: plan{cpu: before, faults: 100},
			b: plan{cpu: map[string]float64{work: 220, "w|" + own: 220, work + touch: 150, "w|" + own + touch: 150,
				"_start;main;serve;page_done;libc.so.6!munmap;k:__x64_sys_munmap;unmap_page_range": 20},
				calls: map[string][2]int64{"munmap": {12000, 0}}, faults: 90000, lines: shared, lineSamples: 50, onCPUs: 2},
			cause: "memory.faults", place: "mapped or returned in main;serve;page_done", low: 0.8, high: 0.95,
			level: Explains},
		{name: "a line that is shared in code that does more", metric: "cpu", a: plan{cpu: before},
			b:     plan{cpu: map[string]float64{work: 350, "w|" + own: 350}, lines: shared, lineSamples: 50, onCPUs: 2},
			cause: "code.grew", place: "parse|count", low: 0.45, high: 1, level: Explains},
		// Faults in the code that fights for a line are none of the line's.
		{name: "a line that is fought for beside page faults", metric: "cpu",
			a: plan{cpu: before, faults: 100},
			b: plan{cpu: map[string]float64{work: 350, "w|" + own: 350, work + touch: 50, "w|" + own + touch: 50},
				calls: map[string][2]int64{"munmap": {12000, 0}}, faults: 90000, lines: shared, onCPUs: 2},
			cause: "line.false-sharing", place: "parse|count", low: 0.7, high: 0.8, level: Explains},
		{name: "lines that one thread has after the other, in code that does more", metric: "cpu", a: plan{cpu: before},
			b:     plan{cpu: map[string]float64{work: 350, "w|" + own: 350}, lines: shared, metByChance: 30, onCPUs: 2},
			cause: "code.grew", place: "parse|count", low: 0.45, high: 1, level: Explains},
		// Compiled code takes a monitor of Java in the midst of a method: its own word tells the
		// lock.
		{name: "the word of a monitor of Java", metric: "cpu", a: plan{cpu: before},
			b: plan{cpu: map[string]float64{work: 350, "w|" + own: 350}, lines: oneWord, onCPUs: 2,
				lineName: "monitor of java.util.Collections$SynchronizedMap"},
			cause: "lock.contended", place: "monitor of java.util.Collections", low: 0.9, high: 1, level: Explains},
		{name: "a word that no lock guards, in the same code", metric: "cpu", a: plan{cpu: before},
			b: plan{cpu: map[string]float64{work: 350, "w|" + own: 350}, lines: oneWord, onCPUs: 2,
				lineName: "java.util.concurrent.atomic.AtomicLong"},
			cause: "line.true-sharing", place: "parse|count", low: 0.9, high: 1, level: Explains},
		{name: "lines that threads fight for, in the same code", metric: "cpu", a: plan{cpu: before},
			b:     plan{cpu: map[string]float64{work: 350, "w|" + own: 350}, lines: shared, onCPUs: 2},
			cause: "line.false-sharing", place: "parse|count", low: 0.9, high: 1, level: Explains},
	}
}
