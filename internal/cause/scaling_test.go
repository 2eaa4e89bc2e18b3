package cause

import (
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/differs"
	"culprit/recording"
)

// update is what grows when two threads do it at once.
const update = "_start;main;run;update"

// grownOnMore is a pair of sides, and what is to be said of it.
type grownOnMore struct {
	name  string
	a, b  plan
	with  func(*Input)
	want  ID
	tests ID
	says  string
}

// B has two threads where A has one, and takes more CPU time. Only what tells that the work is the
// same makes it contention: more work, another input and another build look alike without.
func TestMoreCPUsLessPerCPU(t *testing.T) {
	one := plan{cpu: map[string]float64{work: 200, update: 200}}
	two := plan{cpu: map[string]float64{work: 100, update: 200, "second|" + work: 100, "second|" + update: 200}}
	const sys = ";k:entry_SYSCALL_64;do_syscall_64;"
	spin, calls := update+";libc.so.6!pthread_spin_lock", update+";libc.so.6!lseek"+sys+"__x64_sys_lseek"
	locked := two
	locked.cpu = map[string]float64{work: 100, "second|" + work: 100, spin: 200, "second|" + spin: 200}
	called := func(p plan, ms float64, count, bytes int64) plan {
		p.cpu = map[string]float64{work: 200, calls: ms}
		if ms > 200 {
			p.cpu = map[string]float64{work: 100, "second|" + work: 100, calls: ms / 2, "second|" + calls: ms / 2}
		}
		p.calls = map[string][2]int64{"lseek": {count, bytes}}
		return p
	}
	kernel := func(p plan, function string) plan {
		p.cpu = map[string]float64{work: 100, "second|" + work: 100, calls + ";" + function: 200,
			"second|" + calls + ";" + function: 200}
		p.calls = map[string][2]int64{"lseek": {9000, 0}}
		return p
	}
	for _, test := range []grownOnMore{
		{"nothing tells how much work it was", one, two, nil, CodeGrew, CPUContended, ""},
		{"as many instructions", one, two, func(in *Input) {
			*in = withCounters(*in, counted{"instructions": 2e9, "cycles": 1e9}, counted{"instructions": 2.1e9, "cycles": 2e9})
		}, CPUContended, "", "times as many instructions"},
		{"misses", one, two, func(in *Input) {
			*in = withCounters(*in, counted{"instructions": 2e9, "cycles": 1e9, "cache-misses": 1e6},
				counted{"instructions": 2e9, "cycles": 2e9, "cache-misses": 2e7})
		}, CacheMisses, "", "CPUs that it ran on at once"},
		{"more work for more threads", one, two, func(in *Input) {
			*in = withCounters(*in, counted{"instructions": 2e9, "cycles": 1e9}, counted{"instructions": 3.2e9, "cycles": 1.6e9})
		}, CodeGrew, "", "more instructions"},
		{"the same command, which may do more for a reason that is not seen", one, two, func(in *Input) {
			in.CommandA, in.CommandB = "/srv/prog", "/srv/prog"
		}, CodeGrew, CPUContended, ""},
		{"as many calls, for more bytes", called(one, 200, 9000, 1<<20), called(two, 400, 9000, 1<<22), nil, CodeGrew,
			CPUContended, ""},
		{"another build", one, two, func(in *Input) {
			in.Differs = []differs.Difference{{Kind: differs.Binary, Of: recording.DependencyProgram,
				Name: "prog", A: "1", B: "2", Evidence: recording.SeenMapped}}
		}, CodeGrew, "", ""},
		{"another input, as many threads", two, plan{cpu: map[string]float64{work: 100, "second|" + work: 100, update: 400,
			"second|" + update: 400}}, nil, CodeGrew, "", ""},
		{"spins for a lock", one, locked, nil, LockContended, "", "grew far more"},
		{"calls that each take longer", called(one, 200, 9000, 0), called(two, 400, 9000, 0), nil, CPUContended, "",
			"each take longer in the kernel"},
		{"waits for other CPUs", called(one, 200, 9000, 0),
			kernel(two, "_raw_spin_lock;native_queued_spin_lock_slowpath"), nil, CPUContended, "",
			"waiting for other CPUs within the kernel"},
	} {
		t.Run(test.name, test.hold)
	}
}

// hold judges the pair: what --why tells of the rule as well.
func (test *grownOnMore) hold(t *testing.T) {
	in := inputOf(t, compare.MetricCPU, test.a, test.b, Costs{})
	if test.with != nil {
		test.with(&in)
	}
	judged := Judge(in)
	holdToModel(t, judged)
	if len(judged.Suspects) == 0 || judged.Suspects[0].Cause != test.want || judged.Suspects[0].Tests != test.tests {
		t.Fatalf("suspects %s, which trials may make %+v; want %s", described(judged.Suspects), judged.Suspects, test.want)
	}
	said := ""
	for _, evidence := range judged.Suspects[0].Evidence {
		said += evidence.Text + "\n"
	}
	if !strings.Contains(said, test.says) {
		t.Errorf("it says %q", said)
	}
	told := false
	for _, entry := range judged.Why.Entries {
		told = told || entry.Rule == ruleMoreCPUs
	}
	if want := !strings.HasPrefix(test.name, "another input"); told != want {
		t.Errorf("--why tells the rule: %v, want %v: %+v", told, want, judged.Why.Entries)
	}
}

// The same command with the same threads on other CPUs is the same work. With more threads it may
// be more.
func TestTheSameThreadsOnMoreCPUs(t *testing.T) {
	on := func(cpus string) map[string]string { return map[string]string{affinityFact: cpus, "cpu.count": "2"} }
	narrow := plan{command: "/srv/prog 9", facts: on("0"), cpu: map[string]float64{work: 100, update: 100,
		"second|" + work: 100, "second|" + update: 100},
		waits: []wait{{count: 20, ms: 10, stack: "_start;main;run", waker: recording.WakerNone}}}
	wide := plan{command: "/srv/prog 9", facts: on("0-1"), onCPUs: 2, cpu: map[string]float64{work: 100, update: 200,
		"second|" + work: 100, "second|" + update: 200}}
	more := wide
	more.cpu = merged(wide.cpu, map[string]float64{"thirds|" + update: 200})
	for name, test := range map[string]struct {
		b    plan
		want ID
	}{"as many": {wide, CPUContended}, "one more": {more, ConfigDiffers}} {
		suspects := judged(t, compare.MetricCPU, narrow, test.b, Costs{})
		if len(suspects) == 0 || suspects[0].Cause != test.want {
			t.Errorf("%s threads: %s, want %s", name, described(suspects), test.want)
		}
	}
}

// Trials on one CPU say what a suspect is that nothing else told.
func TestSuspectTurnsOut(t *testing.T) {
	for verdict, want := range map[Level]ID{Proven: CPUContended, Refuted: CodeGrew, "undecided": CodeGrew} {
		s := Suspect{Cause: CodeGrew, Tests: CPUContended, Level: Explains, Doubts: []Doubt{{DoubtMoreCPUs, "more"}}}
		s.TurnOut(&Proof{Verdict: string(verdict), Effect: Effect{Ratio: 0.5}})
		doubts := 0
		if verdict == "undecided" {
			doubts = 1
		}
		if s.Cause != want || s.Tests != "" || len(s.Doubts) != doubts || len(s.Evidence) != 1 ||
			(s.Level == Proven) != (verdict == Proven) || (s.Proof != nil) != (verdict == Proven) {
			t.Errorf("%s: %+v", verdict, s)
		}
	}
}
