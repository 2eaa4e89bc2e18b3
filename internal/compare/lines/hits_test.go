package lines

import (
	"testing"

	"culprit/recording"
)

// shared is a recording of two threads at one line, in which each was sampled in each word as often
// as told.
func shared(samples map[[2]int32]int64, hits ...recording.Line) *recording.Recording {
	rec := &recording.Recording{}
	rec.Frames = []recording.Frame{{Name: "count", Kind: recording.KindNative}}
	rec.Stacks = []recording.Stack{{Frames: []int32{0}}}
	for at, count := range samples {
		rec.Lines = append(rec.Lines, recording.Line{Line: 0x1000, Pid: 9, Tid: at[0], Offset: at[1], Size: 8, Write: true,
			Count: count})
	}
	for _, hit := range hits {
		hit.Line, hit.Pid, hit.Size, hit.Stack = 0x1000, 9, 8, recording.NoStack
		rec.Lines = append(rec.Lines, hit)
	}
	return rec
}

// What debug registers saw decides between false and true sharing; where they saw one thread alone,
// samples do, and the line is not confirmed.
func TestHitsDecide(t *testing.T) {
	apart := map[[2]int32]int64{{1, 0}: 50, {2, 8}: 50}
	mixed := map[[2]int32]int64{{1, 0}: 30, {2, 0}: 20, {1, 8}: 20, {2, 8}: 30}
	hit := func(tid, offset int32, write bool) recording.Line {
		return recording.Line{Tid: tid, Offset: offset, Write: write, Hits: 4, WatchedNs: 1}
	}
	for _, one := range []struct {
		name             string
		rec              *recording.Recording
		false, confirmed bool
	}{
		{"not watched, apart", shared(apart), true, false},
		{"not watched, mixed", shared(mixed), false, false},
		{"words of their own", shared(mixed, hit(1, 0, true), hit(2, 8, true)), true, true},
		{"one word", shared(apart, hit(1, 0, true), hit(2, 0, false), hit(2, 8, true)), false, true},
		{"nobody writes the common word", shared(apart, hit(1, 0, true), hit(2, 8, true), hit(1, 16, false),
			hit(2, 16, false)), true, true},
		{"one thread alone", shared(mixed, hit(1, 0, true), hit(1, 8, true)), false, false},
		{"nobody writes", shared(mixed, hit(1, 0, false), hit(2, 8, false)), false, false},
	} {
		found := Find([]*recording.Recording{one.rec}, nil, []float64{1})
		if len(found) != 1 || found[0].False != one.false || found[0].Confirmed != one.confirmed {
			t.Errorf("%s: %+v", one.name, found)
		}
	}
}
