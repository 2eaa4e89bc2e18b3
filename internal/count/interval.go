package count

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"culprit/internal/probe/counters"
	"culprit/internal/stat"
)

// The scopes of numbers: where the counter is that they come from.
const ScopeCPU = "per-cpu"

// What time does in a number while nobody runs.
const (
	StandsStill = "stands still" // booked to somebody: their sleep is not in it
	GoesOn      = "goes on"      // of a CPU: its idling is in it
)

// Number is what one event came to.
type Number struct {
	Value float64 `json:"value"`
	// Low and High: the true count lies between them, with 95 % confidence. They are the value
	// where it was counted all the time.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Scope is where the counter is. Asleep says what time does in the number while who is counted
	// sleeps.
	Scope  string `json:"scope"`
	Asleep string `json:"asleep"`
	// Enabled are the seconds in which it was to be counted, Running those in which a counter did
	// so.
	Enabled float64 `json:"enabled"`
	Running float64 `json:"running"`
	Unit    string  `json:"unit,omitempty"`
}

// Row is what one of them came to in an interval.
type Row struct {
	Key string `json:"key"`
	// Pid and Tid are those of a process or thread, Comm its name.
	Pid    int32             `json:"pid,omitempty"`
	Tid    int32             `json:"tid,omitempty"`
	Comm   string            `json:"comm,omitempty"`
	Ran    float64           `json:"ran,omitempty"` // seconds on a CPU, all CPUs together
	Counts map[string]Number `json:"counts"`
	// Own are the counts of a cgroup without those below it, where there are any below.
	Own     map[string]Number  `json:"own,omitempty"`
	Derived map[string]Derived `json:"derived,omitempty"`

	windows []windows
	below   bool      // there are cgroups below it
	own     []windows // without them
}

// Interval is what all came to between two times.
type Interval struct {
	Begin   time.Time
	Seconds float64
	By      string
	Events  []string
	Rows    []Row // the largest count of the first event first
	// Booked is, by event since the begin, the sum of all that was booked over what the CPUs
	// counted: near 1. Empty with ByCPU.
	Booked map[string]float64
	Lost   map[string]int64
	// Nested: each cgroup has what is below it.
	Nested bool
	// Multiplexed are events that counted for part of the time only.
	Multiplexed []string
}

// Names of rows that are nobody's.
const (
	IdleKey = "(idle)"
	// RestKey has what could not be booked to anybody: rows that did not fit, switches that the
	// kernel did not show.
	RestKey = "(not known)"
)

// interval closes the one that is open.
func (s *Session) interval(begin, end time.Time) (*Interval, error) {
	out := &Interval{Begin: begin, Seconds: end.Sub(begin).Seconds(), By: s.options.By, Events: s.options.Events.Names(),
		Nested: s.tree != nil && !s.options.Own}
	rows, err := s.rows()
	if err != nil {
		return nil, err
	}
	out.Rows = rows
	for i, name := range out.Events {
		if slices.ContainsFunc(rows, func(r Row) bool { return r.Counts[name].Running < r.Counts[name].Enabled*0.999 }) {
			out.Multiplexed = append(out.Multiplexed, name)
		}
		slices.SortStableFunc(rows, func(a, b Row) int {
			if i > 0 {
				return 0
			}
			return cmp.Or(cmp.Compare(b.Counts[name].Value, a.Counts[name].Value), cmp.Compare(a.Key, b.Key))
		})
	}
	if out.Lost, err = s.source.lost(); err != nil {
		return nil, err
	}
	if out.Booked, err = s.booked(); err != nil {
		return nil, err
	}
	return out, s.next()
}

// rows makes the rows of the interval.
func (s *Session) rows() ([]Row, error) {
	own := map[string]*Row{}
	for who, t := range s.tallies {
		if who.ID == counters.Others || who.ID == counters.Idle && len(s.options.Pids) > 0 || !t.counted() {
			continue // not of who is counted
		}
		row := s.row(who, t)
		if before := own[row.Key]; before != nil {
			before.merge(row) // a cgroup that was removed and made again
			continue
		}
		own[row.Key] = row
	}
	if s.tree != nil && !s.options.Own {
		own = nested(own)
	}
	var rows []Row
	for key, row := range own {
		if s.options.Cgroup != "" && !within(key, s.options.Cgroup) {
			continue
		}
		if err := row.finish(s.options, s.turn); err != nil {
			return nil, fmt.Errorf("count of %s: %w", key, err)
		}
		rows = append(rows, *row)
	}
	return rows, nil
}

