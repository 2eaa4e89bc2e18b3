package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/differs"
	"culprit/internal/compare/lines"
	"culprit/internal/investigate"
	"culprit/internal/trial"
	"culprit/recording"
)

// hostileNames are names as a program under test could choose them.
func hostileNames() []string {
	return []string{
		`<script>alert(1)</script>`,
		`</script><img src=x onerror="document.title='pwned'">`,
		"rtl\u202egnp.exe\u2066\u200f",
		strings.Repeat("VeryLongName", 850),
		"nul\x00and\x1b[31mescape\x1b]0;title\x07",
		"line\nbreak\ttab\r",
		"bad\xff\xfeutf8",
		"zalgo" + strings.Repeat("\u0301", 50),
		`"><svg/onload=alert(2)>`,
		"名前は日本語です",
		"${7*7}{{7*7}}`'\"\\",
	}
}

func worseCase() *investigate.Case {
	wall := investigate.Metric{Name: trial.MetricWall, Unit: "s", Better: "lower"}
	cpu := investigate.Metric{Name: trial.MetricCPU, Unit: "s", Better: "lower"}
	effect := cause.Effect{Ratio: 1.352, Low: 1.31, High: 1.383, Confidence: 0.95}
	unseen := []recording.BlindSpot{{Kind: recording.BlindCounters}, {Kind: recording.BlindInterrupts},
		{Kind: recording.BlindProbe, What: "cachelines", Why: "this CPU has no debug registers"}}
	return &investigate.Case{
		Schema: investigate.CaseSchema, Outcome: investigate.Worse, Metric: wall,
		A:      investigate.SideSummary{Command: "./server --requests 20000 --clock vdso", Median: 1.02, Trials: 12},
		B:      &investigate.SideSummary{Command: "./server --requests 20000 --clock raw", Median: 1.379, Trials: 12},
		Effect: &effect,
		Metrics: []investigate.MetricResult{
			{Metric: wall, Outcome: investigate.Worse, Effect: effect, MedianA: 1.02, MedianB: 1.379},
			{Metric: cpu, Outcome: investigate.Worse, MedianA: 0.99, MedianB: 1.32,
				Effect: cause.Effect{Ratio: 1.33, Low: 1.3, High: 1.36, Confidence: 0.95}},
		},
		Suspects: worded(vdsoSuspect(), tickerSuspect(), clockSuspect()),
		Unseen:   unseen, BlindSpots: recording.Words(unseen),
		Warnings:      []string{"the two commands read different files: check that they do the same work"},
		RecordingCost: &cause.Effect{Ratio: 1.004, Low: 0.998, High: 1.01, Confidence: 0.95},
		Recorder: investigate.RecorderCost{StartCPUS: 0.31, CPUS: 0.84,
			Losses: []recording.Loss{{What: "stacks that did not fit", Count: 12}}},
		Smallest: 0.02, Trials: sampleTrials(1.02, 1.379, 12), Excluded: 2,
		Items: sampleItems(), Settings: sampleSettings(), Facts: sampleFacts(), Differs: sampleDiffers(),
		Profile: sampleProfile(), Waits: sampleWaits(),
		Host: investigate.Host{Name: "bench-7", Kernel: "6.1.0-49-amd64", CPU: "Intel Xeon Platinum 8259CL", CPUs: 2,
			MemoryBytes: 8 << 30, Hypervisor: "kvm", ClockSource: "kvm-clock"},
		Seed: 8371204511982734112, ElapsedS: 41.2, Dir: "culprit-case-2026-11-20T11-28-02",
	}
}

func vdsoSuspect() cause.Suspect {
	return cause.Suspect{
		Cause: "clock.vdso-bypassed", Level: cause.Predicted,
		Share:   interval(0.93, 0.88, 0.97),
		Seconds: interval(0.334, 0.316, 0.348),
		Places: []cause.Place{
			{Kind: cause.InCode, Name: "main;serve;handle_request;stamp_now;syscall;clock_gettime"},
			{Kind: cause.InCode, Name: "main;serve;log_line;stamp_now"}},
		Claim: "server reads the time by a real system call 183,000 times a run although the vDSO " +
			"would serve it.",
		Evidence: []cause.Evidence{
			{Signal: "syscalls", Text: "clock_gettime as a system call", A: 0, B: 183000, Unit: "calls/run"},
			{Signal: "bench", Text: "one such call costs more than the vDSO's here", A: 41e-9, B: 1.87e-6, Unit: "s"},
			{Signal: "cpu", Text: "on-CPU time under entry_SYSCALL_64", A: 0.011, B: 0.342, Unit: "s"},
		},
		Prediction: &cause.Prediction{Operation: "clock read by a system call instead of the vDSO", Count: 183000,
			CostNs: interval(1830, 1790, 1900), Predicted: interval(0.335, 0.328, 0.348),
			Observed: interval(0.334, 0.316, 0.348), Agrees: true},
		Remedy: "Call clock_gettime of the C library instead of syscall(2), so that the vDSO serves it.",
	}
}

