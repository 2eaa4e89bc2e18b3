package ask

import (
	"fmt"
	"slices"
	"strings"

	"culprit/internal/fleet/weights"
)

// notKnown is the value of a setting on hosts that say nothing of it.
const notKnown = "(not known)"

// topOfSetting tells what part of the service's time runs under each value of a setting.
func (a *asker) topOfSetting() error {
	hosts, values, err := a.bySetting(a.request.Setting)
	if err != nil {
		return err
	}
	result := &TopFound{Self: []weights.Part{}, Total: []weights.Part{}, Setting: a.request.Setting}
	of := make([]weights.Host, len(hosts))
	for i, h := range hosts {
		of[i] = weights.Host{Name: h.name, Cores: h.cores, Parts: map[string]float64{values[i]: h.cores}}
		result.Cores += h.cores
	}
	result.Values = weights.Top(of, weights.Options{Most: a.request.Most})
	result.PerYear = result.Cores * a.request.PerCoreHour * hoursOfYear
	a.answer.Top, a.answer.Unit = result, cores
	if slices.Contains(values, notKnown) {
		a.note("some hosts say nothing of %s", a.request.Setting)
	}
	return nil
}

// worthOfSetting tells what an effect is worth on the hosts that have a value of a setting.
func (a *asker) worthOfSetting() error {
	name, value, found := strings.Cut(a.request.Setting, "=")
	if !found || name == "" || a.request.Frame != "" {
		return fmt.Errorf("setting %q: worth takes NAME=VALUE, and no function beside it", a.request.Setting)
	}
	hosts, values, err := a.bySetting(name)
	if err != nil {
		return err
	}
	of := make([]weights.Host, len(hosts))
	for i, h := range hosts {
		of[i] = weights.Host{Name: h.name, Cores: h.cores, Parts: map[string]float64{}}
		if values[i] == value {
			of[i].Parts[value] = h.cores
		}
	}
	all := weights.Top(of, weights.Options{Most: 1})
	if len(all) == 0 {
		return fmt.Errorf("no host has %s: 'culprit fleet top %s --setting %s' lists its values", a.request.Setting,
			Quote(a.request.Service), Quote(name))
	}
	a.saves(fmt.Sprintf("%s on hosts with %s", a.request.Service, a.request.Setting), all[0].Cores)
	return nil
}

// bySetting are the chosen hosts, with the value of a setting on each: the version, a label, or a
// fact.
func (a *asker) bySetting(name string) ([]host, []string, error) {
	a.request.Metric = "cores"
	hosts, err := a.chosenHosts()
	if err != nil {
		return nil, nil, err
	}
	values := make([]string, len(hosts))
	known := false
	for i, h := range hosts {
		values[i] = h.labels[name]
		if name == "version" {
			values[i] = h.version
		}
		known = known || values[i] != ""
	}
	if !known {
		facts, err := a.store.Fact(a.ctx, name, a.request.Span.Until)
		if err != nil {
			return nil, nil, err
		}
		of := map[string]string{}
		for _, fact := range facts {
			of[fact.Host] = fact.Value
		}
		for i, h := range hosts {
			values[i] = of[h.name]
			known = known || values[i] != ""
		}
	}
	if !known {
		return nil, nil, fmt.Errorf("no host of %s has a label or a fact %q: 'culprit fleet facts %s' names those in which "+
			"hosts differ", a.request.Service, name, Quote(a.request.Service))
	}
	for i := range values {
		if values[i] == "" {
			values[i] = notKnown
		}
	}
	return hosts, values, nil
}
