package compare_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/blame"
	"culprit/recording"
)

// tree makes paths from lines "A B stack": seconds on both sides, the same in three runs.
func tree(m *made, lines map[string][2]float64) []compare.Path {
	var paths []compare.Path
	for _, stack := range slices.Sorted(maps.Keys(lines)) {
		a, b := lines[stack][0], lines[stack][1]
		paths = append(paths, compare.Path{Kind: compare.Running, Frames: m.rec.StackFrames(m.stack(stack)),
			A: []float64{a, a, a}, B: []float64{b, b, b}})
	}
	return paths
}

func TestBlame(t *testing.T) {
	tests := []struct {
		name  string
		lines map[string][2]float64
		want  string // last frames of the blamed stack
		added bool
	}{
		{"deepest function of its own, not the library's leaf", map[string][2]float64{
			"_start;main;loop;parse": {0.5, 0.5}, "_start;main;loop;dedupe": {0.1, 0.3},
			"_start;main;loop;dedupe;memcmp": {0.1, 0.9}, "_start;main;loop;dedupe;malloc": {0.1, 0.2}},
			"main;loop;dedupe", false},
		{"quadratic by recursion", map[string][2]float64{
			"main;walk": {0.1, 0.2}, "main;walk;walk": {0.1, 0.3}, "main;walk;walk;visit": {0.1, 0.2},
			"main;walk;walk;walk": {0.1, 0.4}}, "walk", false},
		{"new function that calls an old one", map[string][2]float64{
			"main;handle;hash": {0.2, 0.2}, "main;handle;audit;hash": {0, 0.5}, "main;handle;audit": {0, 0.1}},
			"main;handle;audit", true},
		{"callers renamed, the leaf grew", map[string][2]float64{
			"main;oldA;sum": {0.5, 0}, "main;newA;sum": {0, 0.9}, "main;oldB;sum": {0.5, 0}, "main;newB;sum": {0, 0.8},
			"main;oldB": {0.3, 0}, "main;newB": {0, 0.3}}, "sum", false},
		{"a move is no growth", map[string][2]float64{
			"main;step;before": {1, 0}, "main;step;after": {0, 1}, "main;step;check": {0.1, 0.5}},
			"main;step;check", false},
		{"a dear function in the place of a cheap one", map[string][2]float64{
			"main;step;fast": {0.1, 0}, "main;step;slow": {0, 1}, "main;other": {1, 1}}, "main;step;slow", true},
		{"go: standard library below", map[string][2]float64{
			"g:runtime.goexit;runtime.main;main.main;main.index;strings.Index;indexbytebody": {0.1, 1},
			"g:runtime.goexit;runtime.main;main.main;main.index":                             {0.1, 0.2},
			"g:runtime.goexit;main.other":                                                    {0.5, 0.5}},
			"main.main;main.index", false},
		{"java: method above the collection", map[string][2]float64{
			"n:clone3;JavaThread::run;j:demo.App.main;demo.App.lookup;java.util.ArrayList.contains": {0.1, 1},
			"n:clone3;JavaThread::run;j:demo.App.main;demo.App.rest":                                {0.4, 0.4}},
			"demo.App.main;demo.App.lookup", false},
		{"python: native code below", map[string][2]float64{
			"n:Py_RunMain;p:<module>;scan;n:PyEval;list_contains": {0.1, 1}, "n:Py_RunMain;p:<module>;other": {0.4, 0.4}},
			"<module>;scan", false},
		{"two functions grew: the larger", map[string][2]float64{
			"main;one": {0.1, 0.7}, "main;two": {0.1, 0.4}, "main;three": {0.1, 0.1}}, "main;one", false},
		{"half of it in threads of a library", map[string][2]float64{
			"n:_start;Py_RunMain;p:<module>;grade;n:extend": {0.3, 0.1}, "n:_start;Py_RunMain;p:<module>;grade;n:send": {0, 0.6},
			"n:clone3;thread_run;p:<frozen threading>;n:os_read": {0.1, 0.6}}, "<module>;grade", false},
		{"main calls libraries besides", map[string][2]float64{
			"g:main.main;main.key;fmt.Sprintf;fmt.pad":          {0, 0.05},
			"g:main.main;main.key;fmt.Sprintf;runtime.mallocgc": {0.1, 0.1},
			"g:main.main;main.key;runtime.convT":                {0.1, 0.2}, "g:main.main;strings.ToLower": {0.1, 0.3}},
			"main.main;main.key", false},
		{"flat program", map[string][2]float64{"_start;main": {0.2, 0.9}}, "main", false},
		{"kernel part under a function", map[string][2]float64{
			"main;save;write;k:do_syscall_64;__x64_sys_write": {0.1, 0.9}, "main;load": {0.4, 0.4}}, "main;save", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			place := blame.New(tree(newMade(1, 1), test.lines), code.Own).Find(nil)
			if place == nil {
				t.Fatal("nothing blamed")
			}
			var names []string
			for _, frame := range place.Stack {
				names = append(names, frame.Name)
			}
			if got := strings.Join(names, ";"); got != test.want && !strings.HasSuffix(got, ";"+test.want) {
				t.Errorf("blamed %s, want %s", got, test.want)
			}
			if place.Added != test.added {
				t.Errorf("added is %v", place.Added)
			}
		})
	}
}

