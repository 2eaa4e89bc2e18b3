package offcpu

import (
	"testing"

	"culprit/recording"
)

// The place where a lock is released is told by a whole stack, whichever release came first.
func TestWholeStackOfAReleaseIsKept(t *testing.T) {
	marker := recording.BrokenStack("native")
	broken := []*recording.Frame{&marker}
	early := []*recording.Frame{{Name: "main"}, {Name: "unlock_early"}}
	late := []*recording.Frame{{Name: "main"}, {Name: "unlock_late"}}
	by := release{futexOf{pid: 1, address: 8}, 2}
	for _, c := range []struct {
		name   string
		stacks [][]*recording.Frame
		want   []*recording.Frame
	}{
		{"nothing", [][]*recording.Frame{nil}, nil},
		{"broken only", [][]*recording.Frame{broken, nil}, broken},
		{"broken first", [][]*recording.Frame{broken, early}, early},
		{"broken last", [][]*recording.Frame{early, broken, nil}, early},
		{"the latest", [][]*recording.Frame{early, late}, late},
	} {
		got := &collection{releases: map[release][]*recording.Frame{}}
		for _, stack := range c.stacks {
			got.keepRelease(by, stack)
		}
		kept := got.releases[by]
		if len(kept) != len(c.want) || len(kept) > 0 && kept[len(kept)-1] != c.want[len(c.want)-1] {
			t.Errorf("%s: kept %v, want %v", c.name, kept, c.want)
		}
	}
}
