package cause

import (
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/differs"
	"culprit/recording"
)

const tables = "tables 3.1.0 → 3.2.0"

// python is a stack of Python functions: those that begin with "tables." are of a library.
func python(changed string, names ...string) (stack []recording.Frame) {
	for _, name := range names {
		frame := recording.Frame{Name: name, Kind: recording.KindPython, File: "/srv/report.py"}
		if strings.HasPrefix(name, "tables.") {
			frame.File = "/usr/lib/python3/dist-packages/tables/sheet.py"
			frame.Changed = changed
		}
		stack = append(stack, frame)
	}
	return stack
}

func running(frames []recording.Frame, a, b float64) compare.Path {
	return compare.Path{Kind: compare.Running, Process: "python3", Comm: "python3", Frames: frames,
		A: three(a), B: three(b)}
}

// A function of a library is the place where the sides run different versions of it, and the
// program's call into it is told; where they run the same the program's function is.
func TestPlaceIsInTheDependencyThatChanged(t *testing.T) {
	for _, changed := range []string{tables, ""} {
		result := &compare.Result{Metric: compare.MetricCPU, Unit: "s", A: three(1), B: three(2), Paths: []compare.Path{
			running(python(changed, "main", "build", "tables.load", "tables.cells"), 0.5, 1.5),
			running(python(changed, "main", "write"), 0.5, 0.5)}}
		suspects := Judge(Input{Result: result}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != CodeGrew {
			t.Fatalf("changed %q: %s", changed, described(suspects))
		}
		first := suspects[0]
		if changed == "" {
			if first.Where[0] != "main;build" || slices.ContainsFunc(first.Places, func(p Place) bool {
				return p.Kind == InDependency
			}) {
				t.Errorf("the same version: at %q", first.Where)
			}
			continue
		}
		want := []Place{{Kind: InCode, Name: "main;build;tables.load;tables.cells"}, {Kind: InDependency, Name: tables},
			{Kind: InCode, Role: CalledFrom, Name: "build (report.py)"}}
		if !slices.Equal(first.Places[:min(3, len(first.Places))], want) || !strings.HasPrefix(first.Claim, "in "+tables) {
			t.Errorf("another version: %q at %q", first.Claim, first.Where)
		}
	}
}

// locking is a program that takes locks for longer on side B and waits for them for so many
// seconds.
func locking(waitedA, waitedB float64) *compare.Result {
	frames := []recording.Frame{{Name: "main", Kind: recording.KindNative, Module: "prog"},
		{Name: "look_up", Kind: recording.KindNative, Module: "prog"},
		{Name: "pthread_mutex_lock", Kind: recording.KindNative, Module: "libc.so.6"}}
	taking := compare.Path{Kind: compare.Running, Process: "prog", Frames: frames, A: three(0.1), B: three(0.9)}
	waiting := taking
	waiting.Kind, waiting.Syscall, waiting.Lock, waiting.WakerKind = compare.Blocked, "futex", true, recording.WakerThread
	waiting.A, waiting.B = three(waitedA), three(waitedB)
	return &compare.Result{Metric: compare.MetricCPU, Unit: "s", A: three(1), B: three(1.8), Paths: []compare.Path{taking},
		Waits: []compare.Wait{{Path: waiting, CountA: three(40), CountB: three(44)}}}
}

// Taking a lock costs CPU time also where nobody waits for it: that is code.
func TestALockIsContendedWhereThreadsWaitLonger(t *testing.T) {
	for _, test := range []struct {
		a, b float64
		want ID
	}{{0.02, 0.02, CodeGrew}, {0.02, 0.03, CodeGrew}, {0.02, 0.9, LockContended}} {
		suspects := Judge(Input{Result: locking(test.a, test.b)}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != test.want {
			t.Errorf("waited %g against %g s: %s, want %s", test.a, test.b, described(suspects), test.want)
		}
	}
}

// What threads do to each other stands behind a variable that is the only difference, and before it
// where the program differs as well.
func TestOnlyDifferenceStandsFirst(t *testing.T) {
	for _, other := range []bool{false, true} {
		result := locking(0.02, 0.9)
		work := result.Paths[0]
		work.Frames, work.A, work.B = python("", "main", "sum_up"), three(0.4), three(0.6)
		result.B = three(2)
		result.Paths = append(result.Paths, work)
		result.Facts = []compare.FactChange{{Name: "target.environment.MALLOC_ARENA_MAX", B: "1"}}
		in := Input{Result: result, CommandA: "prog", CommandB: "prog"}
		want := ConfigDiffers
		if other {
			in.Differs = []differs.Difference{{Kind: differs.Binary, Of: recording.DependencyProgram, Name: "prog",
				A: "1", B: "2", Evidence: recording.SeenMapped}}
			want = LockContended
		}
		if suspects := Judge(in).Suspects; len(suspects) == 0 || suspects[0].Cause != want {
			t.Errorf("another program %v: %s, want %s first", other, described(suspects), want)
		}
	}
}

// Trials whose sides differ in one setting alone flipped it at random: where the few recorded runs
// scatter too much to show anything, the change is that setting's doing all the same.
func TestTrialsFlipTheOnlySetting(t *testing.T) {
	tunable := compare.FactChange{Name: "target.environment.GLIBC_TUNABLES", B: "glibc.malloc.tcache_count=0"}
	other := compare.FactChange{Name: "target.environment.MALLOC_ARENA_MAX", B: "1"}
	for _, test := range []struct {
		change   compare.Interval
		facts    []compare.FactChange
		explains bool
	}{
		{compare.Interval{Value: 0.2, Low: 0.1, High: 0.3}, []compare.FactChange{tunable}, true},
		{compare.Interval{Value: 0.2, Low: -0.1, High: 0.5}, []compare.FactChange{tunable}, false},
		{compare.Interval{Value: 0.2, Low: 0.1, High: 0.3}, []compare.FactChange{tunable, other}, false},
		{compare.Interval{Value: 0.2, Low: 0.1, High: 0.3}, nil, false},
	} {
		scattered := running(python("", "main", "sum_up"), 0, 0)
		scattered.A, scattered.B = []float64{0.7, 1.4, 1, 1.3, 0.8}, []float64{1.5, 0.8, 1.1, 0.9, 1.4}
		result := &compare.Result{Metric: compare.MetricCPU, Unit: "s", A: []float64{1.5, 1.1, 1.3, 1.2, 1.4},
			B: []float64{1.4, 1.5, 1.3, 1.6, 1.2}, Paths: []compare.Path{scattered}, Facts: test.facts}
		suspects := Judge(Input{Result: result, CommandA: "prog", CommandB: "prog", MeasuredChange: test.change,
			MeasuredChangeKnown: true}).Suspects
		explains := len(suspects) > 0 && suspects[0].Cause == ConfigDiffers && suspects[0].Level == Explains
		if explains != test.explains {
			t.Errorf("%+v with %v: %s; want explained by the setting %v", test.change, test.facts, described(suspects),
				test.explains)
		}
	}
}

// Page faults that are most of a growth are the cause, those that are less belong to their
// function.
func TestFaultsThatAreMostOfAGrowth(t *testing.T) {
	frames := []recording.Frame{{Name: "main", Kind: recording.KindNative, Module: "prog"},
		{Name: "fill", Kind: recording.KindNative, Module: "prog"},
		{Name: "asm_exc_page_fault", Kind: recording.KindKernel}, {Name: "clear_page_erms", Kind: recording.KindKernel}}
	for _, test := range []struct {
		faults, code float64
		want         ID
	}{{0.8, 0.2, MemoryFaults}, {0.3, 0.7, CodeGrew}} {
		faults, code := running(frames, 0.1, 0.1+test.faults), running(frames[:2], 0.5, 0.5+test.code)
		result := &compare.Result{Metric: compare.MetricCPU, Unit: "s", A: three(1), B: three(2),
			Paths: []compare.Path{faults, code}, Counts: []compare.Count{
				{Name: "metric.minor_faults", A: three(9000), B: three(90000)},
				{Name: "metric.memory", A: three(4e8), B: three(4e8)}}}
		suspects := Judge(Input{Result: result}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != test.want {
			t.Errorf("%g s of faults beside %g s: %s, want %s", test.faults, test.code, described(suspects), test.want)
		}
	}
}

// What was chosen differently is a place of each suspect where nothing else differs.
func TestOnlyOptionIsNamed(t *testing.T) {
	option := differs.Difference{Kind: differs.Option, Name: "the command’s", A: "-cache", B: "-nocache"}
	program := differs.Difference{Kind: differs.Binary, Of: recording.DependencyProgram, Name: "prog", A: "1", B: "2",
		Evidence: recording.SeenMapped}
	for _, test := range []struct {
		differs []differs.Difference
		want    bool
	}{{[]differs.Difference{option}, true}, {[]differs.Difference{option, program}, false}} {
		result := &compare.Result{Metric: compare.MetricCPU, Unit: "s", A: three(1), B: three(2), Paths: []compare.Path{
			running(python("", "main", "build"), 0.5, 1.5), running(python("", "main", "write"), 0.5, 0.5)}}
		suspects := Judge(Input{Result: result, Differs: test.differs}).Suspects
		if len(suspects) == 0 {
			t.Fatal("no suspect")
		}
		named := slices.Contains(suspects[0].Places, Place{Kind: InOptions, Name: "-nocache"})
		if named != test.want || suspects[0].Where[0] != "main;build" {
			t.Errorf("%d differences: at %q", len(test.differs), suspects[0].Where)
		}
	}
}

// A function that has its work done by a library that came with the new version was not slowed: the
// library is what was added. Where the function itself grew, it is that.
func TestWhatCameWithAVersion(t *testing.T) {
	const clusters = "clusters 0.1 (only B)"
	for _, own := range []float64{0, 0.6} {
		came := func(name string) []recording.Frame {
			stack := python(tables, "main", "tables.width", name)
			stack[2].File, stack[2].Changed = "/usr/lib/python3/dist-packages/clusters/c.py", clusters
			return stack
		}
		result := &compare.Result{Metric: compare.MetricCPU, Unit: "s", A: three(0.2), B: three(1.2 + own),
			Paths: []compare.Path{running(python(tables, "main", "tables.width"), 0.2, 0.2+own),
				running(came("next"), 0, 0.5), running(came("split"), 0, 0.5)}}
		suspects := Judge(Input{Result: result}).Suspects
		want := CodeAdded
		if own > 0 {
			want = CodeGrew
		}
		if len(suspects) == 0 || suspects[0].Cause != want || suspects[0].Where[0] != "main;tables.width" {
			t.Fatalf("own %g: %s, want %s", own, described(suspects), want)
		}
		named := slices.Contains(suspects[0].Places, Place{Kind: InDependency, Name: clusters})
		if named != (own == 0) {
			t.Errorf("own %g: at %q", own, suspects[0].Where)
		}
	}
}

// A function of another version that is not compiled yet is other code; one that is the same on
// both sides, and was compiled on the other, is cold.
func TestInterpretedCodeOfAnotherVersionIsNotCold(t *testing.T) {
	for _, changed := range []string{tables, ""} {
		stack := []recording.Frame{
			{Name: "<module>", Kind: recording.KindNode, File: "/srv/main.js"},
			{Name: "each", Kind: recording.KindNode, File: "/srv/node_modules/tables/each.js", Changed: changed}}
		if changed == "" {
			stack[1].File = "/srv/each.js"
		}
		handler := append(slices.Clone(stack), recording.Frame{Name: "Builtins_InterpreterEntryTrampoline",
			Kind: recording.KindNative, Module: "node"})
		result := &compare.Result{Metric: compare.MetricCPU, Unit: "s", A: three(1), B: three(2), Paths: []compare.Path{
			running(stack, 0.9, 0.2), running(handler, 0.1, 1.8)}}
		want := RuntimeCold
		if changed != "" {
			want = CodeGrew
		}
		if suspects := Judge(Input{Result: result, CPU: result}).Suspects; len(suspects) == 0 || suspects[0].Cause != want {
			t.Errorf("changed %q: %s, want %s", changed, described(suspects), want)
		}
	}
}

// Of a version that adds a function the function is the place, also beside smaller ones that grew
// with it; without another version what both sides run is.
func TestNewFunctionOfAnotherVersion(t *testing.T) {
	for _, changed := range []string{tables, ""} {
		result := &compare.Result{Metric: compare.MetricCPU, Unit: "s", A: three(1), B: three(2), Paths: []compare.Path{
			running(python(changed, "main", "build", "tables.load"), 0.5, 0.7),
			running(python(changed, "main", "build", "tables.load", "tables.find"), 0, 0.8),
			running(python(changed, "main", "write"), 0.5, 0.5)}}
		want, place := CodeAdded, "main;build;tables.load;tables.find"
		if changed == "" {
			want, place = CodeGrew, "main;build"
		}
		suspects := Judge(Input{Result: result}).Suspects
		if len(suspects) == 0 || suspects[0].Cause != want || suspects[0].Where[0] != place {
			t.Errorf("changed %q: %s, want %s at %s", changed, described(suspects), want, place)
		}
	}
}
