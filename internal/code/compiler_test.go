package code

import (
	"testing"

	"culprit/recording"
)

// LLVM in a database compiles what it is asked to run; in a compiler it is the work.
func TestCompilerAt(t *testing.T) {
	native := func(module string, names ...string) (frames []recording.Frame) {
		for _, name := range names {
			frames = append(frames, recording.Frame{Kind: recording.KindNative, Module: module, Name: name})
		}
		return frames
	}
	for _, test := range []struct {
		name   string
		frames []recording.Frame
		want   bool
	}{
		{"a database", append(native("postgres", "main", "ExecutorRun"),
			native("libLLVM-14.so.1", "llvm::MachineFunctionPass::runOnFunction")...), true},
		{"a stripped library", append(native("app", "main"), native("libLLVM.so.19.1", "libLLVM.so.19.1")...), true},
		{"linked in", native("clickhouse", "main", "DB::CompiledFunction", "llvm::orc::LLJIT::lookup"), true},
		{"libgccjit", append(native("emacs", "main", "Fcomp"), native("libgccjit.so.0", "gcc_jit_context_compile")...), true},
		{"clang", append(native("clang-19", "cc1_main", "clang::ParseAST"),
			native("libLLVM.so.19.1", "llvm::PassManager::run")...), false},
		{"rustc", append(native("librustc_driver.so", "rustc_codegen_llvm::back::write"),
			native("libLLVM.so.19.1", "llvm::PassManager::run")...), false},
		{"opt", append(native("opt", "main"), native("libLLVM.so.19.1", "llvm::PassManager::run")...), false},
		{"a program's own", native("app", "main", "compile_regex", "llvmish"), false},
	} {
		if got := CompilerAt(test.frames); got >= 0 != test.want {
			t.Errorf("%s: at %d", test.name, got)
		}
	}
}
