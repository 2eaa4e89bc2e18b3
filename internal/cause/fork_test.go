package cause

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

const (
	starts   = "_start;main;serve;run_hook;start_child;libc.so.6!_Fork;k:__x64_sys_clone;kernel_clone;copy_process;"
	rewrites = "_start;main;serve;apply;k:asm_exc_page_fault;exc_page_fault;do_user_addr_fault;handle_mm_fault;"
)

// forkSituations are processes whose start copies the memory of a large parent.
func forkSituations() []situation {
	few := func(more map[string]float64) plan {
		return plan{cpu: merged(map[string]float64{work: 200}, more), children: 40, childMs: 1, childName: "hook"}
	}
	return []situation{
		{name: "as many processes, each with a copy of the memory map", metric: "cpu", a: few(nil),
			b: few(map[string]float64{starts + "copy_page_range": 150, starts + "dup_mm;vm_normal_page": 40,
				rewrites + "do_wp_page;wp_page_copy": 60}),
			cause: "process.short-lived", place: "start_child", low: 0.7, high: 0.8, level: Explains},
		{name: "writes after a fork", metric: "cpu", a: few(map[string]float64{starts + "wake_up_new_task": 5}),
			b: few(map[string]float64{starts + "copy_page_range": 15, rewrites + "do_wp_page;wp_page_copy": 60,
				rewrites + "do_wp_page;wp_page_reuse": 20, "_start;main;serve;apply;k:asm_exc_page_fault": 70}),
			cause: "memory.faults", place: "main;serve;apply", low: 0.85, high: 1, level: Explains},
		// Pages of a file are protected again when they were written out, as by msync.
		{name: "writes to a mapped file between two flushes", metric: "cpu", a: few(nil),
			b:     few(map[string]float64{rewrites + "do_wp_page;do_page_mkwrite": 40, rewrites + "do_wp_page": 50}),
			cause: "code.added", place: "main;serve;apply", low: 0.9, high: 1, level: Explains},
		{name: "more memory touched for the first time", metric: "cpu", a: few(nil),
			b: few(map[string]float64{rewrites + "do_wp_page;wp_page_copy": 10,
				rewrites + "do_anonymous_page;clear_page_erms": 90}),
			cause: "code.added", place: "main;serve;apply", low: 0.9, high: 1, level: Explains},
	}
}

// What writes fault for after a fork is told with who forked.
func TestWhoForked(t *testing.T) {
	for _, one := range forkSituations()[:2] {
		for _, suspect := range judged(t, one.metric, one.a, one.b, one.costs) {
			if suspect.Cause != "code.grew" && suspect.Remedy != forkedMapping {
				t.Errorf("%s: remedy of %s is %q", one.name, suspect.Cause, suspect.Remedy)
			}
			if suspect.Cause == "memory.faults" && (suspect.Claim != forkedClaim || len(suspect.Where) < 2 ||
				suspect.Where[1] != "forked in main;serve;run_hook;start_child") {
				t.Errorf("%s: %s at %q", one.name, suspect.Cause, suspect.Where)
			}
		}
	}
}

// As many processes that do more themselves are no matter of starting them, though some of their
// time has no stack.
func TestBusierProcesses(t *testing.T) {
	few := plan{cpu: map[string]float64{work: 200, starts + "copy_page_range": 10}, children: 40, childMs: 1,
		childName: "hook"}
	busy := few
	busy.cpu, busy.childMs = map[string]float64{work: 200, starts + "copy_page_range": 12}, 4
	for _, suspect := range judged(t, "cpu", few, busy, Costs{}) {
		if suspect.Cause == "process.short-lived" {
			t.Errorf("%s: %s at %q", suspect.Cause, suspect.Claim, suspect.Where)
		}
	}
}

// A program that forks children of its own name has its own work, which is not theirs.
func TestOwnWorkBesideForks(t *testing.T) {
	path := func(function, parent string, short bool, b float64) compare.Path {
		return compare.Path{Kind: compare.Running, Process: "store", Parent: parent, Short: short, A: []float64{0},
			B: []float64{b}, Frames: []recording.Frame{{Name: "main"}, {Name: function}}}
	}
	in := Input{Result: &compare.Result{Metric: compare.MetricCPU, A: []float64{1}, B: []float64{2},
		Paths: []compare.Path{path("serve", "sh", false, 0.6), path("write_out", "store", true, 0.4)},
		Counts: []compare.Count{{Name: counts.Processes, A: []float64{1}, B: []float64{5}},
			{Name: counts.Processes, Key: "store", A: []float64{1}, B: []float64{5}}}}}
	claims := found(newScene(in), findShortLived)
	if len(claims) != 1 || len(claims[0].members) != 1 || claims[0].members[0] != 1 {
		t.Errorf("claims %+v, want one on what the children did", claims)
	}
}

// What short-lived workers share with the long-lived process that starts them is its work, which
// grew or was handed over. What they do alone, or when any such process starts, is theirs.
func TestWorkSharedWithForks(t *testing.T) {
	path := func(function, parent string, a, b float64) compare.Path {
		return compare.Path{Kind: compare.Running, Process: "store", Parent: parent, Short: parent == "store",
			A: []float64{a}, B: []float64{b}, Frames: []recording.Frame{{Name: "main", Kind: recording.KindNative},
				{Name: function, Kind: recording.KindNative}}}
	}
	for _, test := range []struct {
		name   string
		own    compare.Path // of the long-lived process
		theirs bool
	}{
		{"it scans as well", path("scan", "sh", 0, 0.2), false},
		{"it scanned before", path("scan", "sh", 0.5, 0.1), false},
		{"it does something else", path("plan", "sh", 0, 0.2), true},
		{"it did so as often", path("scan", "sh", 0.2, 0.21), true},
	} {
		in := Input{Result: &compare.Result{Metric: compare.MetricCPU, A: []float64{1}, B: []float64{2},
			Paths: []compare.Path{test.own, path("scan", "store", 0, 0.6), path("start_up", "store", 0, 0.2)},
			Counts: []compare.Count{{Name: counts.Processes, A: []float64{1}, B: []float64{5}},
				{Name: counts.Processes, Key: "store", A: []float64{1}, B: []float64{5}}}}}
		claims := found(newScene(in), findShortLived)
		if want := map[bool]int{false: 1, true: 2}[test.theirs]; len(claims) != 1 || len(claims[0].members) != want {
			t.Errorf("%s: %+v, want %d paths of the children", test.name, claims, want)
		}
	}
}
