package compare

import (
	"fmt"
	"math"
	"slices"
)

// row is one unit: the means of its hosts, as they are fitted; NaN for what is not known.
type row struct {
	unit                            string
	b                               bool
	value, before, load, loadBefore float64
	hosts                           float64
}

// unitsOf turns hosts into what was assigned. A unit that has hosts of both groups was not assigned
// as a whole: then the hosts count.
func unitsOf(hosts []Host, options Options) (rows []row, units string, err error) {
	group := map[string]bool{}
	together := len(hosts) > 0
	for _, host := range hosts {
		b, seen := group[host.Unit]
		if host.Unit == "" || seen && b != host.B {
			together = false
			break
		}
		group[host.Unit] = host.B
	}
	at := map[string]int{}
	for _, host := range hosts {
		r := row{unit: host.Name, b: host.B, hosts: 1, before: math.NaN(), load: math.NaN(), loadBefore: math.NaN()}
		if r.value, err = host.transformed(host.Value, options); err != nil {
			return nil, "", err
		}
		if before, err := host.transformed(host.Before, options); err == nil && !(options.Linear && host.Before == 0) {
			r.before = before
		}
		if known(host.Load) {
			r.load = math.Log(host.Load)
		}
		if known(host.LoadBefore) {
			r.loadBefore = math.Log(host.LoadBefore)
		}
		if !together {
			rows = append(rows, r)
			continue
		}
		i, seen := at[host.Unit]
		if !seen {
			i, at[host.Unit] = len(rows), len(rows)
			rows = append(rows, row{unit: host.Unit, b: host.B})
		}
		rows[i].add(r)
	}
	units = "hosts"
	if together {
		units = "groups of hosts that were changed together"
		for i := range rows {
			rows[i].divide()
		}
	}
	slices.SortFunc(rows, func(x, y row) int {
		if x.unit < y.unit {
			return -1
		}
		return 1
	})
	return rows, units, nil
}

func (r *row) add(other row) {
	r.value += other.value
	r.before += other.before
	r.load += other.load
	r.loadBefore += other.loadBefore
	r.hosts++
}

func (r *row) divide() {
	r.value /= r.hosts
	r.before /= r.hosts
	r.load /= r.hosts
	r.loadBefore /= r.hosts
}

func count(rows []row) (a, b int) {
	for _, r := range rows {
		if r.b {
			b++
		} else {
			a++
		}
	}
	return a, b
}

func values(rows []row) []float64 {
	values := make([]float64, len(rows))
	for i, r := range rows {
		values[i] = r.value
	}
	return values
}

// covariate is what values are adjusted by: one column, or two with the square.
type covariate struct {
	name string
	of   func(row) []float64
}

// model is one way to fit: the covariates, and whether they may act otherwise in B than in A.
type model struct {
	covariates []covariate
	within     bool
}

// models are the ways to fit, the best first: what is known of every unit only, and the fewer units
// the fewer columns.
func models(rows []row) []model {
	before := covariate{"before", func(r row) []float64 { return []float64{r.before} }}
	load := covariate{"load", func(r row) []float64 { return []float64{r.load, r.load * r.load} }}
	loadBefore := covariate{"load before", func(r row) []float64 { return []float64{r.loadBefore} }}
	var all []covariate
	hasBefore := everywhere(rows, before)
	if hasBefore {
		all = append(all, before)
	}
	if everywhere(rows, load) {
		all = append(all, load)
		if hasBefore && everywhere(rows, loadBefore) {
			all = append(all, loadBefore)
		}
	}
	result := []model{{all, true}, {all, false}}
	if len(all) > 1 {
		result = append(result, model{all[:1], false})
	}
	return append(result, model{})
}

func everywhere(rows []row, c covariate) bool {
	return !slices.ContainsFunc(rows, func(r row) bool {
		return slices.ContainsFunc(c.of(r), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	})
}

func (m model) columns() int {
	columns := 0
	for _, c := range m.covariates {
		columns += len(c.of(row{}))
	}
	return columns
}

// least is the number of units that each group needs: five for a column, so that HC2 holds.
func (m model) least() int {
	switch columns := m.columns(); {
	case columns == 0:
		return 2
	case m.within:
		return 10 * columns
	default:
		return 5 * columns
	}
}

func (m model) names() []string {
	names := []string{}
	for _, c := range m.covariates {
		names = append(names, c.name)
	}
	return names
}

// design has the group as second column. Covariates are centred over all units, so that its
// coefficient is the effect at their mean.
func (m model) design(rows []row) [][]float64 {
	columns := m.columns()
	mean := make([]float64, columns)
	raw := make([][]float64, len(rows))
	linear := 0.0
	for _, r := range rows {
		linear += r.load / float64(len(rows))
	}
	for i, r := range rows {
		if !math.IsNaN(linear) {
			r.load -= linear // a square of what is far from zero depends on the line
		}
		for _, c := range m.covariates {
			raw[i] = append(raw[i], c.of(r)...)
		}
		for j := range raw[i] {
			mean[j] += raw[i][j] / float64(len(rows))
		}
	}
	design := make([][]float64, len(rows))
	for i, r := range rows {
		group := 0.0
		if r.b {
			group = 1
		}
		design[i] = []float64{1, group}
		for j := range columns {
			design[i] = append(design[i], raw[i][j]-mean[j])
		}
		if m.within {
			for j := range columns {
				design[i] = append(design[i], group*(raw[i][j]-mean[j]))
			}
		}
	}
	return design
}

// Confounded names the labels by which the groups differ entirely: each of its values is on one
// side only, and there is one value a side at least. What it does cannot be told from what the
// groups were made by. The labels of chosen are left out.
func Confounded(a, b []map[string]string, chosen map[string]bool) []string {
	keys := map[string]bool{}
	for _, labels := range a {
		for key := range labels {
			keys[key] = true
		}
	}
	var found []string
	for key := range keys {
		if chosen[key] || len(a) == 0 || len(b) == 0 {
			continue
		}
		of := map[string]bool{}
		for _, labels := range a {
			of[labels[key]] = true
		}
		shared := slices.ContainsFunc(b, func(labels map[string]string) bool { return of[labels[key]] })
		if !shared && len(of) == 1 {
			found = append(found, fmt.Sprintf("%s: A has %q, no host of B has it", key, a[0][key]))
		}
	}
	slices.Sort(found)
	return found
}
