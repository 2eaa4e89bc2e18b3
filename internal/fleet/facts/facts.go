// Package facts tells which setting goes with a metric over the hosts of a fleet.
//
// Thousands of facts are few questions: facts that cut the hosts in the same two parts are one, and
// are told together. For each such partition the difference of the means is taken within strata
// (zone, instance type) and held against the largest difference that any partition shows when the
// hosts' values are dealt out anew within the strata (max-T; Westfall and Young 1993). So with
// nothing behind it, some fact is named in 5 of 100 fleets, however many there are.
//
//	answer, err := facts.Search(values, table, facts.Options{Strata: zones})
//
// It leaves out facts of which fewer than 3 hosts have a value, or lack it: a host's own name or
// address cannot be told from luck. It refuses fewer than 6 hosts.
package facts

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// ErrTooFew is returned for fewer than LeastHosts.
var ErrTooFew = errors.New("too few hosts")

// LeastHosts is how many hosts there have to be; leastSide how many each part of a partition has.
const (
	LeastHosts = 6
	leastSide  = 3
)

// Fact is one setting with its value on each host; "" where the host does not have it.
type Fact struct {
	Name   string
	Values []string
}

// Options say what is held against what.
type Options struct {
	Strata       []string // of each host; nil: all are one
	Permutations int      // 999
	Level        float64  // 0.05
	Seed         uint64
}

// Finding is a partition of the hosts with all its names.
type Finding struct {
	Facts []Name `json:"facts"`
	// With has the numbers of the hosts that are like Facts say, the dearer ones; Without counts
	// the others.
	With    []int `json:"with"`
	Without int   `json:"without"`
	// Effect is the mean with it less the mean without, within strata: above zero.
	Effect float64 `json:"effect"`
	T      float64 `json:"t"`
	P      float64 `json:"p"` // adjusted for all that was asked
}

// Name is one fact by which a partition can be told.
type Name struct {
	Fact  string `json:"fact"`
	Value string `json:"value"` // "= 5", "≥ 12", "absent"
}

// Answer has the findings, the surest first.
type Answer struct {
	Findings   []Finding `json:"findings"` // up to the level
	Nearest    []Finding `json:"nearest"`  // the first few beyond it
	Facts      int       `json:"facts"`    // that were asked
	Partitions int       `json:"partitions"`
	Left       int       `json:"left"`   // facts that nothing can be told of
	Strata     int       `json:"strata"` // parts within which was compared
}

const nearest = 3

// Search looks for the facts that go with the values; each fact has as many values as there are
// hosts.
func Search(values []float64, table []Fact, options Options) (*Answer, error) {
	options = options.withDefaults()
	if len(values) < LeastHosts {
		return nil, fmt.Errorf("search facts: %w: %d hosts, at least %d", ErrTooFew, len(values), LeastHosts)
	}
	for i, value := range values {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, fmt.Errorf("search facts: host %d has the value %g", i, value)
		}
	}
	for _, fact := range table {
		if len(fact.Values) != len(values) {
			return nil, fmt.Errorf("search facts: %s has %d values for %d hosts", fact.Name, len(fact.Values), len(values))
		}
	}
	within, err := newStrata(values, options.Strata)
	if err != nil {
		return nil, err
	}
	questions, left := partition(table, within)
	answer := &Answer{Facts: len(table), Left: left, Partitions: len(questions), Strata: len(within.members),
		Findings: []Finding{}, Nearest: []Finding{}}
	if len(questions) == 0 || within.squares == 0 {
		return answer, nil
	}
	largest := permute(questions, within, options)
	findings := make([]Finding, 0, len(questions))
	for _, q := range questions {
		findings = append(findings, q.finding(within, largest))
	}
	slices.SortStableFunc(findings, func(x, y Finding) int { return cmp.Compare(y.T, x.T) })
	for _, finding := range findings {
		if finding.P <= options.Level {
			answer.Findings = append(answer.Findings, finding)
		} else if len(answer.Nearest) < nearest {
			answer.Nearest = append(answer.Nearest, finding)
		}
	}
	return answer, nil
}

func (o Options) withDefaults() Options {
	if o.Permutations == 0 {
		o.Permutations = 999
	}
	if o.Level == 0 {
		o.Level = 0.05
	}
	return o
}

// permute returns the largest difference of any question in each deal, sorted.
func permute(questions []*question, within *strata, options Options) []float64 {
	random := rand.New(rand.NewPCG(options.Seed, 0x6d61782d54))
	dealt := slices.Clone(within.centred)
	largest := make([]float64, options.Permutations)
	for i := range largest {
		for _, members := range within.members {
			random.Shuffle(len(members), func(a, b int) {
				dealt[members[a]], dealt[members[b]] = dealt[members[b]], dealt[members[a]]
			})
		}
		for _, q := range questions {
			largest[i] = max(largest[i], q.strongest(dealt))
		}
	}
	slices.Sort(largest)
	return largest
}
