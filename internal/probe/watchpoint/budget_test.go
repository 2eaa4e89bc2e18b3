package watchpoint

import (
	"sync/atomic"
	"testing"
	"time"
)

// What a hit costs is measured on this kernel, and not assumed.
func TestCostOfHitIsMeasured(t *testing.T) {
	var shared line
	var stop atomic.Bool
	watched(t, Thread{busy(t, &shared.word[0], nil, &stop), []Word{wordOf(&shared.word[0])}}) // or skips
	cost := costOfHit()
	if cost <= 0 || cost == costUnmeasured {
		t.Errorf("a hit costs %v: not measured", cost)
	}
}

// However dear a hit is, one word of a thread is watched once.
func TestDearHits(t *testing.T) {
	words := make([]Word, Slots)
	watcher := New(time.Microsecond)
	watcher.hit = time.Millisecond
	got := watcher.bearable([]Thread{{1, words}, {2, nil}})
	if len(got) != 1 || len(got[0].Words) != 1 {
		t.Errorf("the first time: %+v", got)
	}
	watcher.charge([]Seen{{Tid: 1, Touches: 1, Watched: 1, armed: 1}})
	if got := watcher.bearable([]Thread{{1, words}}); got != nil {
		t.Errorf("the second time: %+v", got)
	}
}
