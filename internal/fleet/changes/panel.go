package changes

import "math"

// leastBefore is how many hours before the roll-out a table needs; a host needs half of them.
const leastBefore = 6

// panel is the day before a roll-out and the hours in which both versions ran, by host and hour;
// NaN for what was not seen or is left out.
type panel struct {
	cost, version    [][]float64
	turns            []int // when each host was switched, in hours of the panel; hosts of one turn are alike
	fresh, old, both int
}

func newPanel(table *Table, switched []int, start, warm int) *panel {
	from := max(0, start-day)
	p := &panel{}
	var hosts []int
	for host, values := range table.Values {
		seen := 0
		for _, value := range values[from:start] {
			if value == value {
				seen++
			}
		}
		if seen >= leastBefore/2 {
			hosts = append(hosts, host)
		}
	}
	used := p.sideBySide(table, switched, hosts, start, warm, from)
	for _, host := range hosts {
		cost, version := make([]float64, len(used)), make([]float64, len(used))
		hasNew, hasOld := false, false
		for i, hour := range used {
			cost[i], version[i] = float64(table.Values[host][hour]), 0
			if hour >= switched[host] {
				version[i] = 1
			}
			if hour >= switched[host] && hour < switched[host]+warm {
				cost[i] = math.NaN()
			}
			if math.IsNaN(cost[i]) {
				version[i] = math.NaN()
			} else if hour >= start {
				hasNew, hasOld = hasNew || version[i] == 1, hasOld || version[i] == 0
			}
		}
		if hasNew {
			p.fresh++
		}
		if hasOld {
			p.old++
		}
		p.cost, p.version = append(p.cost, cost), append(p.version, version)
		p.turns = append(p.turns, min(switched[host], used[len(used)-1]+1))
	}
	return p
}

// sideBySide are the hours before, and those in which enough hosts of both versions ran.
func (p *panel) sideBySide(table *Table, switched, hosts []int, start, warm, from int) []int {
	var used []int
	for hour := from; hour < table.Hours(); hour++ {
		old, fresh := 0, 0
		for _, host := range hosts {
			switch value := table.Values[host][hour]; {
			case value != value:
			case hour < switched[host]:
				old++
			case hour >= switched[host]+warm:
				fresh++
			}
		}
		switch {
		case hour < start && old > 0:
			used = append(used, hour)
		case hour >= start && old >= leastHosts && fresh > 0:
			used = append(used, hour)
			p.both++
		}
	}
	return used
}

// demean takes the level of each host and of each hour out, in turns: with holes one round is not
// enough.
func (p *panel) demean(values [][]float64) {
	if len(values) == 0 {
		return
	}
	hours := len(values[0])
	for range levelRounds {
		moved := 0.0
		for _, row := range values {
			moved = max(moved, centre(row))
		}
		column := make([]float64, len(values))
		for hour := range hours {
			for host, row := range values {
				column[host] = row[hour]
			}
			moved = max(moved, centre(column))
			for host, row := range values {
				row[hour] = column[host]
			}
		}
		if moved < levelSettled {
			return
		}
	}
}

// centre takes the mean of what is known out and says how large it was.
func centre(values []float64) float64 {
	sum, count := 0.0, 0.0
	for _, value := range values {
		if !math.IsNaN(value) {
			sum += value
			count++
		}
	}
	if count == 0 {
		return 0
	}
	for i := range values {
		values[i] -= sum / count
	}
	return math.Abs(sum / count)
}

func (p *panel) product(a, b [][]float64) float64 {
	sum := 0.0
	for i := range a {
		sum += rowProduct(a[i], b[i])
	}
	return sum
}

func rowProduct(a, b []float64) float64 {
	sum := 0.0
	for j := range a {
		if x := a[j] * b[j]; !math.IsNaN(x) {
			sum += x
		}
	}
	return sum
}

// gains is what each host's values would give with each kind of turn: hosts that were switched at
// the same time are of one kind, and the first of them says how its version went.
func (p *panel) gains(values [][]float64) (kinds []int, gain [][]float64) {
	kinds = make([]int, len(values))
	numbers := map[int]int{}
	var paths [][]float64
	for host, turn := range p.turns {
		kind, seen := numbers[turn]
		if !seen {
			kind, numbers[turn] = len(paths), len(paths)
			paths = append(paths, make([]float64, len(p.version[host])))
		}
		kinds[host] = kind
	}
	// The path of a kind is the mean of its hosts: a hole of one is none of the kind's.
	for kind, path := range paths {
		for hour := range path {
			sum, count := 0.0, 0.0
			for host := range values {
				if v := p.version[host][hour]; kinds[host] == kind && !math.IsNaN(v) {
					sum += v
					count++
				}
			}
			if path[hour] = math.NaN(); count > 0 {
				path[hour] = sum / count
			}
		}
	}
	gain = make([][]float64, len(values))
	for host, row := range values {
		gain[host] = make([]float64, len(paths))
		for kind, path := range paths {
			gain[host][kind] = rowProduct(row, path)
		}
	}
	return kinds, gain
}
