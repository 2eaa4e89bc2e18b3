package stat

import (
	"fmt"
	"slices"
)

// TreeDiscoveries marks which nodes of a tree of tests may be called discoveries. A node is looked
// at only when its parent's subtree holds something (Yekutieli 2008): the children of one node are
// a family, tested by Benjamini & Hochberg at q. What opens a subtree is its node's own test or
// Simes' test (1986) of all below it, each at half, so that two changes below a node that cancel in
// it are found all the same. A node that is open is a discovery when its own p holds among the open
// ones of its family. Thousands of nodes that nobody had reason to look at then cost the few that
// matter nothing.
//
// Parents stand before their children: parent[i] < i, and −1 for a root. It fails when they do not,
// and on what BenjaminiHochberg refuses.
func TreeDiscoveries(parent []int, p []float64, q float64) ([]bool, error) {
	if len(parent) != len(p) {
		return nil, fmt.Errorf("choose discoveries in tree: %d parents of %d tests", len(parent), len(p))
	}
	children := make([][]int, len(p))
	var roots []int
	for i, above := range parent {
		switch {
		case above >= i || above < -1:
			return nil, fmt.Errorf("choose discoveries in tree: parent %d of node %d does not stand before it", above, i)
		case above < 0:
			roots = append(roots, i)
		default:
			children[above] = append(children[above], i)
		}
	}
	subtree := subtreeTests(parent, p)
	found := make([]bool, len(p))
	for families := [][]int{roots}; len(families) > 0; {
		family := families[len(families)-1]
		families = families[:len(families)-1]
		if len(family) == 0 {
			continue
		}
		open, err := discoveriesAmong(family, subtree, q)
		if err != nil {
			return nil, err
		}
		own, err := discoveriesAmong(open, p, q)
		if err != nil {
			return nil, err
		}
		for _, node := range own {
			found[node] = true
		}
		for _, node := range open {
			families = append(families, children[node])
		}
	}
	return found, nil
}

// subtreeTests test of each node that neither it nor anything below it differs.
func subtreeTests(parent []int, p []float64) []float64 {
	below := make([][]float64, len(p))
	tests := make([]float64, len(p))
	for i := len(p) - 1; i >= 0; i-- {
		slices.Sort(below[i])
		tests[i] = p[i]
		if len(below[i]) > 0 {
			tests[i] = min(1, 2*p[i], 2*simes(below[i]))
		}
		if above := parent[i]; above >= 0 {
			below[above] = append(append(below[above], below[i]...), p[i])
		}
		below[i] = nil
	}
	return tests
}

// simes tests that none of several hypotheses fails, given their p-values in ascending order (Simes
// 1986).
func simes(sorted []float64) float64 {
	test := 1.0
	for rank, value := range sorted {
		test = min(test, value*float64(len(sorted))/float64(rank+1))
	}
	return test
}

// discoveriesAmong are the members of a family whose tests hold.
func discoveriesAmong(family []int, tests []float64, q float64) ([]int, error) {
	values := make([]float64, len(family))
	for i, node := range family {
		values[i] = tests[node]
	}
	found, err := BenjaminiHochberg(values, q)
	if err != nil {
		return nil, err
	}
	var chosen []int
	for i, node := range family {
		if found[i] {
			chosen = append(chosen, node)
		}
	}
	return chosen, nil
}
