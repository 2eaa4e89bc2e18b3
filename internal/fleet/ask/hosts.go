package ask

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"culprit/internal/fleet/store"
)

// host is one host of the service with its value over the span.
type host struct {
	name, version, cgroup string
	labels                map[string]string
	windows, first, last  int64
	value, load           float64 // load: requests a second, NaN where not seen
	cores, seconds        float64
	requests              float64
	versions              map[string]bool // that its value is of
}

// The units of values.
const (
	perRequest = "CPU time per request, ns"
	cores      = "CPU time, cores"
	latency    = "latency of a request, ns"
)

// chosenHosts are those of the request's time that its side A chooses; the answer says how many.
func (a *asker) chosenHosts() ([]host, error) {
	chosen, err := parseSelection(a.request.A)
	if err != nil {
		return nil, err
	}
	hosts, err := a.hosts(a.request.Span, chosen)
	a.answer.Hosts = len(hosts)
	return hosts, err
}

// hosts are those of the span that select choose, with the value asked for. A host that ran several
// versions in it has the labels of the longest.
func (a *asker) hosts(span store.Span, choose selection) ([]host, error) {
	a.tell("reading hosts")
	uses, err := a.store.Hosts(a.ctx, a.request.Service, span)
	if err != nil {
		return nil, err
	}
	if len(uses) == 0 {
		return nil, a.nothing(span)
	}
	merged := map[string]*store.Use{}
	longest := map[string]int64{}
	versions := map[string]map[string]bool{}
	for i := range uses {
		u := &uses[i]
		if !choose.chooses(u.Version, u.Labels) {
			continue
		}
		if versions[u.Host] == nil {
			versions[u.Host] = map[string]bool{}
		}
		versions[u.Host][u.Version] = true
		m := merged[u.Host]
		if m == nil {
			merged[u.Host] = u
			longest[u.Host] = u.LengthNs
			continue
		}
		if u.LengthNs > longest[u.Host] {
			longest[u.Host], m.Version, m.Labels = u.LengthNs, u.Version, u.Labels
		}
		m.CPUNs, m.LengthNs, m.Windows = m.CPUNs+u.CPUNs, m.LengthNs+u.LengthNs, m.Windows+u.Windows
		m.Requests, m.LatencyNs = m.Requests+u.Requests, m.LatencyNs+u.LatencyNs
		m.SeenCPUNs, m.SeenNs = m.SeenCPUNs+u.SeenCPUNs, m.SeenNs+u.SeenNs
		m.Start, m.Last = min(m.Start, u.Start), max(m.Last, u.Last)
	}
	if len(merged) == 0 {
		return nil, choose.noneOf(a.request.Service, uses)
	}
	hosts, err := a.valued(merged, span)
	for i := range hosts {
		hosts[i].versions = versions[hosts[i].name]
	}
	return hosts, err
}

// valued gives each host the value of the metric; hosts without one are left out and told.
func (a *asker) valued(uses map[string]*store.Use, span store.Span) ([]host, error) {
	value, unit, err := a.metric(uses, span)
	if err != nil {
		return nil, err
	}
	a.answer.Unit = unit
	var hosts []host
	var without []string
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		u := uses[name]
		h := host{name: name, version: u.Version, cgroup: u.Cgroup, labels: u.Labels, value: value(u), load: math.NaN(),
			seconds: float64(u.LengthNs) / 1e9, requests: float64(u.Requests),
			windows: u.Windows, first: u.Start, last: u.Last}
		if h.seconds > 0 {
			h.cores = float64(u.CPUNs) / float64(u.LengthNs)
		}
		if u.Requests > 0 && u.SeenNs > 0 {
			h.load = float64(u.Requests) / (float64(u.SeenNs) / 1e9)
		}
		a.answer.Windows += u.Windows
		if !(h.value > 0) || math.IsInf(h.value, 0) {
			without = append(without, name)
			continue
		}
		hosts = append(hosts, h)
	}
	if len(without) > 0 {
		a.note("%d hosts have no %s and are left out: %s", len(without), unit, few(without))
	}
	return hosts, nil
}

// metric chooses what a host's value is.
func (a *asker) metric(uses map[string]*store.Use, span store.Span) (func(*store.Use) float64, string, error) {
	seen := 0
	for _, u := range uses {
		if u.Requests > 0 {
			seen++
		}
	}
	byTime := func(u *store.Use) float64 { return float64(u.CPUNs) / float64(u.LengthNs) }
	byRequest := func(u *store.Use) float64 { return float64(u.SeenCPUNs) / float64(u.Requests) }
	switch a.request.Metric {
	case "":
		if 10*seen >= 9*len(uses) && seen > 0 {
			return byRequest, perRequest, nil
		}
		a.note("requests are seen on %d of %d hosts: what is compared is CPU time alone, which follows the load",
			seen, len(uses))
		return byTime, cores, nil
	case "cores":
		return byTime, cores, nil
	case "latency":
		return func(u *store.Use) float64 { return float64(u.LatencyNs) / float64(u.Requests) }, latency, nil
	}
	amounts, err := a.store.Metric(a.ctx, a.request.Service, a.request.Metric, span)
	if err != nil {
		return nil, "", err
	}
	if len(amounts) == 0 {
		return nil, "", fmt.Errorf("%w with a metric %q", ErrNothing, a.request.Metric)
	}
	of := map[string]float64{}
	for _, amount := range amounts {
		of[amount.Host] = amount.Value
	}
	if 10*seen >= 9*len(uses) {
		return func(u *store.Use) float64 { return of[u.Host] / float64(u.Requests) }, a.request.Metric + " per request", nil
	}
	return func(u *store.Use) float64 { return of[u.Host] / (float64(u.LengthNs) / 1e9) },
		a.request.Metric + " per second", nil
}

func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// selection chooses hosts by version and labels; all of its terms have to hold.
type selection []term

type term struct {
	label, value string
	not          bool
}

// parseSelection reads "version=1.2,zone!=eu-1a".
func parseSelection(text string) (selection, error) {
	var chosen selection
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		label, value, found := strings.Cut(part, "=")
		if !found || label == "" || label == "!" {
			return nil, fmt.Errorf("hosts %q: give LABEL=VALUE or LABEL!=VALUE, several with commas", part)
		}
		label, not := strings.CutSuffix(label, "!")
		chosen = append(chosen, term{strings.TrimSpace(label), strings.TrimSpace(value), not})
	}
	return chosen, nil
}

func (s selection) chooses(version string, labels map[string]string) bool {
	for _, t := range s {
		value := labels[t.label]
		if t.label == "version" {
			value = version
		}
		if (value == t.value) == t.not {
			return false
		}
	}
	return true
}

// noneOf says what hosts have in place of what none of them has.
func (s selection) noneOf(service string, uses []store.Use) error {
	var words, instead []string
	for _, t := range s {
		values, is := map[string]bool{}, "="
		for i := range uses {
			value := uses[i].Labels[t.label]
			if t.label == "version" {
				value = uses[i].Version
			}
			values[value] = true
		}
		delete(values, "")
		if t.not {
			is = "!="
		}
		words = append(words, t.label+is+t.value)
		if len(values) == 0 {
			instead = append(instead, "none has a "+t.label)
		} else {
			instead = append(instead, t.label+" is "+few(slices.Sorted(maps.Keys(values))))
		}
	}
	return fmt.Errorf("no host of %s has %s; %s", service, strings.Join(words, " and "), strings.Join(instead, ", "))
}

func (s selection) labels() map[string]bool {
	labels := map[string]bool{}
	for _, t := range s {
		labels[t.label] = true
	}
	return labels
}
