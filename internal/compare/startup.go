package compare

import (
	"regexp"
	"strings"

	"culprit/recording"
)

// startUp are the functions by which the C library, a kernel's thread and the run times come to a program's own code:
// they stand on every stack, so that they are nobody's place.
var startUp = regexp.MustCompile(`^(_start|__libc_start_(main|call_main|main_impl).*|(__)?clone3?|start_thread|` +
	`runtime\.(goexit|main|mstart|mstart0|mstart1|mcall|systemstack|rt0_go|asmcgocall)(\.abi0)?|` +
	`JavaMain|CallJavaMainInNewThread|ThreadJavaMain|thread_native_entry|JavaCalls::.*|JavaThread::(run|` +
	`thread_main_inner).*|Thread::call_run.*|thread_entry.*|call_stub|StubRoutines.*|Interpreter|jni_invoke_static.*|` +
	`jni_CallStaticVoidMethod|java\.lang\.Thread\.run(With)?|java\.lang\.VirtualThread\.run|` +
	`_?PyEval_.*|_PyFunction_Vectorcall.*|_PyObject_Call.*|PyObject_(Call|Vectorcall).*|` +
	`Py_(BytesMain|RunMain)|pymain_.*|_PyRun_.*|run_(mod|eval_code_obj)|<interpreter trampoline>|` +
	`node::(Start|SpinEventLoop|LoadEnvironment|StartExecution|NodeMainInstance|InternalMakeCallback|` +
	`InternalCallback).*|` +
	`v8::(internal::)?(Execution|Function|Script)::(Call|Run).*|v8::internal::\(anonymous namespace\)::Invoke.*|` +
	`Builtins_(JSEntry|JSEntryTrampoline|InterpreterEntryTrampoline|CallFunction.*)|` +
	`std::rt::lang_start.*|std::sys.*::__rust_begin_short_backtrace.*|core::ops::function::FnOnce::call_once.*|` +
	`std::thread::.*Builder.*|execute_native_thread_routine)$`)

// IsStartUp tells a function of a run time or the C library that only leads to a program's own.
func IsStartUp(frame recording.Frame) bool {
	return frame.Kind != recording.KindKernel && startUp.MatchString(frame.Name)
}

// placeable tells what may stand as a place where nothing of the program's own does: a function or a module, but
// neither the kernel nor what only leads there.
func placeable(frame recording.Frame) bool {
	return frame.Kind != recording.KindKernel && !strings.HasPrefix(frame.Name, "[") && !IsStartUp(frame)
}
