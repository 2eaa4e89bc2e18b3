package watchpoint

import (
	"sync/atomic"
	"testing"
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
