package ask

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"culprit/internal/fleet/changes"
	"culprit/internal/fleet/store"
)

// Hours before and after a change of which a host is held against itself, and those between that
// count for neither: a restarted process warms up, and the hour of a change is known to some hours.
const (
	sideHours = 6
	warmHours = 1
)

// lookBack names for each change that was told a host that went through it as most did, with the
// commands that compare its windows of before with those of after: that comparison names functions
// and suspects.
func (a *asker) lookBack(table *changes.Table, versions [][]string, found *ChangesFound) {
	for _, rollout := range found.Rollouts {
		if !rollout.Told {
			continue
		}
		a.lookAround(table, "went through version "+rollout.Version+" as most did", func(host int) (int, int, bool) {
			hour := slices.Index(versions[host], rollout.Version)
			return hour, hour + warmHours, hour > 0
		})
	}
	if found.Watch == nil {
		return
	}
	for _, change := range found.Watch.Changes {
		low, high := hourOf(table, change.Low), hourOf(table, change.High)
		a.lookAround(table, "went through the change of "+clock(change.At.Unix())+" as most did",
			func(int) (int, int, bool) { return low, high + warmHours, low > 0 })
	}
}

func hourOf(table *changes.Table, at time.Time) int { return int(at.Sub(table.Start) / time.Hour) }

// lookAround looks for the host in the middle by what its cost became. around tells the hour that a
// host's hours of before end with, the first of those of after, and whether it went through it at
// all.
func (a *asker) lookAround(table *changes.Table, why string, around func(host int) (before, after int, went bool)) {
	type gone struct {
		host          int
		change        float64
		before, after int
	}
	var all []gone
	for host := range table.Hosts {
		before, after, went := around(host)
		if !went {
			continue
		}
		was, became := meanOf(table, host, before-sideHours, before), meanOf(table, host, after, after+sideHours)
		if change := became - was; !math.IsNaN(change) {
			all = append(all, gone{host, change, before, after})
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(x, y gone) int { return cmp.Compare(x.change, y.change) })
	middle := all[len(all)/2]
	second := func(hour int) int64 { return table.Start.Add(time.Duration(hour) * time.Hour).Unix() }
	before := store.Span{From: second(middle.before - sideHours), Until: second(middle.before)}
	after := store.Span{From: second(middle.after), Until: second(middle.after + sideHours)}
	name := table.Hosts[middle.host]
	look := Look{Host: name, Why: fmt.Sprintf("%s, by %+.1f %%", why, 100*math.Expm1(middle.change)),
		Commands: []string{compareTimes(a.request.Service, before, after)}}
	was, is := a.files(a.request.Service, name, before), a.files(a.request.Service, name, after)
	if len(was) > 0 && len(is) > 0 {
		look.Commands = append(look.Commands, CompareFiles(a.request.Service, was, is))
		look.Sides = [][]string{was, is}
	}
	a.answer.Look = append(a.answer.Look, look)
}

// meanOf is the mean over the hours that a host was there; NaN for none.
func meanOf(table *changes.Table, host, from, until int) float64 {
	sum, count := 0.0, 0.0
	for hour := max(0, from); hour < min(until, table.Hours()); hour++ {
		if value := float64(table.Values[host][hour]); !math.IsNaN(value) {
			sum, count = sum+value, count+1
		}
	}
	return sum / count
}
