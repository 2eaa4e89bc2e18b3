package cause

import (
	"strings"
	"testing"

	"culprit/recording"
)

func TestRoute(t *testing.T) {
	for _, test := range []struct{ name, stack, want string }{
		{"functions with names", "prog!serve;prog!append;libc.so.6!write", "serve;append;write"},
		{"recursion", "prog!walk;prog!walk;prog!leaf", "walk;leaf"},
		{"a stripped program", "tar!tar+0x1f00();tar!tar+0x2a10();tar!tar+0x9c0();libc.so.6!write", "tar+0x9c0();write"},
		{"two stripped files", "tar!tar+0x1f00();tar!tar+0x2a10();libz.so!libz.so+0x10()", "tar+0x2a10();libz.so+0x10()"},
		{"a name between", "tar!tar+0x1f00();tar!main;tar!tar+0x2a10()", "tar+0x1f00();main;tar+0x2a10()"},
	} {
		var frames []recording.Frame
		for _, frame := range strings.Split(test.stack, ";") {
			module, name, _ := strings.Cut(frame, "!")
			frames = append(frames, recording.Frame{Name: name, Module: "/usr/bin/" + module, Kind: recording.KindNative})
		}
		if got := route(frames); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
