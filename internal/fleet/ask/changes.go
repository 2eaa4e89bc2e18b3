package ask

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"culprit/internal/fleet/changes"
	"culprit/internal/fleet/store"
)

// ChangesFound is the answer to changes.
type ChangesFound struct {
	// Watch is nil where the history is too short; Short says so then.
	Watch *changes.Answer `json:"watch,omitempty"`
	Short string          `json:"short,omitempty"`
	// Rollouts are of the versions that came in the time, in order.
	Rollouts []Rollout `json:"rollouts"`
	// Together are what changed on many hosts around each change of Watch.
	Together []Together `json:"together"`
	// Course is the level of the service in each hour of the time that was asked for.
	Course []LevelHour `json:"course"`
}

// LevelHour is what a request, or the service, costs in an hour, when each host has an effect of
// its own: hosts that come and go do not move it.
type LevelHour struct {
	At    int64   `json:"at"`
	Level float64 `json:"level"` // in the answer's unit
	Hosts int     `json:"hosts"` // that were seen in it
}

// Rollout is a version that came.
type Rollout struct {
	Version string `json:"version"`
	Start   int64  `json:"start"`
	Hosts   int    `json:"hosts"` // that changed to it
	// Effect is nil where it cannot be told, and Why says why.
	Effect *changes.Rollout `json:"effect,omitempty"`
	Why    string           `json:"why,omitempty"`
	// Told: the effect is beyond what the deals of turns show, at one in ten thousand.
	Told bool `json:"told"`
}

// Together is what changed on hosts at about the time of a change of the level.
type Together struct {
	Change int    `json:"change"` // its number in Watch
	What   string `json:"what"`
	Hosts  int    `json:"hosts"`
}

const (
	hourSeconds = 3600
	// historyHours before the time that is asked for: three weeks for the hours, four for their
	// spread, a day between.
	historyHours = 50 * 24
	// sure is the p-value of a roll-out that is told: an operator has thousands of them.
	sure = 1.0001e-4
)

func (a *asker) changes() error {
	span := store.Span{From: a.request.Span.From - historyHours*hourSeconds, Until: a.request.Span.Until}
	a.tell("reading hours")
	hours, err := a.store.Hours(a.ctx, a.request.Service, span)
	if err != nil {
		return err
	}
	if len(hours) == 0 {
		return a.nothing(a.request.Span)
	}
	table, versions := a.table(hours)
	a.answer.Hosts = len(table.Hosts)
	a.tell(fmt.Sprintf("looking for roll-outs and changes in %d hours of %d hosts", table.Hours(), len(table.Hosts)))
	result := &ChangesFound{Rollouts: a.rollouts(table, versions), Together: []Together{},
		Course: a.course(table)}
	a.answer.Changes = result
	found, err := changes.Watch(table, changes.Options{Smallest: a.request.Smallest,
		Since: time.Unix(a.request.Span.From, 0).UTC()})
	if err != nil && !errors.Is(err, changes.ErrTooShort) {
		return err
	}
	if result.Watch = found; err != nil {
		result.Watch, result.Short = nil, strings.TrimPrefix(err.Error(), "look for changes: ") // of an answer, no error
	}
	a.lookBack(table, versions, result)
	if result.Watch == nil {
		return nil
	}
	return a.together(result, versions)
}

// course is the level over the time that was asked for.
func (a *asker) course(table *changes.Table) []LevelHour {
	course := []LevelHour{}
	for hour, level := range changes.Level(table) {
		at := table.Start.Add(time.Duration(hour) * time.Hour).Unix()
		if math.IsNaN(level) || at+hourSeconds <= a.request.Span.From {
			continue
		}
		seen := 0
		for _, values := range table.Values {
			if values[hour] == values[hour] {
				seen++
			}
		}
		course = append(course, LevelHour{at, math.Exp(level), seen})
	}
	return course
}