func TestBelowWaitsForACPUIsTheCodeThatWaited(t *testing.T) {
	// From a parser whose checksum became dearer on a host with more threads than CPUs: three
	// quarters of its wall time.
	const gone = ";k:asm_sysvec_apic_timer_interrupt;irqentry_exit_to_user_mode"
	m := newMade(1, 1)
	paths := tree(m, map[string][2]float64{"main;load;crc": {0.07, 0.37}, "main;load;crc" + gone: {0.17, 1.01},
		"main;load;split;strtok": {0.05, 0.05}, "main;load;split;strtok" + gone: {0.10, 0.14}})
	for i := range paths {
		if strings.HasSuffix(paths[i].Frames[len(paths[i].Frames)-1].Name, "user_mode") {
			paths[i].Kind = compare.Runnable
		}
	}
	place := blame.New(paths, code.Own).Find(nil)
	if place == nil || place.Frame().Name != "crc" || place.Below != "" {
		t.Fatalf("blame %+v, want crc and nothing below it", place)
	}
	if place.SelfB > 0.38 {
		t.Errorf("own time %.2f s: waiting is none", place.SelfB)
	}
}

func TestThroughIsWhatThePlaceCallsWhereLeavesAreMany(t *testing.T) {
	// A route that is compiled for each request: no leaf has more than a seventh of it.
	lines := map[string][2]float64{"g:main.main;main.handle;regexp.(*Regexp).FindStringSubmatch": {0.07, 0.08}}
	for _, leaf := range []string{"syntax.Parse;syntax.simplify", "syntax.Parse;parseClass", "onePassCopy",
		"compileOnePass;cleanup", "compileOnePass;runtime.mallocgc", "runtime.mallocgc;runtime.memclr",
		"runtime.mallocgc;runtime.tryDeferToSpanScan"} {
		lines["g:main.main;main.handle;regexp.MustCompile;regexp.compile;"+leaf] = [2]float64{0, 0.08}
	}
	place := blame.New(tree(newMade(1, 1), lines), code.Own).Find(nil)
	if place == nil || place.Frame().Name != "main.handle" || place.Through != "regexp.compile" || place.Below != "" {
		t.Errorf("blame %+v, want main.handle through regexp.compile", place)
	}
}

// Everything that a function of a script calls comes through its interpreter, which is no answer;
// what the program embeds as a library is one.
func TestThroughPassesOverAnInterpreter(t *testing.T) {
	const py, js = ";n:_PyEval_Vector;_PyEval_EvalFrameDefault", ";n:Builtins_JSEntry;Builtins_InterpreterEntryTrampoline"
	const long = ";n:_PyObject_MakeTpCall" + py
	for _, test := range []struct{ name, place, through, a, b string }{
		{"a function beside it", "p:<module>;serve", "<frozen load>", py + ";p:<frozen load>", long + ";p:<frozen load>"},
		{"only the interpreter", "p:<module>;serve", "", py, long},
		{"a library in C", "p:<module>;serve", "_PySre_match", py + ";_PySre_match", long + ";_PySre_match"},
		{"JavaScript", "s:main;serve", "Builtins_ArrayMap", js + ";Builtins_ArrayMap", js + ";Builtins_ArrayMap"},
		{"no name below one", "p:<module>;serve", "_PySre_match", py + ";_PySre_match;prog+0x10()",
			py + ";_PySre_match;prog+0x10()"},
		{"a program in C that runs scripts", "main;serve", "_PyEval_EvalFrameDefault", py, py},
	} {
		lines := map[string][2]float64{test.place + ";n:free": {0.1, 0.1}}
		for _, leaf := range []string{"PyObject_GetAttr", "PyNumber_Add", "PyList_Append", "PyDict_SetItem"} {
			lines[test.place+test.a+";n:"+leaf], lines[test.place+test.b+";n:"+leaf] = [2]float64{0, 0.1}, [2]float64{0, 0.1}
		}
		place := blame.New(tree(newMade(1, 1), lines), code.Own).Find(nil)
		if place == nil || place.Frame().Name != "serve" || place.Through != test.through {
			t.Errorf("%s: blame %+v, want serve through %q", test.name, place, test.through)
		}
	}
}

func TestNothingGrew(t *testing.T) {
	lines := map[string][2]float64{"main;one": {1, 0.9}, "main;two": {1, 1}}
	if place := blame.New(tree(newMade(1, 1), lines), code.Own).Find(nil); place != nil {
		t.Errorf("blamed %v", place.Stack)
	}
	if place := blame.New([]compare.Path{{A: []float64{1}, B: []float64{2}}}, code.Own).Find(nil); place != nil {
		t.Errorf("a path without stack is no place: %v", place)
	}
}

