package blame

import (
	"testing"

	"culprit/recording"
)

// Where no function of the program's own explains a change, its deepest own one is the place, also
// where the program begins; then the deepest function of a library; then the kernel's. What only
// leads to a program is none.
func TestFallback(t *testing.T) {
	start := recording.Frame{Kind: recording.KindNative, Name: "_start", Module: "a"}
	main := recording.Frame{Kind: recording.KindNative, Name: "main", Module: "a"}
	library := recording.Frame{Kind: recording.KindNative, Name: "deflate", Module: "libz.so.1"}
	kernel := recording.Frame{Kind: recording.KindKernel, Name: "do_syscall_64"}
	for name, test := range map[string]struct {
		frames []recording.Frame
		own    int // which of them is the program's own, -1 for none
		want   string
	}{
		"its own":                 {[]recording.Frame{start, main, library, kernel}, 1, "main"},
		"a library, not a kernel": {[]recording.Frame{start, library, kernel}, -1, "deflate"},
		"the kernel alone":        {[]recording.Frame{start, kernel}, -1, "do_syscall_64"},
		"nothing but the start":   {[]recording.Frame{start}, -1, ""},
	} {
		s := &search{Tree: &Tree{own: [][]bool{make([]bool, len(test.frames))}}}
		if test.own >= 0 {
			s.own[0][test.own] = true
		}
		var trail []spot
		for i := range test.frames {
			trail = append(trail, spot{stack: test.frames[:i+1], members: []int{0}})
		}
		got := ""
		if found := s.fallback(trail); found != nil {
			got = found.stack[len(found.stack)-1].Name
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
