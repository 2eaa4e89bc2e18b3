// Package changes tells when a service became slower or faster, out of hourly means of its hosts.
//
// Hosts that come and go are taken out first: each has an effect of its own. What is left is held
// against the same hour of the past three weeks, weekdays and weekends apart, and the median of the
// last 24 hours against its own spread over four weeks: dips of some hours that go away by
// themselves do not reach a median. Where versions are known, Rollout holds new against old hosts
// in the same hours, which sees far smaller changes and needs two days instead of six weeks.
//
//	found, err := changes.Watch(table, changes.Options{})
//	effect, err := changes.Rollout(table, started, changes.RolloutOptions{})
//
// It refuses tables with less than Least of history, and never alarms in it.
package changes

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"culprit/internal/stat"
)

// ErrTooShort is returned where there is too little history.
var ErrTooShort = errors.New("too little history")

// Table has the logarithm of each host's cost in each hour; NaN where the host was not there.
type Table struct {
	Start  time.Time // of the first hour
	Hosts  []string
	Values [][]float32 // by host, then by hour
}

// Hours is how long the table is.
func (t *Table) Hours() int {
	if len(t.Values) == 0 {
		return 0
	}
	return len(t.Values[0])
}

// Options say what is a change.
type Options struct {
	// Smallest is the least change that matters, 0.02: half of it is no alarm whatever its spread.
	Smallest float64
	// Spreads is how far the median has to leave its own spread; 5.
	Spreads float64
	// Since leaves out alarms before it; the history is still used.
	Since time.Time
}

// How long each part of the method looks. Least is all of them: three weeks for the hours, one day
// left out, and a week of medians for their spread.
const (
	day         = 24
	seasonDays  = 21
	spreadDays  = 28
	leastDays   = 7
	medianHours = 24
	Least       = (seasonDays + 1 + leastDays + 1) * day
)

// Change is one.
type Change struct {
	// Told is the hour at which the rule alarmed; At is when it began, between Low and High with 95
	// %.
	Told time.Time `json:"told"`
	At   time.Time `json:"at"`
	Low  time.Time `json:"low"`
	High time.Time `json:"high"`
	// Size is the change as a ratio − 1: 0.02 is 2 % dearer.
	Size stat.Interval `json:"size"`
	// Spreads is how far the median had left its spread when it was told.
	Spreads float64 `json:"spreads"`
}

// Answer has all changes in order of time.
type Answer struct {
	Changes []Change `json:"changes"`
	// Noise is the robust spread of the median over a day, and Findable the step that is found
	// within a day in most cases: about seven times of it.
	Noise    float64 `json:"noise"`
	Findable float64 `json:"findable"`
	Hosts    int     `json:"hosts"`
	Hours    int     `json:"hours"`
	// Missing counts hours without any host.
	Missing int `json:"missing"`
}

// Watch looks for changes of the whole service.
func Watch(table *Table, options Options) (*Answer, error) {
	if options.Smallest == 0 {
		options.Smallest = 0.02
	}
	if options.Spreads == 0 {
		options.Spreads = 5
	}
	if hours := table.Hours(); hours < Least {
		return nil, fmt.Errorf("look for changes: %w: %d hours, at least %d (%d days)", ErrTooShort, hours, Least, Least/day)
	}
	for i, values := range table.Values {
		if len(values) != table.Hours() {
			return nil, fmt.Errorf("look for changes: host %d has %d hours of %d", i, len(values), table.Hours())
		}
	}
	level := commonLevel(table)
	answer := &Answer{Hosts: len(table.Values), Hours: len(level), Changes: []Change{}}
	for _, value := range level {
		if math.IsNaN(value) {
			answer.Missing++
		}
	}
	weekdayOf := func(hour int) bool { return isWeekend(table.Start.Add(time.Duration(hour) * time.Hour)) }
	w := &watch{level: level, weekend: weekdayOf, options: options, start: table.Start}
	w.residual = deseasoned(level, weekdayOf)
	w.median = rolling(w.residual, medianHours)
	answer.Changes = w.alarms()
	answer.Noise = w.noise
	answer.Findable = max(findableSpreads*w.noise, options.Smallest/2)
	return answer, nil
}

// findableSpreads is how many spreads of the day's median a step needs to be found within a day, by
// simulation.
const findableSpreads = 7

// watch is one series while it is looked through.
type watch struct {
	level, residual, median []float64
	weekend                 func(hour int) bool
	options                 Options
	start                   time.Time
	noise                   float64
}

// alarms goes through the hours as they came: what is told at an hour was known then.
func (w *watch) alarms() []Change {
	changes := []Change{}
	first := (seasonDays+1)*day + medianHours
	quiet := -1 // no alarm again before: the season has to learn the new level
	for hour := first + leastDays*day; hour < len(w.median); hour++ {
		history := known(w.median[max(first, hour-spreadDays*day) : hour-day])
		if math.IsNaN(w.median[hour]) || len(history) < leastDays*day/2 {
			continue
		}
		centre := stat.Middle(history)
		spread := robustSpread(history, centre)
		w.noise = spread
		away := w.median[hour] - centre
		if hour <= quiet || math.Abs(away) <= max(w.options.Spreads*spread, w.options.Smallest/2) {
			continue
		}
		change := w.date(hour, centre)
		change.Spreads = math.Abs(away) / max(spread, 1e-12)
		quiet = hour + seasonDays*day/2
		if !change.Told.Before(w.options.Since) {
			changes = append(changes, change)
		}
	}
	return changes
}

func known(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}

// robustSpread is the median distance from the centre, as a standard deviation.
func robustSpread(values []float64, centre float64) float64 {
	distances := make([]float64, len(values))
	for i, value := range values {
		distances[i] = math.Abs(value - centre)
	}
	return 1.4826 * stat.Middle(distances)
}

// rolling is the median of the last hours up to each; NaN where fewer than half of them are known.
func rolling(values []float64, hours int) []float64 {
	result := make([]float64, len(values))
	for i := range values {
		result[i] = math.NaN()
		if i+1 < hours {
			continue
		}
		if window := known(values[i+1-hours : i+1]); 2*len(window) >= hours {
			slices.SortFunc(window, cmp.Compare[float64])
			result[i] = (window[(len(window)-1)/2] + window[len(window)/2]) / 2
		}
	}
	return result
}

func isWeekend(at time.Time) bool {
	weekday := at.UTC().Weekday()
	return weekday == time.Saturday || weekday == time.Sunday
}
