package record

import (
	"testing"
	"time"
)

// The account of BPF run time is on seldom once enough is known, but as often as before for who
// keeps to a budget, and never more often than a recorder that stays has it.
func TestCostIsSampledSeldomUnlessAsked(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		every time.Duration
		taken int
		asked time.Time
		want  time.Duration
	}{
		{time.Second, 1, time.Time{}, time.Second},
		{time.Second, costSoon - 1, time.Time{}, time.Second},
		{time.Second, costSoon, time.Time{}, costSeldom},
		{time.Second, 600, now.Add(-time.Second), time.Second},
		{time.Second, 600, now.Add(-costAsked), costSeldom},
		{10 * time.Second, 600, time.Time{}, 10 * time.Second},
	} {
		meter := &costMeter{every: test.every}
		if !test.asked.IsZero() {
			meter.asked.Store(test.asked.UnixNano())
		}
		if got := meter.pauseAfter(test.taken, now); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
