package ask

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"culprit/internal/fleet/compare"
	"culprit/internal/fleet/store"
	"culprit/internal/stat"
)

// ComparisonFound is the answer to compare.
type ComparisonFound struct {
	*compare.Effect
	NameA string `json:"name_a"`
	NameB string `json:"name_b"`
	// Confounded are labels by which the sides differ entirely beside those that they were chosen by.
	Confounded []string     `json:"confounded"`
	Frames     []Difference `json:"frames"`
}

// Difference is what a function takes more in B, or in the dear band, as a part of all of A's time per request.
type Difference struct {
	Name   string        `json:"name"`
	Module string        `json:"module"`
	Change stat.Interval `json:"change"`
	A      float64       `json:"a"` // its part of a request in A
	P      float64       `json:"p"`
	Self   bool          `json:"self"` // in its own code; otherwise with what it calls
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
	before, err := a.baseline()
	if err != nil {
		return err
	}
	input, labels := a.rows([2][]host{of[false], of[true]}, before)
	a.answer.Hosts = len(input)
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

// baseline are the hosts' values at the time before, by name.
func (a *asker) baseline() (map[string]host, error) {
	if a.request.Baseline == nil {
		return nil, nil
	}
	unit := a.answer.Unit
	hosts, err := a.hosts(*a.request.Baseline, nil)
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	if a.answer.Unit != unit {
		return nil, fmt.Errorf("baseline: it has %s where the time itself has %s", a.answer.Unit, unit)
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

// sameHosts compares hosts that were on A for a part of the time and on B for another with themselves.
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
	a.request.Baseline = a.request.Before
	before, err := a.baseline()
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
	a.answer.Compare = &ComparisonFound{Effect: effect, NameA: nameA, NameB: nameB,
		Confounded: []string{}, Frames: []Difference{}}
	return nil
}

func span(s store.Span) string { return clock(s.From) + " to " + clock(s.Until) }

// leastFrame is the part of the largest frame from which on frames are asked for.
const leastFrame = 0.001

// frames compares what each function takes of a request between two sides of the hosts, with false discoveries held at
// 5 %.
func (a *asker) frames(hosts []host, isB func(host) bool) ([]Difference, error) {
	uses, err := a.store.Frames(a.ctx, a.request.Service, "cpu", a.request.Span, leastFrame)
	if err != nil || len(uses) == 0 {
		return []Difference{}, err
	}
	work, versions := map[string]float64{}, map[string]map[string]bool{}
	total, count := 0.0, 0.0
	for _, h := range hosts {
		versions[h.name] = h.versions
		if work[h.name] = h.requests; a.answer.Unit != perRequest {
			work[h.name] = h.seconds
		}
		if !isB(h) && work[h.name] > 0 {
			total += h.cores * h.seconds * 1e9 / work[h.name]
			count++
		}
	}
	if count == 0 || total == 0 {
		return []Difference{}, nil
	}
	total /= count
	type place struct {
		name, module string
		self         bool
	}
	values := map[place]map[string]float64{}
	for _, u := range uses {
		for _, self := range []bool{false, true} {
			at, ns := place{u.Name, u.Module, self}, float64(u.TotalNs)
			if self {
				ns = float64(u.SelfNs)
			}
			if ns == 0 || work[u.Host] == 0 || !versions[u.Host][u.Version] {
				continue
			}
			if values[at] == nil {
				values[at] = map[string]float64{}
			}
			values[at][u.Host] += ns / work[u.Host] / total
		}
	}
	var found []Difference
	var ps []float64
	for at, of := range values {
		input := make([]compare.Host, 0, len(hosts))
		mean := 0.0
		for _, h := range hosts {
			input = append(input, compare.Host{Name: h.name, B: isB(h), Value: of[h.name]})
			mean += (1 - number(isB(h))) * of[h.name] / count
		}
		effect, err := compare.Groups(input, compare.Options{Linear: true})
		if err != nil {
			continue // too few hosts of a side for any frame
		}
		found = append(found, Difference{at.name, at.module, effect.Change, mean, effect.P, at.self})
		ps = append(ps, effect.P)
	}
	return discoveries(found, ps, a.request.Most)
}

func discoveries(found []Difference, ps []float64, most int) ([]Difference, error) {
	sure, err := stat.BenjaminiHochberg(ps, 0.05)
	if err != nil {
		return nil, err
	}
	kept := []Difference{}
	for i, difference := range found {
		if sure[i] {
			kept = append(kept, difference)
		}
	}
	slices.SortFunc(kept, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Change.Value), math.Abs(x.Change.Value)), cmp.Compare(x.Name, y.Name),
			cmp.Compare(number(x.Self), number(y.Self)))
	})
	return kept[:min(len(kept), most)], nil
}
