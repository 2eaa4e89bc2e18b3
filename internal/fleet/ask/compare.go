package ask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"culprit/internal/fleet/compare"
	"culprit/internal/fleet/store"
)

// ComparisonFound is the answer to compare.
type ComparisonFound struct {
	*compare.Effect
	NameA string `json:"name_a"`
	NameB string `json:"name_b"`
	// Confounded are labels by which the sides differ entirely beside those that they were chosen
	// by.
	Confounded []string     `json:"confounded"`
	Frames     []Difference `json:"frames"`
}

func (a *asker) compare() error {
	if a.request.Before != nil {
		return a.beforeAfter()
	}
	sideA, err := parseSelection(a.request.A)
	if err != nil {
		return err
	}
	sideB, err := parseSelection(a.request.B)
	if err != nil {
		return err
	}
	if len(sideA) == 0 || len(sideB) == 0 {
		return errors.New("say which hosts: --a version=1.1 --b version=1.2, or --before TIME --after TIME")
	}
	of := map[bool][]host{}
	for _, b := range []bool{false, true} {
		if of[b], err = a.hosts(a.request.Span, map[bool]selection{false: sideA, true: sideB}[b]); err != nil {
			return err
		}
	}
	both := onBothSides(of[false], of[true])
	if 2*len(both) > min(len(of[false]), len(of[true])) {
		return a.sameHosts(of[false], of[true], len(both))
	}
	if len(both) > 0 {
		a.note("%d hosts were on both sides, one after the other, and are left out: %s", len(both), few(both))
		for b := range of {
			of[b] = slices.DeleteFunc(of[b], func(h host) bool { return slices.Contains(both, h.name) })
		}
	}
	before, err := a.earlier("baseline", a.request.Baseline)
	if err != nil {
		return err
	}
	input, labels := a.rows([2][]host{of[false], of[true]}, before)
	a.answer.Hosts = len(input)
	a.tell(fmt.Sprintf("comparing %d hosts with %d", len(of[false]), len(of[true])))
	effect, err := compare.Groups(input, compare.Options{})
	if err != nil {
		return err
	}
	chosen := sideA.labels()
	for label := range sideB.labels() {
		chosen[label] = true
	}
	a.answer.Compare = &ComparisonFound{Effect: effect, NameA: a.request.A, NameB: a.request.B,
		Confounded: compare.Confounded(labels[0], labels[1], chosen), Frames: []Difference{}}
	all := append(slices.Clone(of[false]), of[true]...)
	sideOf := map[string]bool{}
	for _, h := range of[true] {
		sideOf[h.name] = true
	}
	a.each(all, func(name string) string {
		if sideOf[name] {
			return "B"
		}
		return "A"
	})
	if a.answer.Compare.Frames, err = a.frames(all, func(h host) bool { return sideOf[h.name] }); err != nil {
		return err
	}
	a.lookAtMiddles(of[false], of[true], "A", "B")
	return nil
}

// rows are the hosts of both sides as they are compared, and their labels.
func (a *asker) rows(sides [2][]host, before map[string]host) (rows []compare.Host, labels [2][]map[string]string) {
	for side, hosts := range sides {
		for _, h := range hosts {
			labels[side] = append(labels[side], h.labels)
			row := compare.Host{Name: h.name, Unit: a.unit(h), B: side == 1, Value: h.value, Load: h.load}
			if b, known := before[h.name]; known {
				row.Before, row.LoadBefore = b.value, b.load
			}
			rows = append(rows, row)
		}
	}
	return rows, labels
}

// unit is what was changed together with a host, by the labels that the question names.
func (a *asker) unit(h host) string {
	unit := ""
	for _, label := range a.request.Within {
		unit += label + "=" + h.labels[label] + " "
	}
	return unit
}

func (a *asker) lookAtMiddles(sideA, sideB []host, nameA, nameB string) {
	middle := func(hosts []host) host {
		sorted := slices.Clone(hosts)
		slices.SortFunc(sorted, func(x, y host) int { return cmp.Compare(x.value, y.value) })
		return sorted[len(sorted)/2]
	}
	x, y := middle(sideA), middle(sideB)
	a.look(a.request.Service, hostWhy{x.name, "in the middle of " + nameA, x.cgroup},
		hostWhy{y.name, "in the middle of " + nameB, y.cgroup})
}

// earlier are the hosts' values at a time before, by name; nil for none. The flag that gave it is
// for errors.
func (a *asker) earlier(flag string, span *store.Span) (map[string]host, error) {
	if span == nil {
		return nil, nil
	}
	unit := a.answer.Unit
	hosts, err := a.hosts(*span, nil)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	if a.answer.Unit != unit {
		return nil, fmt.Errorf("--%s: it has %s where the time itself has %s", flag, a.answer.Unit, unit)
	}
	before := map[string]host{}
	for _, h := range hosts {
		before[h.name] = h
	}
	return before, nil
}

func onBothSides(sideA, sideB []host) (names []string) {
	for _, h := range sideA {
		if slices.ContainsFunc(sideB, func(other host) bool { return other.name == h.name }) {
			names = append(names, h.name)
		}
	}
	return names
}

// sameHosts compares hosts that were on A for a part of the time and on B for another with
// themselves.
func (a *asker) sameHosts(sideA, sideB []host, both int) error {
	before := map[string]host{}
	for _, h := range sideA {
		before[h.name] = h
	}
	a.note("the same %d hosts were on both sides, one after the other: other hours are in the difference too; "+
		"'culprit fleet changes' holds versions against each other in the same hours", both)
	return a.paired(sideB, before, a.request.A, a.request.B)
}

func (a *asker) beforeAfter() error {
	chosen, err := parseSelection(a.request.A)
	if err != nil {
		return err
	}
	after, err := a.hosts(a.request.Span, chosen)
	if err != nil {
		return err
	}
	before, err := a.earlier("before", a.request.Before)
	if err != nil {
		return err
	}
	a.note("two times differ in all that changed between them; 'culprit fleet changes' holds a day against weeks of days")
	return a.paired(after, before, span(*a.request.Before), span(a.request.Span))
}

// paired compares hosts with themselves.
func (a *asker) paired(after []host, before map[string]host, nameA, nameB string) error {
	var input []compare.Host
	var rest []string
	for _, h := range after {
		b, known := before[h.name]
		if !known {
			rest = append(rest, h.name)
			continue
		}
		input = append(input, compare.Host{Name: h.name, Value: h.value, Load: h.load, Before: b.value, LoadBefore: b.load})
	}
	if len(rest) > 0 {
		a.note("%d hosts were there at one of the two times only: %s", len(rest), few(rest))
	}
	effect, err := compare.Paired(input, compare.Options{})
	if err != nil {
		return err
	}
	a.answer.Hosts = len(input)
	a.each(slices.DeleteFunc(after, func(h host) bool { return slices.Contains(rest, h.name) }),
		func(string) string { return "B" })
	for i := range a.answer.Each {
		a.answer.Each[i].Before = before[a.answer.Each[i].Host].value
	}
	a.answer.Compare = &ComparisonFound{Effect: effect, NameA: nameA, NameB: nameB,
		Confounded: []string{}, Frames: []Difference{}}
	return nil
}

func span(s store.Span) string { return clock(s.From) + " to " + clock(s.Until) }
