package ask

import (
	"errors"
	"fmt"

	"culprit/internal/fleet/store"
	"culprit/internal/fleet/weights"
	"culprit/internal/stat"
)

// TopFound is the answer to top: what the fleet's time goes to.
type TopFound struct {
	Cores float64        `json:"cores"` // of the service on all hosts
	Self  []weights.Part `json:"self"`  // functions by their own code
	Total []weights.Part `json:"total"` // with what they call
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
	hosts, self, total, err := a.parts()
	if err != nil {
		return err
	}
	result := &TopFound{Self: weights.Top(self, weights.Options{Most: a.request.Most}),
		Total: weights.Top(total, weights.Options{Most: a.request.Most})}
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

// parts are the hosts with what they spent on each function.
func (a *asker) parts() (hosts []host, self, total []weights.Host, err error) {
	a.request.Metric = "cores"
	if hosts, err = a.chosenHosts(); err != nil {
		return nil, nil, nil, err
	}
	uses, err := a.store.Frames(a.ctx, a.request.Service, "cpu", a.request.Span, leastFrame)
	if err != nil {
		return nil, nil, nil, err
	}
	at := map[string]int{}
	for i, h := range hosts {
		at[h.name] = i
		self = append(self, weights.Host{Name: h.name, Cores: h.cores, Parts: map[string]float64{}})
		total = append(total, weights.Host{Name: h.name, Cores: h.cores, Parts: map[string]float64{}})
	}
	for _, u := range uses {
		i, known := at[u.Host]
		if !known || hosts[i].seconds == 0 || !hosts[i].versions[u.Version] {
			continue
		}
		name := place(u)
		total[i].Parts[name] += float64(u.TotalNs) / 1e9 / hosts[i].seconds
		if u.SelfNs > 0 {
			self[i].Parts[name] += float64(u.SelfNs) / 1e9 / hosts[i].seconds
		}
	}
	return hosts, self, total, nil
}

func place(u store.FrameUse) string {
	if u.Module == "" {
		return u.Name
	}
	return u.Name + " (" + u.Module + ")"
}

func (a *asker) worth() error {
	if a.request.Effect == nil {
		return errors.New("say what was proven: --effect=-0.2 --effect-low=-0.24 --effect-high=-0.16")
	}
	hosts, _, total, err := a.parts()
	if err != nil {
		return err
	}
	whole := a.request.Service + " as a whole"
	wanted := whole
	for i := range total {
		total[i].Parts[whole] = hosts[i].cores
	}
	if a.request.Frame != "" {
		wanted = a.request.Frame
	}
	for _, part := range weights.Top(total, weights.Options{Most: 100000}) {
		if part.Name != wanted {
			continue
		}
		a.answer.Unit = cores
		a.answer.Worth = &WorthFound{What: wanted, Spent: part.Cores, Effect: *a.request.Effect,
			Saving: weights.Worth(part.Cores, *a.request.Effect, weights.Prices{PerCoreHour: a.request.PerCoreHour}, 1)}
		return nil
	}
	return fmt.Errorf("no function %q took 0.1 %% of the time of the largest: 'culprit fleet top' lists them", wanted)
}
