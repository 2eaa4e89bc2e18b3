package lookup

import (
	"fmt"
	"strings"
	"time"
)

// span is a stretch of time that was asked for. A day without a clock time is the same clock time
// of another day where the other side of a comparison has one.
type span struct {
	from, to time.Time
	day      bool // a whole day was named, and nothing of it
	instant  bool // the window at a time was asked for
}

// DefaultSpan is how far back a name without a time reaches.
const DefaultSpan = 10 * time.Minute

// parseSpan reads what stands behind the @: "03:00..03:10", "yesterday 03:00..03:10", "yesterday",
// "-2h", "2026-11-22T03:00..04:00", "03:00".
func parseSpan(text string, now time.Time) (span, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return span{from: now.Add(-DefaultSpan), to: now}, nil
	}
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		return single(text, now)
	}
	from, err := parseMoment(first, now)
	if err != nil {
		return span{}, err
	}
	to, err := parseMoment(last, now)
	if err != nil {
		return span{}, err
	}
	if to.clockOnly && !from.relative { // on the day of the first, or the next
		to.at = onDay(to.at, from.at)
		if !to.at.After(from.at) {
			to.at = onDay(to.at, from.at.AddDate(0, 0, 1))
		}
	}
	if to.day {
		to.at = to.at.AddDate(0, 0, 1)
	}
	if !to.at.After(from.at) {
		return span{}, fmt.Errorf("time %q ends before it begins", text)
	}
	return span{from: from.at, to: to.at}, nil
}

// single reads one time: a day is all of it, a clock time the window at it, "-2h" from then on.
func single(text string, now time.Time) (span, error) {
	one, err := parseMoment(text, now)
	switch {
	case err != nil:
		return span{}, err
	case one.day:
		return span{from: one.at, to: one.at.AddDate(0, 0, 1), day: true}, nil
	case one.relative:
		return span{from: one.at, to: now}, nil
	}
	return span{from: one.at, to: one.at.Add(time.Nanosecond), instant: true}, nil
}

// moment is one time as it was written.
type moment struct {
	at                       time.Time
	day, clockOnly, relative bool
}

var (
	clockLayouts = []string{"15:04", "15:04:05"}
	wholeLayouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"}
	zonedLayouts = []string{"2006-01-02T15:04Z07:00", time.RFC3339}
)

func parseMoment(text string, now time.Time) (moment, error) {
	text = strings.TrimSpace(text)
	if text == "now" {
		return moment{at: now, relative: true}, nil
	}
	if back, found := strings.CutPrefix(text, "-"); found {
		length, err := time.ParseDuration(back)
		if err != nil || length <= 0 {
			return moment{}, wrongTime(text)
		}
		return moment{at: now.Add(-length), relative: true}, nil
	}
	if day, clock, found := namedDay(text, now); found {
		if clock == "" {
			return moment{at: day, day: true}, nil
		}
		if at, ok := parseClock(clock, day); ok {
			return moment{at: at}, nil
		}
		return moment{}, wrongTime(text)
	}
	if at, ok := parseClock(text, now); ok { // the last time that it was so late
		if at.After(now) {
			at = onDay(at, now.AddDate(0, 0, -1))
		}
		return moment{at: at, clockOnly: true}, nil
	}
	if at, err := time.ParseInLocation("2006-01-02", text, now.Location()); err == nil {
		return moment{at: at, day: true}, nil
	}
	for _, layout := range wholeLayouts {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return moment{at: at}, nil
		}
	}
	for _, layout := range zonedLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return moment{at: at}, nil
		}
	}
	return moment{}, wrongTime(text)
}

// namedDay reads "yesterday 03:00" and "today": the day's beginning, and what is left.
func namedDay(text string, now time.Time) (day time.Time, clock string, found bool) {
	for name, back := range map[string]int{"yesterday": -1, "today": 0} {
		rest, is := strings.CutPrefix(text, name)
		if !is || rest != "" && rest[0] != ' ' && rest[0] != 'T' {
			continue
		}
		year, month, number := now.AddDate(0, 0, back).Date()
		clock = strings.TrimLeft(rest, " T")
		return time.Date(year, month, number, 0, 0, 0, 0, now.Location()), clock, true
	}
	return time.Time{}, "", false
}

func parseClock(text string, day time.Time) (time.Time, bool) {
	for _, layout := range clockLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return onDay(at, day), true
		}
	}
	return time.Time{}, false
}

// onDay is a clock time on a day. Where the clock is put on, a time that there is not is an hour
// later.
func onDay(clock, day time.Time) time.Time {
	year, month, number := day.Date()
	return time.Date(year, month, number, clock.Hour(), clock.Minute(), clock.Second(), 0, day.Location())
}

// sameClock is a stretch on the day of another.
func (s span) sameClock(day time.Time) span {
	from := onDay(s.from.In(day.Location()), day)
	return span{from: from, to: from.Add(s.to.Sub(s.from))}
}

func wrongTime(text string) error {
	return fmt.Errorf("%q is no time; give one such as 03:00..03:10, yesterday, \"yesterday 03:00..03:10\", -2h, or "+
		"2026-11-22T03:00..04:00", text)
}

const shown = "2006-01-02 15:04:05"

func (s span) String() string {
	if s.instant {
		return "at " + s.from.Format(shown)
	}
	return "from " + s.from.Format(shown) + " to " + s.to.Format(shown)
}
