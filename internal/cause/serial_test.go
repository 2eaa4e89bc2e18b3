package cause

// Work that runs beside what the end waits for on one side, and not on the other.
func serialSituations() []situation {
	const solve, parse = "_start;main;solve", "_start;main;parse"
	spread := func(own, beside float64) map[string]float64 {
		return map[string]float64{work: 20, solve: own, "worker|_start;main;solve": beside}
	}
	return []situation{
		{name: "one thread does what two did", metric: "wall", a: plan{cpu: spread(300, 300), onCPUs: 2},
			b: plan{cpu: map[string]float64{work: 20, solve: 600}, onCPUs: 2}, cause: "cpu.serial", place: "solve", low: 0.9,
			high: 1, level: Explains},
		{name: "one thread has more to do", metric: "wall", a: plan{cpu: spread(300, 300), onCPUs: 2},
			b:     plan{cpu: merged(spread(300, 300), map[string]float64{parse: 300}), onCPUs: 2},
			cause: "code.grew", place: "parse", low: 0.9, high: 1, level: Explains},
		{name: "a sleep, and as little more code on the way as chance makes it", metric: "wall",
			a: plan{cpu: spread(300, 300), onCPUs: 2},
			b: plan{cpu: spread(320, 280), onCPUs: 2, waits: []wait{{count: 10, ms: 30, call: "nanosleep",
				stack: "_start;main;back_off;" + nap, waker: "timer"}}},
			cause: "sleep.deliberate", place: "back_off", low: 0.85, high: 1, level: Explains},
		{name: "a sleep beside the same work", metric: "wall", a: plan{cpu: spread(300, 300), onCPUs: 2},
			b: plan{cpu: spread(300, 300), onCPUs: 2, waits: []wait{{count: 10, ms: 30, call: "nanosleep",
				stack: "_start;main;back_off;" + nap, waker: "timer"}}},
			cause: "sleep.deliberate", place: "back_off", low: 0.9, high: 1, level: Explains},
	}
}
