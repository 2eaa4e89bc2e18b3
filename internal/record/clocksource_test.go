package record

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"culprit/internal/host"
	"culprit/recording"
)

// A source that is chosen for the run and put back before its end is the one that counts, and both
// are told.
func TestClockWatchSeesWhatIsPutBack(t *testing.T) {
	var source atomic.Pointer[string]
	set := func(name string) { source.Store(&name) }
	set("tsc")
	w := newClockWatch([]string{"tsc", "hpet"}, clockPause, func() string { return *source.Load() })
	set("hpet")
	time.Sleep(10 * clockPause)
	set("tsc")
	facts := withClock([]recording.Fact{{Name: host.FactClockSource, Value: "tsc"}, {Name: "other", Value: "1"}}, w.stop())
	rec := recording.Recording{Facts: facts}
	if rec.Fact(host.FactClockSource) != "hpet" || rec.Fact(host.FactClockSourcesSeen) != "hpet tsc" ||
		rec.Fact("other") != "1" || len(facts) != 3 {
		t.Errorf("facts %v: want hpet in force and tsc seen", facts)
	}
}

// Nothing is said where nothing changed, nor looked at where there is no choice.
func TestClockWatchOfOneSource(t *testing.T) {
	facts := []recording.Fact{{Name: host.FactClockSource, Value: "tsc"}}
	for _, available := range [][]string{nil, {"tsc"}, {"tsc", "hpet"}} {
		looks := 0
		w := newClockWatch(available, clockPause, func() string { looks++; return "tsc" })
		sources := w.stop()
		if (looks == 0) != (len(available) < 2) {
			t.Errorf("%q: looked %d times", available, looks)
		}
		if told := withClock(slices.Clone(facts), sources); !slices.Equal(told, facts) {
			t.Errorf("%q: facts %v", available, told)
		}
	}
}
