package ask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"culprit/internal/fleet/store"
	"culprit/internal/fleet/weights"
	"culprit/internal/stat"
)

// TopFound is the answer to top: what the fleet's time goes to.
type TopFound struct {
	Cores float64        `json:"cores"` // of the service on all hosts
	Self  []weights.Part `json:"self"`  // functions by their own code
	Total []weights.Part `json:"total"` // with what they call
	// Setting is what was asked for, Values its values by the hosts that have them: instead of
	// functions.
	Setting string         `json:"setting,omitempty"`
	Values  []weights.Part `json:"values,omitempty"`
	// PerYear is what the whole costs, by the price that was given.
	PerYear float64 `json:"per_year,omitempty"`
}

// WorthFound is the answer to worth.
type WorthFound struct {
	What string `json:"what"`
	weights.Saving
	Spent  stat.Interval `json:"spent"` // cores that it takes now
	Effect stat.Interval `json:"effect"`
}

const hoursOfYear = 365.25 * 24

func (a *asker) top() error {
	if a.request.Setting != "" {
		return a.topOfSetting()
	}
	hosts, table, taken, err := a.parts()
	if err != nil {
		return err
	}
	result := &TopFound{Self: topOf(hosts, table, taken.self, a.request.Most),
		Total: topOf(hosts, table, taken.total, a.request.Most)}
	for _, h := range hosts {
		result.Cores += h.cores
	}
	result.PerYear = result.Cores * a.request.PerCoreHour * hoursOfYear
	a.answer.Top, a.answer.Unit = result, cores
	if len(result.Self) == 0 {
		a.note("no window of this time has stacks of the service")
		return nil
	}
	for _, h := range hosts {
		if h.name == result.Self[0].Most {
			a.look(a.request.Service, hostWhy{h.name, "spends most of its time on " + result.Self[0].Name, h.cgroup})
		}
	}
	return nil
}

// parts are the hosts with what they spent on each function, in cores.
func (a *asker) parts() (hosts []host, table *store.FrameTable, taken parts, err error) {
	a.request.Metric = "cores"
	if hosts, err = a.chosenHosts(); err != nil {
		return nil, nil, parts{}, err
	}
	a.tell("reading what functions took on each host")
	table, err = a.store.Frames(a.ctx, a.request.Service, "cpu", a.request.Span, leastFrame)
	if err != nil {
		return nil, nil, parts{}, err
	}
	return hosts, table, partsOf(table, hosts, func(host int, ns int64) float64 {
		return float64(ns) / 1e9 / hosts[host].seconds
	}), nil
}

// topOf are the places that took most of all hosts together.
func topOf(hosts []host, table *store.FrameTable, taken [][]float64, most int) []weights.Part {
	sums := make([]float64, len(taken))
	var order []int
	for column, cores := range taken {
		for _, c := range cores {
			sums[column] += c
		}
		if sums[column] > 0 {
			order = append(order, column)
		}
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(sums[y], sums[x]), cmp.Compare(placeName(table.Places[x]), placeName(table.Places[y])))
	})
	of := make([]weights.Host, len(hosts))
	for i, h := range hosts {
		of[i] = weights.Host{Name: h.name, Cores: h.cores, Parts: map[string]float64{}}
		for _, column := range order[:min(len(order), most)] {
			if cores := taken[column][i]; cores > 0 {
				of[i].Parts[placeName(table.Places[column])] = cores
			}
		}
	}
	return weights.Top(of, weights.Options{Most: most})
}

func placeName(p store.Place) string {
	if p.Module == "" {
		return p.Name
	}
	return p.Name + " (" + p.Module + ")"
}

func (a *asker) worth() error {
	if a.request.Effect == nil {
		return errors.New("say what was proven: --effect=-0.2 --effect-low=-0.24 --effect-high=-0.16")
	}
	if a.request.Setting != "" {
		return a.worthOfSetting()
	}
	hosts, table, taken, err := a.parts()
	if err != nil {
		return err
	}
	wanted := a.request.Frame
	if wanted == "" {
		wanted = a.request.Service + " as a whole"
	}
	of := make([]weights.Host, len(hosts))
	for i, h := range hosts {
		of[i] = weights.Host{Name: h.name, Cores: h.cores, Parts: map[string]float64{}}
		if a.request.Frame == "" {
			of[i].Parts[wanted] = h.cores
			continue
		}
		for column, place := range table.Places {
			if placeName(place) == wanted && taken.total[column][i] > 0 {
				of[i].Parts[wanted] += taken.total[column][i]
			}
		}
	}
	all := weights.Top(of, weights.Options{Most: 1})
	if len(all) == 0 {
		return fmt.Errorf("no function %q took 0.1 %% of the time of the largest: 'culprit fleet top' lists them", wanted)
	}
	a.saves(wanted, all[0].Cores)
	return nil
}

// saves answers worth: what takes so many cores is changed by the effect.
func (a *asker) saves(what string, spent stat.Interval) {
	a.answer.Unit = cores
	a.answer.Worth = &WorthFound{What: what, Spent: spent, Effect: *a.request.Effect,
		Saving: weights.Worth(spent, *a.request.Effect, weights.Prices{PerCoreHour: a.request.PerCoreHour}, 1)}
}
