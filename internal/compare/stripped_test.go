package compare_test

import (
	"testing"

	"culprit/internal/code"
	"culprit/internal/compare/blame"
)

// Where no function has a name the place is the module, and never what leads to every program's
// code.
func TestStartUpIsNoPlace(t *testing.T) {
	for _, each := range []struct{ name, grown, want string }{
		{"stripped C", "prog;__libc_start_main;__libc_start_call_main;prog", "prog"},
		{"a thread", "clone3;start_thread;prog", "prog"},
		{"into the kernel", "_start;__libc_start_call_main;prog;k:do_syscall_64;ksys_read", "prog"},
		{"the C library below", "_start;__libc_start_call_main;prog;memcpy", "memcpy"},
		{"Java's own", "n:start_thread;JavaMain;j:java.lang.Thread.run;java.util.HashMap.get", "java.util.HashMap.get"},
		{"Python's script", "n:_start;Py_BytesMain;p:<module>;n:_PyEval_EvalFrameDefault", "<module>"},
		{"Go", "g:runtime.goexit;runtime.gcBgMarkWorker", "runtime.gcBgMarkWorker"},
	} {
		place := blame.New(tree(newMade(1, 1), map[string][2]float64{each.grown: {0.1, 0.9}}), code.Own).Find(nil)
		if place == nil || place.Frame().Name != each.want {
			t.Errorf("%s: the place is %+v, want %s", each.name, place, each.want)
		}
	}
}
