package cause

import (
	"slices"
	"strings"
	"testing"
)

// What is compiled because code does more is told as that code's, if it is at the same place: the
// two have one reason. Elsewhere, beside little growth, or with a setting, compiling stays a
// suspect of its own.
func TestCompilingBelongsToTheCodeThatGrew(t *testing.T) {
	t.Parallel()
	const java, script = "n:start_thread;j:java.lang.Thread.run;Desk.talk;", "n:node!_start;s:talk;"
	const jvm, v8 = ";n:libjvm.so!CompileBroker::compile_method", ";n:node!v8::internal::Compiler::Compile"
	for _, test := range []struct {
		name, grew, compiled string
		code, compiling      float64
		command              string
		first                ID
		alone                bool
	}{
		{"java", java + "Desk.parse", java + "Desk.parse" + jvm, 120, 150, "java Desk", "code.grew", true},
		{"node", script + "parse", script + "parse" + v8, 120, 150, "node desk.js", "code.grew", true},
		{"below it", java + "Desk.parse", java + "Desk.parse;Desk.word" + jvm, 120, 150, "java Desk", "code.grew", true},
		{"elsewhere", java + "Desk.parse", java + "Desk.print" + jvm, 200, 150, "java Desk", "code.grew", false},
		{"little code", java + "Desk.parse", java + "Desk.parse" + jvm, 20, 150, "java Desk", "runtime.cold", false},
		{"a setting", java + "Desk.parse", java + "Desk.parse" + jvm, 20, 150, "java -Xint Desk", "runtime.cold", true},
	} {
		threads := "compiler|n:libjvm.so!compiler_thread_loop;libjvm.so!CompileBroker::invoke_compiler_on_method"
		if test.name == "node" {
			threads = "compiler|n:node!v8::internal::OptimizingCompileDispatcher::CompileNext"
		}
		base := map[string]float64{test.grew: 60, java + "Desk.answer": 300, script + "answer": 300, threads: 100,
			test.compiled: 2}
		b := merged(base, map[string]float64{test.grew: test.code, threads: test.compiling, test.compiled: 4})
		suspects := judged(t, "cpu", plan{cpu: base, command: strings.Replace(test.command, "-Xint ", "", 1)},
			plan{cpu: b, command: test.command}, Costs{})
		both := slices.ContainsFunc(suspects, func(one Suspect) bool { return one.Cause == "runtime.cold" })
		if len(suspects) == 0 || suspects[0].Cause != test.first || test.alone != (len(suspects) == 1) ||
			test.first == "code.grew" && both == test.alone {
			t.Errorf("%s: %s", test.name, described(suspects))
		}
	}
}
