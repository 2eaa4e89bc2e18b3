package count

import (
	"culprit/internal/probe/counters"
	"culprit/internal/stat"
)

// windows are what one event came to in the readings of an interval.
type windows []stat.Observed

// tally is what is kept of one that is counted, from the begin of an interval on.
type tally struct {
	row  *counters.Row // the last reading
	last []counters.Count
	ran  int64 // at the last reading, and
	base int64 // at the begin of the interval
	// windows, by event and reading of the interval, are what was counted since the reading before.
	// An event that is never without a counter has one window.
	windows []windows
	still   int // intervals in which it did not run
}

// look reads all counters and adds a window to every tally.
func (s *Session) look() error {
	rows, err := s.source.read()
	if err != nil {
		return err
	}
	defer func() { s.looks++ }()
	for who, row := range rows {
		t := s.tallies[who]
		if t == nil {
			t = &tally{last: make([]counters.Count, len(row.Counts)), windows: make([]windows, len(row.Counts))}
			s.tallies[who] = t
			if s.tree != nil && who.ID != counters.Idle && who.ID != counters.Rest {
				s.tree.path(who.ID)
			}
		}
		t.add(row, s.options, s.looks)
	}
	return nil
}

// add adds what was counted since the last reading.
// Windows are by reading, so that those of several can be added up.
func (t *tally) add(row *counters.Row, options Options, reading int) {
	for i := range row.Counts {
		now, before := row.Counts[i], t.last[i]
		window := stat.Observed{Value: float64(now.Value - before.Value),
			Enabled: float64(now.Enabled - before.Enabled), Running: float64(now.Running - before.Running)}
		if window.Running > window.Enabled { // the kernel reads the two one after the other
			window.Running = window.Enabled
		}
		if scale := options.Events[i].Scale; scale != 0 {
			window.Value *= scale
		}
		at := 0
		if options.Events[i].Multiplexed() {
			at = reading
		}
		for len(t.windows[i]) <= at {
			t.windows[i] = append(t.windows[i], stat.Observed{})
		}
		t.windows[i][at] = sum(t.windows[i][at], window)
		t.last[i] = now
	}
	t.row, t.ran = row, row.RanNs
}

func sum(a, b stat.Observed) stat.Observed {
	return stat.Observed{Value: a.Value + b.Value, Enabled: a.Enabled + b.Enabled, Running: a.Running + b.Running}
}

// next begins another interval.
func (t *tally) next() {
	if t.ran == t.base {
		t.still++
	} else {
		t.still = 0
	}
	t.base = t.ran
	for i := range t.windows {
		t.windows[i] = t.windows[i][:0]
	}
}

// counted tells whether anything is to be said of the interval.
func (t *tally) counted() bool {
	if t.ran > t.base {
		return true
	}
	for _, windows := range t.windows {
		for _, window := range windows {
			if window.Value > 0 {
				return true
			}
		}
	}
	return false
}
