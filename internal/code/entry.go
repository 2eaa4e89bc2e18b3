package code

import (
	"regexp"
	"strings"

	"culprit/recording"
)

// IsEntry reports whether a function is where a program begins: everything is below it, so that it
// explains nothing.
func IsEntry(frame recording.Frame) bool {
	name := bare(frame.Name)
	switch frame.Kind {
	case recording.KindNative, recording.KindVDSO, recording.KindKernel:
		return name == "main" || strings.HasSuffix(frame.Name, "::main") || name == "_start"
	case recording.KindGo:
		return name == "main.main" || name == "runtime.main" || name == "runtime.goexit"
	case recording.KindJVM:
		return strings.HasSuffix(frame.Name, ".main") || strings.HasSuffix(frame.Name, "#main")
	case recording.KindPython:
		return name == "<module>" || frame.Name == "<interpreter trampoline>" || name == "main"
	case recording.KindNode:
		return name == "" || name == "main" || name == "<module>" || Nameless[frame.Name]
	case recording.KindRuby, recording.KindPHP:
		return name == "<main>" || name == "<top-level>" || name == "main" ||
			strings.HasPrefix(frame.Name, "<top (required)>")
	}
	return frame.Kind == recording.KindOther && name == PerlMain
}

// startUp are the functions by which the C library, a kernel's thread and the run times come to a
// program's own code: they stand on every stack, so that they are nobody's place.
var startUp = regexp.MustCompile(`^(` +
	// glibc and musl, libstdc++
	`_start|__libc_start_(main|call_main|main_impl).*|(__)?clone3?|start_thread|` +
	`execute_native_thread_routine|` +
	// Go
	`runtime\.(goexit|main|mstart|mstart0|mstart1|mcall|systemstack|rt0_go|asmcgocall)(\.abi0)?|` +
	// HotSpot
	`JavaMain|CallJavaMainInNewThread|ThreadJavaMain|thread_native_entry|JavaCalls::.*|` +
	`JavaThread::(run|thread_main_inner).*|Thread::call_run.*|thread_entry.*|call_stub|` +
	`StubRoutines.*|Interpreter|jni_invoke_static.*|jni_CallStaticVoidMethod|` +
	`java\.lang\.Thread\.run(With)?|java\.lang\.VirtualThread\.run|` +
	// CPython
	`_?PyEval_.*|_PyFunction_Vectorcall.*|_PyObject_Call.*|PyObject_(Call|Vectorcall).*|` +
	`Py_(BytesMain|RunMain)|pymain_.*|_PyRun_.*|run_(mod|eval_code_obj)|<interpreter trampoline>|` +
	// Node and V8
	`node::(Start|SpinEventLoop|LoadEnvironment|StartExecution|NodeMainInstance|` +
	`InternalMakeCallback|InternalCallback).*|` +
	`v8::(internal::)?(Execution|Function|Script)::(Call|Run).*|` +
	`v8::internal::\(anonymous namespace\)::Invoke.*|` +
	`Builtins_(JSEntry|JSEntryTrampoline|InterpreterEntryTrampoline|CallFunction.*)|` +
	// Rust
	`std::rt::lang_start.*|std::sys.*::__?rust_begin_short_backtrace.*|` +
	`core::ops::function::FnOnce::call_once.*|std::thread::.*Builder.*)$`)

// IsStartUp tells a function of a run time or the C library that only leads to a program's own.
func IsStartUp(frame recording.Frame) bool {
	return frame.Kind != recording.KindKernel && startUp.MatchString(frame.Name)
}

// Placeable tells what may stand as a place where nothing of the program's own does: a function or
// a module, but neither the kernel nor what only leads there.
func Placeable(frame recording.Frame) bool {
	return frame.Kind != recording.KindKernel && !strings.HasPrefix(frame.Name, "[") &&
		!IsStartUp(frame)
}

// bare is a name without the file that package compare puts behind it to tell namesakes apart.
func bare(name string) string {
	name, _, _ = strings.Cut(name, " ")
	return name
}

// Nameless is what interpreters call functions that have no name.
var Nameless = wordSet("<anonymous> (anonymous) <lambda> {closure}")
