package ask

import (
	"fmt"
	"maps"
	"slices"

	"culprit/internal/fleet/facts"
)

// FactsFound is the answer to facts: with the hosts' names for their numbers.
type FactsFound struct {
	*facts.Answer
	// Names are the hosts that Findings count.
	Names []string `json:"names"`
	// Banded: the effect is a difference in the share of hosts of the dear band, and not of
	// logarithms.
	Banded bool `json:"banded"`
}

func (a *asker) facts() error {
	hosts, err := a.chosenHosts()
	if err != nil {
		return err
	}
	found, err := a.searchFacts(hosts, logs(hosts))
	if err != nil {
		return err
	}
	a.answer.Facts = found
	a.each(hosts, func(string) string { return "" })
	if len(found.Findings) == 0 {
		return nil
	}
	// One host with the fact and one without, in the middle of each.
	with := map[string]bool{}
	for _, i := range found.Findings[0].With {
		with[hosts[i].name] = true
	}
	var without, having []host
	for _, h := range hosts {
		if with[h.name] {
			having = append(having, h)
		} else {
			without = append(without, h)
		}
	}
	a.lookAtMiddles(without, having, "those without it", "those with it")
	return nil
}

// searchFacts asks all facts, versions and labels of the hosts whether they go with the values.
func (a *asker) searchFacts(hosts []host, values []float64) (*FactsFound, error) {
	a.tell("reading facts")
	rows, err := a.store.Facts(a.ctx, a.request.Span.Until)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	result := &FactsFound{Banded: true}
	strata := make([]string, len(hosts))
	for i, h := range hosts {
		at[h.name] = i
		result.Names = append(result.Names, h.name)
		strata[i] = a.unit(h)
		result.Banded = result.Banded && (values[i] == 0 || values[i] == 1)
	}
	table := map[string][]string{}
	set := func(name string, host int, value string) {
		if table[name] == nil {
			table[name] = make([]string, len(hosts))
		}
		table[name][host] = value
	}
	for _, row := range rows {
		if host, known := at[row.Host]; known {
			set(row.Name, host, row.Value)
		}
	}
	for i, h := range hosts {
		set("version", i, h.version)
		for label, value := range h.labels {
			set("label "+label, i, value)
		}
	}
	var asked []facts.Fact
	for _, name := range slices.Sorted(maps.Keys(table)) {
		asked = append(asked, facts.Fact{Name: name, Values: table[name]})
	}
	a.tell(fmt.Sprintf("asking %d facts, versions and labels of %d hosts", len(asked), len(hosts)))
	result.Answer, err = facts.Search(values, asked, facts.Options{Strata: strata})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		a.note("no facts differ between hosts of the store: only versions and labels were asked")
	}
	if len(result.Findings) > a.request.Most {
		result.Findings = result.Findings[:a.request.Most]
	}
	return result, nil
}
