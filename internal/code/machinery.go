package code

import "culprit/recording"

var (
	// machinery begins the names of the functions with which interpreters run and call code of
	// their language.
	machinery = words(
		// CPython 3.8 to 3.14
		`_PyEval_ PyEval_EvalCode _PyFunction_Vectorcall _PyObject_Vectorcall PyObject_Vectorcall
		_PyObject_Call _PyObject_MakeTpCall _PyObject_FastCall PyObject_Call do_call_core
		method_vectorcall vectorcall_ slot_tp_ type_call cfunction_ _PyVectorcall_Call`,
		// Ruby 2.5 to 3.4
		`vm_exec rb_vm_exec vm_call_ vm_sendish vm_yield rb_yield rb_vm_invoke invoke_block`,
		// PHP 7 and 8
		`execute_ex zend_execute zend_call_function ZEND_DO_`,
		// V8 of Node 12 to 24, HotSpot of JDK 8 to 25
		`v8::internal::Execution::Call JavaCalls::`,
	)
	invoke = "v8::internal::(anonymous namespace)::Invoke"
	// stubs begin the names of those that V8 and HotSpot make for themselves.
	stubs = []string{"StubRoutines (", "Builtins_InterpreterEntryTrampoline", "Builtins_JSEntry",
		"Builtins_Call_", "Builtins_ArgumentsAdaptor"}
)

// IsMachinery reports whether a frame is an interpreter's own way to run or call what stands below
// it.
func IsMachinery(frame *recording.Frame) bool {
	name := frame.Name
	switch frame.Kind {
	case recording.KindNative, recording.KindOther:
		return beginsWithAny(name, machinery) || beginsWithAny(name, stubs) ||
			beginsWithAny(name, []string{invoke})
	case recording.KindJVM, recording.KindNode:
		return name == "Interpreter" || beginsWithAny(name, stubs)
	}
	return false
}