// row begins the row of one of them.
func (s *Session) row(who identity, t *tally) *Row {
	row := &Row{Ran: float64(t.ran-t.base) / 1e9, windows: slices.Clone(t.windows)}
	for i := range row.windows {
		row.windows[i] = slices.Clone(row.windows[i])
	}
	switch {
	case s.options.By == ByCPU:
		row.Key = "cpu" + strconv.FormatUint(who.ID, 10)
	case who.ID == counters.Idle:
		row.Key = IdleKey
	case who.ID == counters.Rest:
		row.Key = RestKey
	case s.options.By == ByCgroup:
		row.Key = s.tree.path(who.ID)
	default:
		row.Comm = commOf(who, t.row)
		row.Pid = t.row.Pid
		row.Key = strconv.FormatUint(who.ID, 10) + " " + row.Comm
		if s.options.By == ByThread {
			row.Tid = int32(who.ID)
		} else {
			row.Pid = int32(who.ID)
		}
	}
	return row
}

// merge adds another row's windows.
func (r *Row) merge(other *Row) {
	r.Ran += other.Ran
	for i := range other.windows {
		for len(r.windows[i]) < len(other.windows[i]) {
			r.windows[i] = append(r.windows[i], stat.Observed{})
		}
		for at, window := range other.windows[i] {
			r.windows[i][at] = sum(r.windows[i][at], window)
		}
	}
}

// confidence of the intervals.
const confidence = 0.95

// finish turns windows into numbers.
func (r *Row) finish(options Options, turn float64) error {
	r.Counts = map[string]Number{}
	asleep := StandsStill
	if options.By == ByCPU {
		asleep = GoesOn
	}
	for i := range options.Events {
		each := &options.Events[i]
		number, err := numberOf(r.windows[i], turn)
		if err != nil {
			continue // it had no counter while this one ran: nothing is known of it
		}
		number.Scope, number.Asleep, number.Unit = ScopeCPU, asleep, each.Unit
		r.Counts[each.Name] = number
	}
	r.Derived = derive(options.Events, r, turn)
	if r.below {
		alone := Row{windows: r.own}
		if err := alone.finish(options, turn); err != nil {
			return err
		}
		r.Own = alone.Counts
	}
	return nil
}

func numberOf(windows []stat.Observed, turn float64) (Number, error) {
	interval, err := stat.Extrapolate(windows, turn, confidence)
	if err != nil {
		return Number{}, err
	}
	number := Number{Value: interval.Value, Low: interval.Low, High: interval.High}
	for _, window := range windows {
		number.Enabled += window.Enabled / 1e9
		number.Running += window.Running / 1e9
	}
	return number, nil
}

// booked holds what was booked against what the CPUs counted.
func (s *Session) booked() (map[string]float64, error) {
	if s.options.By == ByCPU {
		return nil, nil
	}
	now, err := s.source.cpus()
	if err != nil {
		return nil, err
	}
	shares := map[string]float64{}
	for i, name := range s.options.Events.Names() {
		booked, counted := s.left[i], 0.0
		for _, t := range s.tallies {
			booked += float64(t.last[i].Value)
		}
		for cpu := range now {
			counted += float64(now[cpu][i].Value - s.first[cpu][i].Value)
		}
		if counted > 0 {
			shares[name] = booked / counted
		}
	}
	return shares, nil
}

// stillFor is how many intervals somebody who is gone is kept.
const stillFor = 2

// next begins another interval, and forgets who is gone.
func (s *Session) next() error {
	s.looks = 0
	for who, t := range s.tallies {
		t.next()
		if t.still < stillFor || who.ID == counters.Rest || who.ID == counters.Others || who.ID == counters.Idle ||
			s.options.By == ByCPU || s.there(who) {
			continue
		}
		if err := s.source.forget(who); err != nil {
			return err
		}
		for i := range t.last {
			s.left[i] += float64(t.last[i].Value)
		}
		delete(s.tallies, who)
	}
	return nil
}
