package lines

import (
	"math"
	"testing"

	"culprit/recording"
)

// placed is a recording of words by thread and address, with their names, each sampled 50 times in
// one function.
func placed(words map[int32]uint64, names map[int32]string) *recording.Recording {
	rec := &recording.Recording{}
	rec.Frames = []recording.Frame{{Name: "count", Kind: recording.KindNative}}
	rec.Stacks = []recording.Stack{{Frames: []int32{0}}}
	for tid, address := range words {
		rec.Lines = append(rec.Lines, recording.Line{Line: address &^ (Bytes - 1), Offset: int32(address % Bytes), Size: 8,
			Pid: 9, Tid: tid, Write: true, Count: 50, Name: names[tid]})
	}
	rec.Samples = []recording.Sample{{Signal: recording.SignalCPU, Target: true, Count: 1, ValueNs: 10e6,
		Stack: recording.NoStack}}
	return rec
}

// Where the same code has words of two threads in one line on one side and in two on the other,
// both are told, whether the words have names or not. Words at the same places on both sides, and
// lines of one thread, are no other layout.
func TestLayout(t *testing.T) {
	near, far := map[int32]uint64{1: 0x1010, 2: 0x1038}, map[int32]uint64{1: 0x1020, 2: 0x1048}
	one := map[int32]uint64{1: 0x1020}
	same := map[int32]string{1: "tally.handled", 2: "tally.handled"}
	for _, test := range []struct {
		name    string
		a, b    map[int32]uint64
		names   map[int32]string
		own     float64 // samples of A
		shifted bool
	}{
		{"apart before", far, near, nil, 100, false},
		{"apart before, with names", far, near, same, 100, true},
		{"the same layout", near, near, same, 0, false},
		{"elsewhere, and shared there as well", map[int32]uint64{1: 0x2000, 2: 0x2028}, near, same, 0, true},
		{"one thread alone before", one, near, nil, 0, false},
	} {
		found := Find([]*recording.Recording{placed(test.a, test.names)}, []*recording.Recording{placed(test.b, test.names)},
			[]float64{1, 1})
		if len(found) != 1 || !found[0].False {
			t.Fatalf("%s: %+v", test.name, found)
		}
		layout := found[0].Layout
		if layout.A[0] != test.own || layout.B[0] != 0 || layout.Shifted != test.shifted {
			t.Errorf("%s: %+v", test.name, layout)
		}
		function := found[0].Functions[0]
		if test.own > 0 && (math.Abs(function.AtA[0]-test.own*0.01) > 1e-9 || math.Abs(function.AtB[0]-1) > 1e-9) {
			t.Errorf("%s: %g and %g s at the words", test.name, function.AtA[0], function.AtB[0])
		}
	}
}

// Of a line that threads write in common those words are told apart that nobody writes, or that one
// thread has: what is written beside them takes the line away.
func TestBeside(t *testing.T) {
	both := map[[2]int32]int64{{1, 0}: 50, {2, 0}: 50}
	reads := func(tid, offset int32, count int64) recording.Line {
		return recording.Line{Line: 0x1000, Pid: 9, Tid: tid, Offset: offset, Size: 8, Count: count, Stack: 0}
	}
	for _, test := range []struct {
		name string
		more []recording.Line
		want float64
	}{
		{"one word", nil, 0},
		{"a word that is only read", []recording.Line{reads(1, 8, 40), reads(2, 8, 30)}, 70},
		{"a word of one thread", []recording.Line{reads(1, 8, 40), {Line: 0x1000, Pid: 9, Tid: 1, Offset: 8, Size: 8,
			Write: true, Count: 5}}, 45},
	} {
		rec := shared(both)
		rec.Lines = append(rec.Lines, test.more...)
		found := Find(nil, []*recording.Recording{rec}, []float64{1})
		if len(found) != 1 || found[0].False || found[0].BesideB[0] != test.want {
			t.Errorf("%s: %+v", test.name, found)
		}
	}
	rec := shared(map[[2]int32]int64{{1, 0}: 50, {2, 8}: 50})
	if found := Find(nil, []*recording.Recording{rec}, []float64{1}); len(found) != 1 || found[0].BesideB[0] != 100 {
		t.Errorf("words of their own: %+v", found)
	}
}
