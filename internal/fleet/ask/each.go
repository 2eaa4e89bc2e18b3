package ask

import (
	"maps"
	"math"
	"slices"

	"culprit/internal/fleet/bands"
	"culprit/internal/fleet/store"
)

// HostValue is one host as the answer sees it.
type HostValue struct {
	Host  string  `json:"host"`
	Value float64 `json:"value"`           // in the answer's unit; 0 where it has none
	Load  float64 `json:"load,omitempty"`  // requests a second; 0 where none were seen
	Cores float64 `json:"cores,omitempty"` // that the service used
	// Before is the value at the time that a host is held against itself.
	Before float64 `json:"before,omitempty"`
	// Group is the band or the side: "cheap", "dear", "between", "apart", "A", "B".
	Group   string            `json:"group,omitempty"`
	Version string            `json:"version,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Windows int64             `json:"windows"`
	First   int64             `json:"first"` // when its first window began, and its last
	Last    int64             `json:"last"`
}

// silentSeconds before the time that is asked for a host is looked for that sends nothing any more.
const silentSeconds = 7 * store.Day

// each puts the hosts into the answer, by name, each in its group.
func (a *asker) each(hosts []host, group func(name string) string) {
	finite := func(value float64) float64 {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return 0
		}
		return value
	}
	a.answer.Each = make([]HostValue, 0, len(hosts))
	for _, h := range hosts {
		a.answer.Each = append(a.answer.Each, HostValue{Host: h.name, Value: finite(h.value), Load: finite(h.load),
			Cores: finite(h.cores), Group: group(h.name), Version: h.version, Labels: h.labels, Windows: h.windows,
			First: h.first, Last: h.last})
	}
}

// bandsOf tells the band of a host; of one band which hosts stand apart.
func bandsOf(found *bands.Answer) func(name string) string {
	groups := map[string]string{}
	set := func(names []string, group string) {
		for _, name := range names {
			groups[name] = group
		}
	}
	if found.Two {
		set(found.Low.Hosts, "cheap")
		set(found.High.Hosts, "dear")
		set(found.Between, "between")
	}
	set(found.Outliers, "apart")
	return func(name string) string { return groups[name] }
}

// services lists what the store has.
func (a *asker) services() error {
	a.request.Service, a.answer.Service = "", ""
	a.tell("reading services")
	found, err := a.store.Services(a.ctx)
	a.answer.Services = found
	for _, service := range found {
		a.answer.Windows += service.Windows
	}
	return err
}

// hostsAlone lists the hosts of the service with their values, and those that sent nothing in the
// time.
func (a *asker) hostsAlone() error {
	hosts, err := a.chosenHosts()
	if err != nil {
		return err
	}
	a.each(hosts, func(string) string { return "" })
	last, err := a.lastSeen()
	if err != nil {
		return err
	}
	chosen, err := parseSelection(a.request.A)
	if err != nil || len(chosen) > 0 {
		return err // of hosts that are silent no labels are known
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if last[name] < a.request.Span.From {
			a.answer.Each = append(a.answer.Each, HostValue{Host: name, First: last[name], Last: last[name]})
		}
	}
	return nil
}

// lastSeen is the last window of each host in the time and the week before.
func (a *asker) lastSeen() (map[string]int64, error) {
	return a.store.LastSeen(a.ctx, a.request.Service,
		store.Span{From: a.request.Span.From - silentSeconds, Until: a.request.Span.Until})
}

// silent notes hosts that sent windows in the week before, and none in the time: they are not in
// the answer.
func (a *asker) silent() error {
	if a.request.Question == Services {
		return nil
	}
	last, err := a.lastSeen()
	if err != nil {
		return err
	}
	var names []string
	latest := int64(0)
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if last[name] < a.request.Span.From {
			names, latest = append(names, name), max(latest, last[name])
		}
	}
	switch len(names) {
	case 0:
	case 1:
		a.note("1 host had windows in the week before and none in this time: %s, last at %s", names[0], clock(latest))
	default:
		a.note("%d hosts had windows in the week before and none in this time: %s, the last at %s", len(names), few(names),
			clock(latest))
	}
	return nil
}

// Line is one of an answer that is told while it is made: stages, and then the answer or why there
// is none.
type Line struct {
	Stage  string  `json:"stage,omitempty"`
	Answer *Answer `json:"answer,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// LinesType is the media type of such lines, one JSON document each.
const LinesType = "application/x-ndjson"