func tickerSuspect() cause.Suspect {
	return cause.Suspect{
		Cause: "timer.ticker", Level: cause.Explains, Share: interval(0.04, 0.01, 0.06),
		Seconds: interval(0.014, 0.004, 0.022),
		Places:  []cause.Place{{Kind: cause.InCode, Name: "clone;ticker_thread;nanosleep"}},
		Claim:   "A thread of server wakes every 1.0 ms whether or not there is work.",
		Evidence: []cause.Evidence{
			{Signal: "offcpu", Text: "wake-ups by a timer", A: 12, B: 1380, Unit: "wake-ups/run"}},
		Doubts: []cause.Doubt{
			{Kind: cause.DoubtRuns, Text: "the rate follows the load in two of five runs"}},
		Remedy: "Wake the thread only when there is work.",
	}
}

func clockSuspect() cause.Suspect {
	return cause.Suspect{
		Cause: "clock.slow-source", Level: cause.Refuted, Share: interval(0.02, -0.01, 0.05),
		Places: []cause.Place{{Kind: cause.InClock, Name: "kvm-clock"}},
		Claim:  "Reading the time is expensive since the clock source is kvm-clock.",
		Evidence: []cause.Evidence{{Signal: "facts", Setting: "clocksource.current",
			Text: "clocksource.current is kvm-clock, tsc is available"}},
		Proof: &cause.Proof{Knob: "clocksource", From: "kvm-clock", To: "tsc", Verdict: "refuted", Trials: 12,
			Effect: cause.Effect{Ratio: 0.998, Low: 0.985, High: 1.011, Confidence: 0.95}},
		Remedy: "Switch the clock source to tsc.", Knob: "clocksource",
	}
}

// lineCase is the worse case with a shared line as its suspect.
func lineCase() *investigate.Case {
	c := worseCase()
	user := func(name string, writes, reads, hits float64) lines.User {
		return lines.User{Name: name, Writes: writes, Reads: reads, Hits: hits}
	}
	c.Suspects = worded(cause.Suspect{Cause: cause.LineFalseSharing, Level: cause.Explains,
		Share: interval(0.97, 0.9, 1.04), Seconds: interval(0.334, 0.316, 0.348),
		Places: []cause.Place{{Kind: cause.InCode, Name: "work;note"},
			{Kind: cause.InLine, Name: "counts.bytes, counts.seen"}},
		Claim: "threads slow each other by touching different words of one cache line",
		Evidence: []cause.Evidence{{Signal: "lines", Text: "samples whose operand lies in the line", A: 0, B: 340,
			Unit: "samples/run"}},
		Remedy: "pad or align the fields that different threads write to 64 bytes",
		Price: &cause.Price{Verdict: cause.PriceCostly,
			Gain: cause.Effect{Ratio: 2.04, Low: 1.61, High: 2.5, Confidence: 0.95}},
		Line: &cause.SharedLine{Words: []lines.Word{
			{Offset: 0, Size: 8, Name: "counts.seen", Users: []lines.User{user("parse/7101", 140, 12, 4)}},
			{Offset: 8, Size: 8, Name: "counts.bytes", Users: []lines.User{user("parse/7101", 61, 0, 4)}},
			{Offset: 16, Size: 8, Name: "counts[1].seen", Apart: true, Users: []lines.User{user("parse/7102", 127, 0, 4),
				user("main/7100", 0, 1, 0)}}},
			Separate: []cause.Separation{{Language: "C", How: "_Alignas(64) on the struct"}}},
	})
	return c
}