// table turns hours into logarithms of each host's cost, and into the version of each.
func (a *asker) table(hours []store.Hour) (*changes.Table, [][]string) {
	first, last := hours[0].Start, hours[0].Start
	requests := false
	for _, hour := range hours {
		first, last = min(first, hour.Start), max(last, hour.Start)
		requests = requests || hour.Requests > 0
		a.answer.Windows += hour.Windows
	}
	a.answer.Unit = cores
	if requests {
		a.answer.Unit = perRequest
	} else {
		a.note("no requests are seen: what is watched is CPU time alone, which follows the load")
	}
	length := int((last-first)/hourSeconds) + 1
	table := &changes.Table{Start: time.Unix(first, 0).UTC()}
	var versions [][]string
	for i := 0; i < len(hours); {
		name := hours[i].Host
		row, version := make([]float32, length), make([]string, length)
		for j := range row {
			row[j] = float32(math.NaN())
		}
		for i < len(hours) && hours[i].Host == name {
			at := int((hours[i].Start - first) / hourSeconds)
			sum, longest := store.Use{}, int64(-1)
			for ; i < len(hours) && hours[i].Host == name && int((hours[i].Start-first)/hourSeconds) == at; i++ {
				h := hours[i]
				sum.SeenCPUNs, sum.Requests = sum.SeenCPUNs+h.SeenCPUNs, sum.Requests+h.Requests
				sum.CPUNs, sum.LengthNs = sum.CPUNs+h.CPUNs, sum.LengthNs+h.LengthNs
				if h.LengthNs > longest {
					longest, version[at] = h.LengthNs, h.Version
				}
			}
			value := float64(sum.CPUNs) / float64(sum.LengthNs)
			if requests {
				value = float64(sum.SeenCPUNs) / float64(sum.Requests)
			}
			if value > 0 && !math.IsInf(value, 0) {
				row[at] = float32(math.Log(value))
			}
		}
		table.Hosts = append(table.Hosts, name)
		table.Values, versions = append(table.Values, row), append(versions, version)
	}
	return table, versions
}

// rollouts compares each version that came in the time with the one that its hosts had.
func (a *asker) rollouts(table *changes.Table, versions [][]string) []Rollout {
	switched := map[string][]int{}
	for host, of := range versions {
		last := ""
		for hour, version := range of {
			if version == "" || version == last {
				continue
			}
			if last != "" {
				if switched[version] == nil {
					switched[version] = slices.Repeat([]int{changes.Never}, len(versions))
				}
				switched[version][host] = min(switched[version][host], hour)
			}
			last = version
		}
	}
	found := []Rollout{}
	for _, version := range slices.Sorted(maps.Keys(switched)) {
		hosts, start := 0, changes.Never
		for _, hour := range switched[version] {
			if start = min(start, hour); hour != changes.Never {
				hosts++
			}
		}
		at := table.Start.Add(time.Duration(start) * time.Hour).Unix()
		if at < a.request.Span.From-hourSeconds {
			continue
		}
		rollout := Rollout{Version: version, Start: at, Hosts: hosts}
		effect, err := changes.CompareRollout(cut(table, start), shifted(switched[version], max(0, start-24)),
			changes.RolloutOptions{})
		switch {
		case err != nil:
			rollout.Why = err.Error()
		default:
			rollout.Effect, rollout.Told = effect, effect.P <= sure
		}
		found = append(found, rollout)
	}
	slices.SortFunc(found, func(x, y Rollout) int { return cmp.Compare(x.Start, y.Start) })
	return found
}

// The hours around the start of a roll-out that are compared: later ones have few hosts of the old
// version.
const rolloutHours = 72

func cut(table *changes.Table, start int) *changes.Table {
	from, until := max(0, start-24), min(table.Hours(), start+rolloutHours)
	part := &changes.Table{Start: table.Start.Add(time.Duration(from) * time.Hour), Hosts: table.Hosts}
	for _, values := range table.Values {
		part.Values = append(part.Values, values[from:until])
	}
	return part
}

func shifted(hours []int, by int) []int {
	moved := slices.Clone(hours)
	for i := range moved {
		if moved[i] != changes.Never {
			moved[i] -= by
		}
	}
	return moved
}

// together lists what changed on several hosts around each change: versions, and facts.
func (a *asker) together(result *ChangesFound, versions [][]string) error {
	const around = 6 * hourSeconds
	for i, change := range result.Watch.Changes {
		from, until := change.Low.Unix()-around, change.High.Unix()+hourSeconds
		for _, rollout := range result.Rollouts {
			if rollout.Start >= from-around && rollout.Start <= until {
				result.Together = append(result.Together, Together{i, "version " + rollout.Version, rollout.Hosts})
			}
		}
		facts, err := a.store.FactsChanged(a.ctx, store.Span{From: from, Until: until})
		if err != nil {
			return err
		}
		for _, fact := range facts {
			if fact.Hosts >= max(3, int64(len(versions)/20)) && len(result.Together) < 5*a.request.Most {
				result.Together = append(result.Together,
					Together{i, fmt.Sprintf("%s became %s", fact.Name, Quote(fact.Value)), int(fact.Hosts)})
			}
		}
	}
	return nil
}
