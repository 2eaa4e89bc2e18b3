package code

import (
	"slices"
	"strings"

	"culprit/recording"
)

// machinery begins the names of the functions with which interpreters run and call code of their
// language: CPython, Ruby, PHP, V8, HotSpot.
var machinery = []string{"_PyEval_", "PyEval_EvalCode", "_PyFunction_Vectorcall", "_PyObject_Vectorcall",
	"PyObject_Vectorcall", "_PyObject_Call", "_PyObject_MakeTpCall", "_PyObject_FastCall", "PyObject_Call", "do_call_core",
	"method_vectorcall", "vectorcall_", "slot_tp_", "type_call", "cfunction_", "_PyVectorcall_Call",
	"vm_exec", "rb_vm_exec", "vm_call_", "vm_sendish", "vm_yield", "rb_yield", "rb_vm_invoke", "invoke_block",
	"execute_ex", "zend_execute", "zend_call_function", "ZEND_DO_",
	"v8::internal::Execution::Call", "v8::internal::(anonymous namespace)::Invoke", "JavaCalls::"}

// stubs are those that a run time makes for itself.
var stubs = []string{"StubRoutines (", "Builtins_InterpreterEntryTrampoline", "Builtins_JSEntry", "Builtins_Call_",
	"Builtins_ArgumentsAdaptor"}

// IsMachinery reports whether a frame is an interpreter's own way to run or call what stands below
// it.
func IsMachinery(frame *recording.Frame) bool {
	begins := func(name string) bool { return strings.HasPrefix(frame.Name, name) }
	switch frame.Kind {
	case recording.KindNative, recording.KindOther:
		return slices.ContainsFunc(machinery, begins) || slices.ContainsFunc(stubs, begins)
	case recording.KindJVM, recording.KindNode:
		return frame.Name == "Interpreter" || slices.ContainsFunc(stubs, begins)
	}
	return false
}
