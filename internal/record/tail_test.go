package record

import (
	"strings"
	"testing"
)

// Who reports a recorder that has ended can say where it was.
func TestTailTellsAPanicAndItsPlace(t *testing.T) {
	for _, test := range []struct{ printed, want string }{
		{"", ""},
		{"no memory\nkilled\n", "killed"},
		{"warned\npanic: runtime error: makeslice: len out of range\n\ngoroutine 7 [running]:\n" +
			"runtime.gopanic(0x1)\n\t/usr/lib/go/panic.go:7 +0x1\nculprit/internal/symbol.(*Table).name(0x2)\n" +
			"\t/src/culprit/internal/symbol/table.go:75 +0x1d\nmain.main()\n\t/src/main.go:1 +0x1\n",
			"panic: runtime error: makeslice: len out of range (table.go:75 +0x1d)"},
		{"fatal error: out of memory\n", "fatal error: out of memory"},
	} {
		var printed tail
		for _, piece := range strings.SplitAfter(test.printed, "\n") {
			if _, err := printed.Write([]byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
		if got := printed.last(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	var long tail
	for range 2 * maxTail / 10 {
		_, _ = long.Write([]byte("123456789\n")) // it never fails
	}
	if len(long.text) > maxTail || long.last() != "123456789" {
		t.Errorf("%d bytes kept, the last line %q", len(long.text), long.last())
	}
}
