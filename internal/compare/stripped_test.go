package compare

import (
	"testing"

	"culprit/recording"
)

// An address is a function in one build only: with two builds a stripped file's functions are one, its module.
func TestFunctionsOfStrippedFiles(t *testing.T) {
	function := func(build string) recording.Frame {
		return recording.Frame{Name: "packer+0x4710()", Module: "/opt/packer", BuildID: build, Kind: recording.KindNative}
	}
	sample := recording.Frame{Name: "packer+0x4711", Module: "/opt/packer", BuildID: "1", Kind: recording.KindNative}
	for _, each := range []struct {
		name   string
		frames []recording.Frame
		want   []string
	}{
		{"one build", []recording.Frame{function("1"), function("1")}, []string{"packer+0x4710()", "packer+0x4710()"}},
		{"two builds", []recording.Frame{function("1"), function("2")}, []string{"packer", "packer"}},
		{"a build that is not known", []recording.Frame{function("")}, []string{"packer"}},
		{"the address of a sample, which is no function", []recording.Frame{sample}, []string{"packer"}},
	} {
		shared := newPool()
		shared.findBuilds([]*recording.Recording{{Frames: each.frames}})
		for i, frame := range each.frames {
			if got := shared.frames[shared.frame(frame)].Name; got != each.want[i] {
				t.Errorf("%s: %s is %s, want %s", each.name, frame.Name, got, each.want[i])
			}
		}
	}
}

// Where no function has a name the place is the module, and never what leads to every program's code.
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
		blame := FindBlame(tree(newMade(1, 1), map[string][2]float64{each.grown: {0.1, 0.9}}), nil)
		if blame == nil || blame.Frame().Name != each.want {
			t.Errorf("%s: the place is %+v, want %s", each.name, blame, each.want)
		}
	}
}
