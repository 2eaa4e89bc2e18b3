package code

import (
	"slices"
	"strings"

	"culprit/recording"
)

var (
	// bytecodeNames are the frames of bytecode handlers, below the function that they interpret:
	// V8, HotSpot.
	bytecodeNames = words(v8Stub + ` Builtins_InterpreterEntryTrampoline InterpreterRuntime::`)
	// askNames are parts of the names of functions of run times that compile what a program hands
	// them as text: eval, new Function, vm.Script, compile, exec. phpAskName is PHP's eval, in
	// full.
	askNames = words(
		// V8 of Node 12 to 24
		`Builtin_FunctionConstructor Builtin_GeneratorFunctionConstructor
		Builtin_AsyncFunctionConstructor Builtin_GlobalEval Runtime_ResolvePossiblyDirectEval
		node::contextify::ContextifyScript::New node::contextify::ContextifyContext::CompileFunction`,
		// CPython 3.8 to 3.14
		`builtin_compile builtin_eval builtin_exec Py_CompileStringObject PyRun_StringFlags`,
	)
	phpAskName = "compile_string"
	// importerNames end the names of Python's own functions that compile a module: loading one is
	// no act of compiling of the program's.
	importerNames = words(`source_to_code _call_with_frames_removed`)
	// phpCompilers are PHP's, in full: compilers of other languages have functions of such names
	// themselves.
	phpCompilers = wordSet(`compile_file compile_filename compile_string phar_compile_file
		zendparse`)
)

// InBytecode reports whether a stack ends in an interpreter's handlers of bytecode. From JavaScript
// into V8's own functions (to collect, to parse) a frame of theirs may stand below a handler as
// well as below compiled code: it tells nothing of how that runs.
func InBytecode(frames []recording.Frame) bool {
	return !LeavesJavaScript(frames) && slices.ContainsFunc(frames, func(frame recording.Frame) bool {
		return containsAny(frame.Name, bytecodeNames)
	})
}

// v8Stub is how the unwinder calls a frame of V8's built-in code, whichever it is.
const v8Stub = "V8::StubFrame"

// InStub reports whether a stack goes through V8's built-in code. Compiled code calls it as well,
// for what it was not compiled for: the properties of an object that is a dictionary, or one of
// many shapes.
func InStub(frames []recording.Frame) bool {
	return slices.ContainsFunc(frames, func(frame recording.Frame) bool { return frame.Name == v8Stub })
}

// LeavesJavaScript reports whether a stack goes from JavaScript into V8's own functions.
func LeavesJavaScript(frames []recording.Frame) bool {
	return slices.ContainsFunc(frames, func(frame recording.Frame) bool {
		return frame.Name == "V8::ExitFrame"
	})
}

// CompilesPHP reports whether a stack compiles a script of PHP: in a compiler below which, from the
// innermost function outwards, PHP was run.
func CompilesPHP(frames []recording.Frame) bool {
	compiling := false
	for _, frame := range slices.Backward(frames) {
		if compiling && (frame.Kind == recording.KindPHP ||
			strings.HasPrefix(frame.Name, "php_execute_script")) {
			return true
		}
		compiling = compiling || frame.Kind == recording.KindNative && phpCompilers[frame.Name]
	}
	return false
}

// AsksToCompile tells a function that compiles text.
func AsksToCompile(frame recording.Frame) bool {
	return frame.Kind == recording.KindNative &&
		(containsAny(frame.Name, askNames) || frame.Name == phpAskName)
}

// CompilesText reports whether a stack leads from the program through a call that compiles text.
func CompilesText(frames []recording.Frame) bool {
	for at := len(frames) - 1; at > 0; at-- {
		if !AsksToCompile(frames[at]) {
			continue
		}
		caller := at - 1
		for caller >= 0 && (frames[caller].Kind == recording.KindNative || AsksToCompile(frames[caller])) {
			caller--
		}
		return caller < 0 || !slices.ContainsFunc(importerNames, func(name string) bool {
			return strings.HasSuffix(frames[caller].Name, name)
		})
	}
	return false
}
