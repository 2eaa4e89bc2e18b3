package tail

import (
	"fmt"
	"testing"

	"culprit/recording"
)

// Slow requests run many functions of a library without names: the place is the innermost named one
// that most of them are below, or the program's own.
func TestTimeSpreadOverALibrary(t *testing.T) {
	library := func(name string) recording.Frame {
		return recording.Frame{Name: name, Kind: recording.KindNative, Module: "libcrypto.so.3"}
	}
	for _, test := range []struct {
		name   string
		leaves int // functions that the time is spread over
		above  []recording.Frame
		first  string
	}{
		{"below a library's entry", 8, []recording.Frame{library("worker"), library("PBKDF2_derive")}, "PBKDF2_derive"},
		{"below the program's own", 8, []recording.Frame{{Name: "main", Kind: recording.KindNative, Module: "store"},
			{Name: "sign", Kind: recording.KindNative, Module: "store"}, library("PBKDF2_derive")}, "sign"},
		{"in one function", 1, []recording.Frame{library("worker"), library("PBKDF2_derive")}, "libcrypto.so.3+0x0()"},
	} {
		rec := made(200, 20, func(i int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartCPU, TimeNs: request.TimeNs, LengthNs: 30e6,
				Stack: int32(2 + i%test.leaves)}}
		})
		for leaf := range test.leaves {
			var stack recording.Stack
			for _, frame := range append(append([]recording.Frame{}, test.above...),
				library(fmt.Sprintf("libcrypto.so.3+0x%x()", leaf*64))) {
				stack.Frames = append(stack.Frames, int32(len(rec.Frames)))
				rec.Frames = append(rec.Frames, frame)
			}
			rec.Stacks = append(rec.Stacks, stack)
		}
		if got := first(t, rec); len(got.Places) == 0 || got.Places[0].Name != test.first {
			t.Errorf("%s: %+v, want %s", test.name, got.Places, test.first)
		}
	}
}
