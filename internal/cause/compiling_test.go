package cause

import (
	"slices"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// What a program has compiled from text is told with who asks for it; a module that is loaded, a
// function that is compiled as it is first called, and an option of the compiler are none of that.
func TestAskedToCompile(t *testing.T) {
	frame := func(kind recording.FrameKind, names ...string) (frames []recording.Frame) {
		for _, name := range names {
			frames = append(frames, recording.Frame{Name: name, Kind: kind, File: "/srv/app"})
		}
		return frames
	}
	native := func(names ...string) []recording.Frame { return frame(recording.KindNative, names...) }
	node, python := frame(recording.KindNode, "serve", "render"), frame(recording.KindPython, "serve", "render")
	php := frame(recording.KindPHP, "serve", "render")
	importing := append(slices.Clone(python), recording.Frame{Name: "SourceLoader.source_to_code",
		Kind: recording.KindPython, File: "<frozen importlib._bootstrap_external>"})
	const v8 = "v8::internal::"
	lazily := append(slices.Clone(node), native(v8+"Runtime_CompileLazy", v8+"Compiler::Compile")...)
	for _, c := range []struct {
		name    string
		frames  []recording.Frame
		b       []float64
		command string
		want    string // where it is asked for, "": it is not
	}{
		{"new Function", append(slices.Clone(node), native(v8+"Builtin_FunctionConstructor",
			v8+"Compiler::GetFunctionFromEval")...), []float64{0.5}, "run x", "serve;render"},
		{"eval in JavaScript", append(slices.Clone(node), native(v8+"Runtime_ResolvePossiblyDirectEval",
			v8+"Compiler::GetFunctionFromEval")...), []float64{0.5}, "run x", "serve;render"},
		{"exec of a template's text", append(slices.Clone(python), native("builtin_compile", "_PyPegen_run_parser")...),
			[]float64{0.5}, "run x", "serve;render"},
		{"PHP's eval", append(slices.Clone(php), native("compile_string", "zendparse")...), []float64{0.5}, "run x",
			"serve;render"},
		{"a module is imported", append(importing, native("builtin_compile", "_PyAST_Compile")...), []float64{0.5}, "run x",
			""},
		{"PHP's include", append(slices.Clone(php), native("compile_file", "zendparse")...), []float64{0.5}, "run x", ""},
		{"a little more of it", append(slices.Clone(python), native("builtin_eval", "_PyPegen_run_parser")...),
			[]float64{0.3}, "run x", ""},
		{"a function that is called first", lazily, []float64{0.5}, "run x", ""},
		{"an option that holds the compiler back", append(slices.Clone(node), native(v8+"Builtin_FunctionConstructor",
			v8+"Compiler::GetFunctionFromEval")...), []float64{0.5}, "run --no-opt x", ""},
	} {
		compiled := compare.Path{Kind: compare.Running, Process: "run", A: []float64{0.2}, B: c.b, Frames: c.frames}
		beside := compare.Path{Kind: compare.Running, Process: "run", A: []float64{0}, B: []float64{0.4}, Frames: lazily}
		claims := found(newScene(Input{Result: &compare.Result{Metric: compare.MetricCPU, A: []float64{1},
			B: []float64{2}, Paths: []compare.Path{compiled, beside}}, CommandA: "run x", CommandB: c.command}), findCold)
		if len(claims) != 1 {
			t.Errorf("%s: %d claims, want one", c.name, len(claims))
			continue
		}
		told := claims[0].claim == compilingClaim && claims[0].remedy == compilingRemedy
		if told != (c.want != "") || told && claims[0].where()[0] != c.want {
			t.Errorf("%s: told %v, where %q, want %q first", c.name, told, claims[0].where(), c.want)
		}
	}
}

// A few samples in an interpreter come with code that is new, and say nothing of why the compiler
// has more to do.
func TestLittleIsInterpreted(t *testing.T) {
	path := func(a, b float64, kind recording.FrameKind, names ...string) compare.Path {
		p := compare.Path{Kind: compare.Running, Process: "node", A: []float64{a}, B: []float64{b}}
		for _, name := range names {
			p.Frames = append(p.Frames, recording.Frame{Name: name, Kind: kind, Module: "/usr/lib/libnode.so"})
		}
		return p
	}
	const dispatcher = "v8::internal::OptimizingCompileDispatcher::CompileNext"
	for _, c := range []struct {
		name        string
		interpreted float64
		want        bool
	}{{"hardly anything", 0.04, true}, {"half of it", 0.6, false}} {
		claims := found(newScene(Input{Result: &compare.Result{Metric: compare.MetricCPU, A: []float64{1}, B: []float64{3},
			Paths: []compare.Path{path(0.5, 1.1, recording.KindNative, "worker", dispatcher),
				path(0.01, 0.01, recording.KindNode, "visit"),
				path(0, c.interpreted, recording.KindNode, "visit", "V8::StubFrame")}}}), findCold)
		if len(claims) != 1 || claims[0].consequence != c.want {
			t.Errorf("%s: %+v, want a consequence: %v", c.name, claims, c.want)
		}
	}
}
