package facts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// strata are parts of the hosts within which values are compared and dealt out anew.
type strata struct {
	of      []int   // the stratum of each host
	members [][]int // the hosts of each stratum
	centred []float64
	squares float64 // sum of the centred values' squares: the same in every deal
}

func newStrata(values []float64, names []string) (*strata, error) {
	if names != nil && len(names) != len(values) {
		return nil, fmt.Errorf("search facts: %d strata for %d hosts", len(names), len(values))
	}
	s := &strata{of: make([]int, len(values)), centred: make([]float64, len(values))}
	numbers := map[string]int{}
	for i := range values {
		name := ""
		if names != nil {
			name = names[i]
		}
		number, known := numbers[name]
		if !known {
			number = len(s.members)
			numbers[name] = number
			s.members = append(s.members, nil)
		}
		s.of[i] = number
		s.members[number] = append(s.members[number], i)
	}
	for _, members := range s.members {
		mean := 0.0
		for _, host := range members {
			mean += values[host] / float64(len(members))
		}
		for _, host := range members {
			s.centred[host] = values[host] - mean
			s.squares += s.centred[host] * s.centred[host]
		}
	}
	return s, nil
}

// question is one way, or one row of thresholds, to cut the hosts in two.
type question struct {
	names  []Name
	others []Name // of the hosts that are not in order
	// order lists hosts: those with the value; of a number all hosts from the largest down, cut
	// where cuts say.
	order []int
	cuts  []cut
	hosts int // all of them
}

// cut makes two parts of the first so many of an order and the rest. Its weight is Σ k(1−k/n) over
// strata, the square of the partition within them: difference of means = sum / weight.
type cut struct {
	size   int
	weight float64
	root   float64
	value  string // of the last that is in
}

// strongest is the largest |sum|/√weight of the cuts, which orders them as |t| does.
func (q *question) strongest(values []float64) float64 {
	most, sum, at := 0.0, 0.0, 0
	for _, c := range q.cuts {
		for ; at < c.size; at++ {
			sum += values[q.order[at]]
		}
		most = max(most, math.Abs(sum)*c.root)
	}
	return most
}

// finding is what the question says to the true values.
func (q *question) finding(within *strata, largest []float64) Finding {
	most, sum, at := -1.0, 0.0, 0
	var best cut
	var bestSum float64
	for _, c := range q.cuts {
		for ; at < c.size; at++ {
			sum += within.centred[q.order[at]]
		}
		if strength := math.Abs(sum) * c.root; strength > most {
			most, best, bestSum = strength, c, sum
		}
	}
	rest := max(within.squares-most*most, 1e-12*within.squares)
	freedom := max(float64(len(within.of)-len(within.members)-1), 1)
	// Sums of the same numbers in another order differ in the last digits.
	at, _ = slices.BinarySearch(largest, most*(1-1e-12))
	with, names := q.side(best, bestSum < 0)
	slices.Sort(with)
	return Finding{Facts: names, With: with, Without: len(within.of) - len(with), Effect: math.Abs(bestSum) / best.weight,
		T: most / math.Sqrt(rest/freedom), P: float64(1+len(largest)-at) / float64(len(largest)+1)}
}

// side is the dearer part of a cut, with its names.
func (q *question) side(best cut, other bool) (with []int, names []Name) {
	if !other {
		names = slices.Clone(q.names)
		if best.value != "" {
			names[0].Value = "≥ " + best.value
		}
		return slices.Clone(q.order[:best.size]), names
	}
	if best.value != "" {
		return slices.Clone(q.order[best.size:]), []Name{{q.names[0].Fact, "< " + best.value}}
	}
	in := map[int]bool{}
	for _, host := range q.order {
		in[host] = true
	}
	for host := range q.hosts {
		if !in[host] {
			with = append(with, host)
		}
	}
	names = slices.Clone(q.others)
	for _, name := range q.names {
		said := slices.ContainsFunc(names, func(other Name) bool { return other.Fact == name.Fact })
		if !said {
			names = append(names, Name{name.Fact, "not " + name.Value})
		}
	}
	return with, names
}

