package code

import (
	"path"
	"strings"

	"culprit/recording"
)

var (
	// compilerNames are parts of the names of functions of the compilers inside run times.
	compilerNames = words(
		// HotSpot of JDK 8 to 25
		`CompileBroker:: C2Compiler:: C1:: Compilation::compile PhaseIdealLoop PhaseChaitin`,
		// V8 of Node 12 to 24
		`v8::internal::compiler:: v8::internal::maglev:: v8::internal::OptimizingCompileDispatcher
		v8::internal::Compiler:: v8::internal::baseline::
		v8::internal::interpreter::BytecodeGenerator v8::internal::parsing:: v8::internal::Parser
		v8::internal::PreParser`,
		// CPython 3.8 to 3.14
		`_PyAST_Compile _PyPegen_run_parser _PyPegen_parse builtin_compile Py_CompileStringObject`,
		// JavaScriptCore, SpiderMonkey
		`JSC::DFG:: JSC::FTL:: JSC::JIT:: JSC::BytecodeGenerator js::jit::Compile js::jit::Ion
		js::jit::WarpBuilder`,
	)
	// compilerComms are parts of the names of threads that compile.
	compilerComms = []string{"C1 CompilerThre", "C2 CompilerThre", "Compiler Thread"}

	// jitLibraries begin the names of libraries that compile while a program runs.
	jitLibraries = words(`libLLVM libgccjit. libclrjit. libllvmlite. libjulia-codegen. liblightning.
		libtcc. libasmjit. libwasmtime.`)
	// jitNames begin the functions of compilers that programs have inside.
	jitNames = words(`llvm:: LLVM gcc_jit_ gcc::jit:: asmjit:: cranelift_codegen:: wasmtime_cranelift::
		sljit_ jit_compile pcre2_jit_compile zend_jit rb_yjit yjit:: lj_asm_ lj_opt_ lj_trace_ lj_record_
		mlir:: julia::jl_compile MIR_gen`)
	// compilerDrivers are parts of the names of functions of programs that are compilers
	// themselves: there, compiling is the work.
	compilerDrivers = words(`clang:: rustc_ rustc:: cc1_main cc1as_main lld:: llc_main swift::Frontend
		llvm::lto:: toplev::main codegen_main`)
	// compilerPrograms are such programs by name.
	compilerPrograms = wordSet(`clang clang++ llc opt lld ld.lld rustc cc1 cc1plus lto1 flang swiftc
		swift-frontend zig ldc2 ghc llvm-link llvm-lto`)
)

// Compiles tells a function of the compiler inside a run time.
func Compiles(frame recording.Frame) bool {
	return frame.Kind == recording.KindNative && containsAny(frame.Name, compilerNames)
}

// IsCompiler tells a thread that does nothing but compile by its name.
func IsCompiler(comm string) bool { return containsAny(comm, compilerComms) }

// CompilerAt is where a stack enters a compiler that a program has inside or as a library, to run
// what it compiles: LLVM in a database, in Numba, in a shader's interpreter; −1 where it does not.
// It refuses programs that are compilers, which have the same library: there it is their work.
func CompilerAt(frames []recording.Frame) int { return compilerAt(frames, compilingOf) }

// compiling is what a function has to do with a compiler that is a library.
type compiling uint8

const (
	notCompiling compiling = iota
	inLibrary              // of such a compiler
	inCompiler             // of a program that is one
)

func compilingOf(frame *recording.Frame) compiling {
	switch {
	case frame.Kind != recording.KindNative:
		return notCompiling
	case containsAny(frame.Name, compilerDrivers), compilerPrograms[unversioned(frame.Module)]:
		return inCompiler
	case beginsWithAny(frame.Name, jitNames), beginsWithAny(path.Base(frame.Module), jitLibraries):
		return inLibrary
	}
	return notCompiling
}

func compilerAt(frames []recording.Frame, of func(*recording.Frame) compiling) int {
	first := -1
	for i := range frames {
		switch of(&frames[i]) {
		case inCompiler:
			return -1
		case inLibrary:
			if first < 0 {
				first = i
			}
		}
	}
	return first
}

// unversioned is the name of a program's file without the release behind it: "clang-19" is clang.
func unversioned(module string) string {
	name := path.Base(module)
	if cut := strings.LastIndexByte(name, '-'); cut > 0 && strings.Trim(name[cut+1:], "0123456789.") == "" {
		return name[:cut]
	}
	return name
}