func TestInlinedCalleeIsThePlace(t *testing.T) {
	java := func(names ...string) []recording.Frame {
		frames := []recording.Frame{{Name: "JavaMain", Kind: recording.KindNative, Module: "libjli.so"}}
		for _, name := range names {
			frames = append(frames, recording.Frame{Name: name, Kind: recording.KindJVM, File: "Main.java"})
		}
		return frames
	}
	paths := []compare.Path{
		{Kind: compare.Running, Frames: java("Main.main"), A: []float64{0, 0}, B: []float64{0.27, 0.28}},
		{Kind: compare.Running, Frames: java("Main.main", "Main.find"), A: []float64{0, 0}, B: []float64{0.21, 0.2}},
		{Kind: compare.Running, Frames: java("Main.main", "Main.encode"), A: []float64{0.2, 0.2}, B: []float64{0.21, 0.2}},
	}
	place := blame.New(paths, code.Own).Find(nil)
	if place == nil || place.Frame().Name != "Main.find" || len(place.Members) != 2 {
		t.Fatalf("blame %+v, want Main.find with its caller's own time", place)
	}
	// Two callees that grew alike: nothing says whose code the caller's own time is.
	paths[2].B = []float64{0.41, 0.4}
	if place := blame.New(paths, code.Own).Find(nil); place == nil || place.Frame().Name != "Main.main" {
		t.Errorf("blame %+v: the own time went to one of two", place)
	}
}

// A library's function is a place before what all threads begin in, which is on every stack.
func TestBlameNamesNoStart(t *testing.T) {
	place := blame.New(tree(newMade(1, 1), map[string][2]float64{
		"g:runtime.goexit;main.talk;main.work": {0.5, 0.5}, "g:runtime.goexit;net/http.(*conn).serve;k:read": {0, 0.3},
		"g:runtime.goexit;main.a": {0, 0.1}, "g:runtime.goexit;main.b": {0, 0.1},
		"g:runtime.goexit;main.c": {0, 0.1}}), code.Own).Find(nil)
	if place == nil || place.Frame().Name != "net/http.(*conn).serve" {
		t.Errorf("blamed %+v", place)
	}
}

// A function that grew in its own code and in one that is inlined there, or that it calls, is one
// place, also where it does not explain most of the whole change: its own code would be named once
// more beside the callee otherwise.
func TestOneFunctionIsOnePlace(t *testing.T) {
	const elsewhere = "main;read;parse"
	for _, test := range []struct {
		name  string
		lines map[string][2]float64
		want  []string
	}{
		{"inlined and not", map[string][2]float64{"main;check;r": {0.1, 0.69}, "main;check": {0.1, 0.51},
			elsewhere: {0.1, 0.45}}, []string{"main;check", elsewhere}},
		{"another caller has it without the inlined one", map[string][2]float64{"main;scan;check;r": {0.1, 0.69},
			"main;verify;check": {0.1, 0.51}, elsewhere: {0.1, 0.45}}, []string{"main;scan;check", elsewhere}},
		{"a library below its own code", map[string][2]float64{"main;check;r": {0.1, 0.69},
			"main;check;memcmp": {0.1, 0.51}, elsewhere: {0.1, 0.45}}, []string{"main;check", elsewhere}},
		{"one that only calls two that grew", map[string][2]float64{"main;loop;one": {0.1, 0.69},
			"main;loop;two": {0.1, 0.51}, "main;loop": {0.1, 0.12}, elsewhere: {0.1, 0.45}},
			[]string{"main;loop;one", "main;loop;two", elsewhere}},
		{"its callee explains it", map[string][2]float64{"main;check;r": {0.1, 1.0}, "main;check": {0.1, 0.2},
			elsewhere: {0.1, 0.45}}, []string{"main;check;r", elsewhere, "main;check"}},
		{"two functions with one short name", map[string][2]float64{"main;rules::check;r": {0.1, 0.69},
			"main;forms::check": {0.1, 0.51}, elsewhere: {0.1, 0.45}},
			[]string{"main;rules::check;r", "main;forms::check", elsewhere}},
	} {
		if got := places(tree(newMade(1, 1), test.lines)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// places are what is blamed one after the other, each for what the ones before left.
func places(paths []compare.Path) (found []string) {
	taken := map[int]bool{}
	for range 3 {
		place := blame.New(paths, code.Own).Find(func(i int) bool { return !taken[i] })
		if place == nil {
			break
		}
		var names []string
		for _, frame := range place.Stack {
			names = append(names, frame.Name)
		}
		found = append(found, strings.Join(names, ";"))
		for _, i := range place.Members {
			taken[i] = true
		}
	}
	return found
}