// partition makes the questions of a table of facts; left counts the facts without one.
func partition(table []Fact, within *strata) (questions []*question, left int) {
	known := map[string]*question{}
	for _, fact := range table {
		asked := false
		if numbers, isNumber := numeric(fact.Values); isNumber {
			if q := thresholds(fact.Name, numbers, fact.Values, within); q != nil {
				questions, asked = append(questions, q), true
			}
		}
		byValue := map[string][]int{}
		for host, value := range fact.Values {
			byValue[value] = append(byValue[value], host)
		}
		values := make([]string, 0, len(byValue))
		for value, hosts := range byValue {
			if len(hosts) >= leastSide && len(hosts) <= len(fact.Values)-leastSide {
				values = append(values, value)
			}
		}
		slices.Sort(values)
		for _, value := range values {
			hosts := byValue[value]
			name := Name{fact.Name, "= " + value}
			if value == "" {
				name.Value = "absent"
			}
			key, other := keyOf(hosts, len(fact.Values))
			asked = true
			if q := known[key]; q != nil {
				if len(q.order) == len(hosts) && q.order[0] == hosts[0] {
					q.names = append(q.names, name)
				} else {
					q.others = append(q.others, name)
				}
				continue
			}
			weight := within.weight(hosts)
			if weight < 1e-9 {
				continue // the strata themselves
			}
			q := &question{names: []Name{name}, order: hosts, hosts: len(fact.Values),
				cuts: []cut{{size: len(hosts), weight: weight, root: 1 / math.Sqrt(weight)}}}
			known[key], known[other] = q, q
			questions = append(questions, q)
		}
		if !asked {
			left++
		}
	}
	return questions, left
}

// keyOf names a set of hosts, and all the others.
func keyOf(hosts []int, all int) (key, other string) {
	bits := make([]byte, (all+7)/8)
	rest := make([]byte, len(bits))
	for host := range all {
		rest[host/8] |= 1 << (host % 8)
	}
	for _, host := range hosts {
		bits[host/8] |= 1 << (host % 8)
		rest[host/8] &^= 1 << (host % 8)
	}
	return string(bits), string(rest)
}

func (s *strata) weight(hosts []int) float64 {
	counts := make([]float64, len(s.members))
	for _, host := range hosts {
		counts[s.of[host]]++
	}
	weight := 0.0
	for number, k := range counts {
		weight += k * (1 - k/float64(len(s.members[number])))
	}
	return weight
}

// manyNumbers is how many different numbers a fact has to have to be asked by thresholds.
const manyNumbers = 5

func numeric(values []string) (numbers []float64, isNumber bool) {
	different := map[string]bool{}
	numbers = make([]float64, len(values))
	for i, value := range values {
		number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			return nil, false
		}
		numbers[i] = number
		different[value] = true
	}
	return numbers, len(different) >= manyNumbers
}

// thresholds cut the hosts by a number wherever it changes.
func thresholds(name string, numbers []float64, values []string, within *strata) *question {
	order := make([]int, len(numbers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(numbers[b], numbers[a]) })
	q := &question{names: []Name{{Fact: name}}, order: order}
	counts := make([]float64, len(within.members))
	weight := 0.0
	for size := 1; size <= len(order)-leastSide; size++ {
		host := order[size-1]
		stratum := within.of[host]
		n, k := float64(len(within.members[stratum])), counts[stratum]
		counts[stratum]++
		weight += (k + 1) * (1 - (k+1)/n)
		weight -= k * (1 - k/n)
		if size < leastSide || numbers[host] == numbers[order[size]] || weight < 1e-9 {
			continue
		}
		q.cuts = append(q.cuts, cut{size: size, weight: weight, root: 1 / math.Sqrt(weight), value: values[host]})
	}
	if len(q.cuts) == 0 {
		return nil
	}
	return q
}
