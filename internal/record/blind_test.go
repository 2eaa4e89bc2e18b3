package record

import (
	"strings"
	"testing"

	"culprit/recording"
)

// Stacks that are not whole are counted by why, most first; a few are not worth a word.
func TestBrokenStacksAreToldByReason(t *testing.T) {
	builder := recording.NewBuilder()
	stack := func(root recording.Frame) int32 {
		return builder.Stack([]int32{builder.Frame(root),
			builder.Frame(recording.Frame{Name: "work", Kind: recording.KindNative})})
	}
	rec := &recording.Recording{}
	add := func(root recording.Frame, count int) {
		for range count {
			rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, Target: true,
				Stack: stack(root)})
		}
	}
	start := recording.Frame{Name: "_start", Kind: recording.KindNative}
	add(start, 93)
	add(recording.BrokenStack("code without a file"), 2)
	add(recording.BrokenStack("its mappings were not known yet"), 5)
	builder.Into(rec)
	const want = "7 of 100 stacks could not be followed to their root: its mappings were not known yet 5, " +
		"code without a file 2"
	if spots := strings.Join(recording.Words(blindSpots(rec, nil, false)), "\n"); !strings.Contains(spots, want) {
		t.Errorf("%q is not among\n%s", want, spots)
	}
	add(start, 900)
	if spots := strings.Join(recording.Words(blindSpots(rec, nil, false)), "\n"); strings.Contains(spots, "root") {
		t.Errorf("7 of 1000 are told:\n%s", spots)
	}
}