// sampleTrials makes the trials of an investigation with the medians given.
func sampleTrials(a, b float64, pairs int) []trial.Run {
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 11, 20, 11, 28, 2, 0, time.UTC)
	var runs []trial.Run
	add := func(side, kind, level string, pair int, value float64) {
		wall := value * math.Exp(random.NormFloat64()*0.018)
		runs = append(runs, trial.Run{Side: side, Kind: kind, Level: level, Pair: pair, Order: len(runs) + 1,
			Start: start.Add(time.Duration(len(runs)) * time.Second), Valid: true,
			Metrics: map[string]float64{trial.MetricWall: wall, trial.MetricCPU: wall * 0.97}})
	}
	sides := func(kind string, count int, more float64) {
		for pair := range count {
			add("A", kind, "", pair, a*more)
			add("B", kind, "", pair, b*more)
		}
	}
	sides("warmup", 1, 1.1)
	sides("measure", pairs, 1)
	sides("evidence", 4, 1.004)
	for pair := range 6 {
		add("B", "proof", "clocksource=kvm-clock", pair, b)
		add("B", "proof", "clocksource=tsc", pair, b)
	}
	for i, place := range []int{5, 12} {
		if place < len(runs) && runs[place].Kind == "measure" {
			kind := []trial.ExclusionKind{trial.ExcludedSteal, trial.ExcludedOthers}[i]
			runs[place].Leave(trial.Exclusion{Kind: kind, Seconds: 0.3, UsualS: 0.01, Side: runs[place].Side})
			runs[place].Metrics[trial.MetricWall] *= 1.2
		}
	}
	return runs
}

func sampleItems() []investigate.Item {
	items := []investigate.Item{
		{Signal: "syscalls", Name: "clock_gettime", A: 0, B: 183000, Unit: "calls", Decided: true,
			Change: interval(183000, 182500, 183400), Share: interval(0.93, 0.88, 0.97)},
		{Signal: "cpu", Name: "main;serve;handle_request;stamp_now;syscall", A: 0.011, B: 0.342, Unit: "s",
			Decided: true,
			Change:  interval(0.331, 0.31, 0.35), Share: interval(0.92, 0.86, 0.97)},
		{Signal: "wait", Name: "clone;ticker_thread;nanosleep", A: 0.002, B: 0.016, Unit: "s", Decided: true,
			Change: interval(0.014, 0.004, 0.022), Share: interval(0.04, 0.01, 0.06)},
		{Signal: "cpu", Name: "main;serve;parse_request", A: 0.21, B: 0.19, Unit: "s", Decided: true,
			Change: interval(-0.02, -0.03, -0.01), Share: interval(-0.05, -0.08, -0.02)},
	}
	for i := range 30 {
		items = append(items, investigate.Item{Signal: "cpu", Name: fmt.Sprintf("main;serve;step_%d", i),
			A: 0.01, B: 0.0102, Unit: "s", Change: interval(0.0002, -0.001, 0.001)})
	}
	return items
}

func interval(value, low, high float64) compare.Interval {
	return compare.Interval{Value: value, Low: low, High: high}
}

func sampleSettings() []compare.FactChange {
	return []compare.FactChange{{Name: "target.seccomp", A: "0", B: "2", Source: "/proc/4711/status"},
		{Name: "env.MALLOC_ARENA_MAX", A: "", B: "1", Source: "/proc/4711/environ"}}
}

func sampleDiffers() []differs.Difference {
	return []differs.Difference{
		{Kind: differs.Dependency, Of: recording.DependencyPython, Name: "tablereader", A: "3.1.0", B: "3.2.0",
			PlaceA: "/opt/a/tablereader", PlaceB: "/opt/b/tablereader", Evidence: recording.SeenOpened, Through: 0.3,
			Grown: true},
		{Kind: differs.Setting, Name: "target.seccomp", A: "0", B: "2", PlaceA: "/proc/4711/status"},
		{Kind: differs.Variable, Name: "PYTHONPATH", A: "/opt/a", B: "/opt/b", Follows: "tablereader"},
	}
}

func sampleFacts() []recording.Fact {
	const clock = "/sys/devices/system/clocksource/clocksource0/"
	facts := []recording.Fact{
		{Name: "clocksource.current", Value: "kvm-clock", Source: clock + "current_clocksource"},
		{Name: "clocksource.available", Value: "kvm-clock tsc acpi_pm", Source: clock + "available_clocksource"},
		{Name: "vm.dirty_ratio", Value: "20", Source: "/proc/sys/vm/dirty_ratio"},
	}
	for i := range 40 {
		name := fmt.Sprintf("vm.setting_%d", i)
		facts = append(facts, recording.Fact{Name: name, Value: fmt.Sprint(i), Source: "/proc/sys/vm"})
	}
	return facts
}

// growth builds a profile in preorder.
type growth struct {
	nodes []compare.ProfileNode
}

func (g *growth) add(depth int, name string, kind recording.FrameKind, a, b float64, children func()) {
	place := len(g.nodes)
	g.nodes = append(g.nodes, compare.ProfileNode{Name: name, Kind: kind, Depth: depth, SelfA: a, SelfB: b})
	if children != nil {
		children()
	}
	sumA, sumB := 0.0, 0.0
	for _, node := range g.nodes[place:] {
		sumA, sumB = sumA+node.SelfA, sumB+node.SelfB
	}
	change := sumB - sumA
	spread := 0.012 + 0.02*math.Max(sumA, sumB)
	node := &g.nodes[place]
	node.Change, node.Low, node.High = change, change-spread, change+spread
	node.Decided = math.Abs(change) > spread
}

