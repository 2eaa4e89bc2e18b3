package compare

import (
	"slices"
	"strings"

	"culprit/recording"
)

const (
	// throughPart of a place's growth must come through a function that it calls before that is named.
	throughPart = 0.5
	// leafPart of it is enough for a leaf to be named beside such a function.
	leafPart = 0.2
)

// through is the deepest function in user space below a place that at least half of the place's growth comes through,
// "" where there is none: what it calls that costs so much, where the leaves are many (a parser, a compiler). An
// interpreter's own frames between those of its language are passed over: everything comes through them. A function
// that has no name is told only where none above it has one.
func (s *blameSearch) through(frame recording.Frame, all float64) string {
	type call struct{ path, below int }
	var calls []call
	for _, i := range s.all {
		frames := s.paths[i].Frames
		for at := len(frames) - 1; at >= 0; at-- {
			if frames[at].Name == frame.Name && frames[at].Kind == frame.Kind {
				calls = append(calls, call{i, at + 1})
				break
			}
		}
	}
	deepest := ""
	for {
		grown, next, nameless := map[string]float64{}, map[string][]call{}, map[string]bool{}
		for _, c := range calls {
			frames := s.paths[c.path].Frames
			at := c.below
			for at < len(frames) && frame.Kind != recording.KindNative && isMachinery(&frames[at]) {
				at++
			}
			if at < len(frames) && frames[at].Kind != recording.KindKernel {
				name := frames[at].Name
				nameless[name] = ByAddress(frames[at])
				grown[name] += s.grow[c.path]
				next[name] = append(next[name], call{c.path, at + 1})
			}
		}
		most := ""
		for name, grow := range grown {
			if grow >= throughPart*all && (most == "" || grow > grown[most] || grow == grown[most] && name < most) {
				most = name
			}
		}
		if most == "" {
			return deepest
		}
		if calls = next[most]; deepest == "" || !nameless[most] {
			deepest = most
		}
	}
}

// machinery begins the names of the functions with which interpreters run and call code of their language: CPython,
// Ruby, PHP, V8, HotSpot.
var machinery = []string{"_PyEval_", "PyEval_EvalCode", "_PyFunction_Vectorcall", "_PyObject_Vectorcall",
	"PyObject_Vectorcall", "_PyObject_Call", "_PyObject_MakeTpCall", "_PyObject_FastCall", "PyObject_Call", "do_call_core",
	"method_vectorcall", "vectorcall_", "slot_tp_", "type_call", "cfunction_", "_PyVectorcall_Call",
	"vm_exec", "rb_vm_exec", "vm_call_", "vm_sendish", "vm_yield", "rb_yield", "rb_vm_invoke", "invoke_block",
	"execute_ex", "zend_execute", "zend_call_function", "ZEND_DO_",
	"v8::internal::Execution::Call", "v8::internal::(anonymous namespace)::Invoke", "JavaCalls::"}

// stubs are those that a run time makes for itself.
var stubs = []string{"StubRoutines (", "Builtins_InterpreterEntryTrampoline", "Builtins_JSEntry", "Builtins_Call_",
	"Builtins_ArgumentsAdaptor"}

// isMachinery reports whether a frame is an interpreter's own way to run or call what stands below it.
func isMachinery(frame *recording.Frame) bool {
	begins := func(name string) bool { return strings.HasPrefix(frame.Name, name) }
	switch frame.Kind {
	case recording.KindNative, recording.KindOther:
		return slices.ContainsFunc(machinery, begins) || slices.ContainsFunc(stubs, begins)
	case recording.KindJVM, recording.KindNode:
		return frame.Name == "Interpreter" || slices.ContainsFunc(stubs, begins)
	}
	return false
}

// interrupted is the last function before the kernel; the kernel's last where there is none.
func interrupted(frames []recording.Frame) recording.Frame {
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].Kind != recording.KindKernel {
			return frames[i]
		}
	}
	return frames[len(frames)-1]
}
