package report

import (
	"cmp"
	"fmt"
	"slices"

	"culprit/internal/fleet/ask"
)

func (p *page) fleetServices(a *ask.Answer) {
	if len(a.Services) == 0 {
		p.entry("SERVICES", "none: the store is empty", bold, bold)
	}
	for i, service := range a.Services {
		label := ""
		if i == 0 {
			label = "SERVICES"
		}
		p.entry(label, fmt.Sprintf("%s: %s, %s, %s to %s", visible(service.Name, nameRunesMax),
			plural(int(service.Hosts), "host"), plural(int(service.Windows), "window"), utc(service.First),
			utc(service.Last)), bold, plain)
	}
}

// fleetHosts lists hosts, the dearest first; those that sent nothing in the time last.
func (p *page) fleetHosts(a *ask.Answer) {
	hosts := slices.Clone(a.Each)
	slices.SortFunc(hosts, func(x, y ask.HostValue) int {
		return cmp.Or(cmp.Compare(y.Value, x.Value), cmp.Compare(x.Host, y.Host))
	})
	const most = 40
	for i, h := range hosts[:min(len(hosts), most)] {
		label := ""
		if i == 0 {
			label = "HOSTS"
		}
		text := fmt.Sprintf("%s: no windows in this time, the last at %s", visible(h.Host, nameRunesMax), utc(h.Last))
		if h.Windows > 0 {
			text = fmt.Sprintf("%s: %s, %s cores", visible(h.Host, nameRunesMax), hostValue(h.Value, a.Unit), digits(h.Cores))
			if h.Load > 0 {
				text += fmt.Sprintf(", %s requests a second", digits(h.Load))
			}
			if h.Version != "" {
				text += ", version " + visible(h.Version, nameRunesMax)
			}
			text += fmt.Sprintf(", %s, the last at %s", plural(int(h.Windows), "window"), utc(h.Last))
		}
		p.entry(label, text, bold, plain)
	}
	if more := len(hosts) - most; more > 0 {
		p.entry("", fmt.Sprintf("and %d more: --json lists all", more), dim, dim)
	}
}
