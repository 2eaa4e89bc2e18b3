package compare_test

import (
	"math"
	"testing"

	"culprit/internal/compare/lines"
	"culprit/recording"
)

// The time of a line's samples is told by function, and samples whose operand did not fit count
// with the others.
func TestTimeOfSharedLines(t *testing.T) {
	for _, test := range []struct {
		lost    int64
		seconds float64 // of 20 samples
	}{{0, 0.02}, {50, 0.04}, {99, 0.2}, {500, 0.2}} {
		rec := lineOf([2]int64{15, 5}, func(i int) (tid, cpu int32, slice int64) {
			return 7 + int32(i%2), int32(i % 2), int64(i / 2)
		})
		rec.Samples = rec.Samples[:100]
		rec.Manifest.Losses = []recording.Loss{{What: "oncpu: samples whose operand did not fit", Count: test.lost},
			{What: "oncpu: samples whose stack did not arrive", Count: 70}}
		lines := lines.Find(nil, []*recording.Recording{rec}, []float64{1})
		if len(lines) != 1 || len(lines[0].Functions) != 1 || lines[0].Functions[0].Name != "main" ||
			math.Abs(lines[0].Functions[0].B[0]-test.seconds) > 1e-9 {
			t.Errorf("%d operands lost: lines %+v, want %g s in main", test.lost, lines, test.seconds)
		}
	}
}

// An address that two threads had one after the other is no shared line.
func TestMemoryThatIsMappedAgain(t *testing.T) {
	side := func(i int) (tid, cpu int32, slice int64) { return 7 + int32(i%2), int32(i % 2), int64(i / 2) }
	for _, test := range []struct {
		unmaps, samples int64
		lines           int
	}{{20000, 2, 0}, {6, 2, 1}, {20000, 30, 1}} {
		rec := lineOf([2]int64{test.samples, test.samples}, side)
		rec.Syscalls = []recording.Syscall{{Pid: 7, Name: "munmap", Count: test.unmaps}, {Pid: 9, Name: "munmap", Count: 9e9}}
		if found := lines.Find(nil, []*recording.Recording{rec}, []float64{1}); len(found) != test.lines {
			t.Errorf("%+v: %d lines", test, len(found))
		}
	}
}
