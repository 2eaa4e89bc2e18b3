package stat

import (
	"fmt"
	"slices"
)

// TreeDiscoveries marks which nodes of a tree of tests may be called discoveries. A node is looked at only when its
// parent's subtree holds something (Yekutieli 2008): the children of one node are a family, tested by Benjamini &
// Hochberg at q. What opens a subtree is Simes' test (1986) of "nothing in it differs", so that two changes below a
// node that cancel in it are found all the same. A node that is open is a discovery when its own p holds among the
// open ones of its family. Thousands of nodes that nobody had reason to look at then cost the few that matter nothing.
//
// Parents stand before their children: parent[i] < i, and −1 for a root. It fails when they do not, and on what
// BenjaminiHochberg refuses.
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

// subtreeTests are Simes' tests of each node together with all below it.
func subtreeTests(parent []int, p []float64) []float64 {
	below := make([][]float64, len(p))
	tests := make([]float64, len(p))
	for i := len(p) - 1; i >= 0; i-- {
		sorted := append(below[i], p[i])
		slices.Sort(sorted)
		tests[i] = 1
		for rank, value := range sorted {
			tests[i] = min(tests[i], value*float64(len(sorted))/float64(rank+1))
		}
		if above := parent[i]; above >= 0 {
			below[above] = append(below[above], sorted...)
		}
		below[i] = nil
	}
	return tests
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