func sampleProfile() *compare.Profile {
	native, kernel, vdso := recording.KindNative, recording.KindKernel, recording.KindVDSO
	g := &growth{}
	stamp := func(depth int, a, b float64) {
		g.add(depth, "stamp_now", native, 0.004, 0.006, func() {
			g.add(depth+1, "clock_gettime@vdso", vdso, a, 0, nil)
			g.add(depth+1, "syscall", native, 0, b*0.1, func() {
				g.add(depth+2, "entry_SYSCALL_64_after_hwframe", kernel, 0, b*0.2, func() {
					g.add(depth+3, "do_syscall_64", kernel, 0, b*0.15, func() {
						g.add(depth+4, "__x64_sys_clock_gettime", kernel, 0, b*0.2, func() {
							g.add(depth+5, "pvclock_clocksource_read", kernel, 0, b*0.35, nil)
						})
					})
				})
			})
		})
	}
	g.add(0, "all", recording.KindOther, 0, 0, func() {
		g.add(1, "main", native, 0.01, 0.01, func() {
			g.add(2, "serve", native, 0.03, 0.031, func() {
				g.add(3, "handle_request", native, 0.12, 0.121, func() {
					stamp(4, 0.055, 0.29)
					g.add(4, "lookup", native, 0.2, 0.201, func() { g.add(5, "hash_bytes", native, 0.08, 0.079, nil) })
					g.add(4, "render", native, 0.1, 0.103, nil)
				})
				g.add(3, "parse_request", native, 0.21, 0.15, func() { g.add(4, "strtok_r", native, 0.05, 0.02, nil) })
				g.add(3, "log_line", native, 0.05, 0.051, func() { stamp(4, 0.015, 0.06) })
				for _, name := range hostileNames() {
					g.add(3, name, native, 0.008, 0.008, nil)
				}
			})
		})
		g.add(1, "clone", native, 0, 0, func() {
			g.add(2, "ticker_thread", native, 0.001, 0.018, nil)
			g.add(2, "old_cache_thread", native, 0.05, 0, func() { g.add(3, "expire", native, 0.03, 0, nil) })
		})
	})
	return &compare.Profile{Nodes: g.nodes}
}

func sampleWaits() *compare.Profile {
	g := &growth{}
	g.add(0, "all", recording.KindOther, 0, 0, func() {
		g.add(1, "main", recording.KindNative, 0, 0, func() {
			g.add(2, "read", recording.KindNative, 0, 0, func() {
				g.add(3, "ksys_read", recording.KindKernel, 0.2, 0.21, nil)
			})
		})
		g.add(1, "ticker_thread", recording.KindNative, 0, 0, func() {
			g.add(2, "nanosleep", recording.KindNative, 0.1, 0.6, nil)
		})
	})
	return &compare.Profile{Nodes: g.nodes}
}

// bigProfile makes a call tree of count nodes as a JVM makes them: deep, a few
// wide branches and very many small leaves.
func bigProfile(count int) *compare.Profile {
	random := rand.New(rand.NewPCG(3, 4))
	g := &growth{}
	name := func() string { return fmt.Sprintf("org.example.Class%d.method", random.IntN(8000)) }
	var branch func(depth, budget int)
	branch = func(depth, budget int) {
		for budget > 0 && len(g.nodes) < count {
			part := min(budget, 1+int(float64(budget)*random.Float64()*0.8))
			a, b := random.ExpFloat64()*1e-4, random.ExpFloat64()*1e-4
			node := len(g.nodes)
			g.nodes = append(g.nodes, compare.ProfileNode{Name: name(), Kind: recording.KindJVM, Depth: depth,
				SelfA: a, SelfB: b})
			if depth < 90 {
				branch(depth+1, part-1)
			}
			change := float64(part) * 1e-5 * random.NormFloat64()
			g.nodes[node].Change, g.nodes[node].Low, g.nodes[node].High = change, change-1e-4, change+1e-4
			g.nodes[node].Decided = math.Abs(change) > 1e-4
			budget -= part
		}
	}
	g.nodes = append(g.nodes, compare.ProfileNode{Name: "all"})
	branch(1, count-1)
	for len(g.nodes) < count {
		branch(1, count-len(g.nodes))
	}
	return &compare.Profile{Nodes: g.nodes}
}

// worded are suspects as cause.Judge returns them: with their places and doubts in words.
func worded(suspects ...cause.Suspect) []cause.Suspect {
	for i := range suspects {
		suspects[i].InWords()
	}
	return suspects
}
