package compare

import (
	"cmp"
	"maps"
	"slices"

	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/recording"
)

const (
	// profileLimit is how many nodes a profile may have; of more those below smallestShare of the
	// metric are left to their parents. Chosen: what a page draws, and less than a pixel.
	profileLimit  = 50000
	smallestShare = 1e-4
)

// callNode is one node of the merged call tree, with inclusive seconds per run.
type callNode struct {
	names.Key
	a, b         []float64
	selfA, selfB float64
	threads      map[int]ownTime // whose own time it is
	children     map[names.Key]*callNode
}

// callTree merges paths of one kind of time into a tree; threads says whose each is.
func callTree(paths []Path, threads []int, sides perrun.Sides) (root *callNode, count int) {
	add := func(parent *callNode, key names.Key, path *Path) *callNode {
		node := parent.children[key]
		if node == nil {
			node = &callNode{Key: key, a: make([]float64, sides.A), b: make([]float64, sides.B),
				children: map[names.Key]*callNode{}}
			parent.children[key] = node
			count++
		}
		perrun.Add(node.a, path.A)
		perrun.Add(node.b, path.B)
		return node
	}
	all := names.Key{Name: "all", Kind: recording.KindOther}
	above := &callNode{children: map[names.Key]*callNode{}}
	add(above, all, &Path{})
	for i := range paths {
		path := &paths[i]
		node := add(above, all, path)
		if len(path.Frames) == 0 {
			node = add(node, names.Key{Name: "[no stack]", Kind: recording.KindOther}, path)
		}
		for _, frame := range path.Frames {
			node = add(node, names.KeyOf(frame), path)
		}
		node.selfA += stat.Average(path.A)
		node.selfB += stat.Average(path.B)
		node.give(threads[i], stat.Average(path.A), stat.Average(path.B))
	}
	return above.children[all], count
}

// newProfile lays the call tree out in preorder, with what can be told about each node's change.
func newProfile(paths []Path, sides perrun.Sides, confidence float64) Profile {
	threads, of := threadsOf(paths)
	root, count := callTree(paths, of, sides)
	smallest := 0.0
	if count > profileLimit {
		smallest = smallestShare * max(stat.Average(root.a), stat.Average(root.b))
	}
	var profile Profile
	tests := &nodeTests{least: perrun.TooSmall * (stat.Average(root.a) + stat.Average(root.b))}
	var walk func(node *callNode, depth, parent int)
	walk = func(node *callNode, depth, parent int) {
		change := perrun.Change(node.a, node.b, confidence)
		at := len(profile.Nodes)
		profile.Nodes = append(profile.Nodes, ProfileNode{Name: node.Name, Kind: node.Kind, Depth: depth,
			SelfA: node.selfA, SelfB: node.selfB, Change: change.Value, Low: change.Low, High: change.High})
		tested := tests.add(node, at, parent)
		for _, key := range slices.SortedFunc(maps.Keys(node.children), names.Key.Compare) {
			child := node.children[key]
			a, b := stat.Average(child.a), stat.Average(child.b)
			if smallest > 0 && max(a, b) < smallest || len(profile.Nodes) >= 2*profileLimit {
				profile.Nodes[at].SelfA += a
				profile.Nodes[at].SelfB += b
				node.giveAll(child)
				continue
			}
			walk(child, depth+1, tested)
		}
		if len(threads) > 1 {
			profile.ByThread = append(profile.ByThread, node.shares(at)...)
		}
	}
	walk(root, 0, -1)
	tests.mark(profile.Nodes, confidence)
	if len(threads) > 1 {
		profile.Threads = threads
		slices.SortFunc(profile.ByThread, func(x, y ThreadShare) int {
			return cmp.Or(cmp.Compare(x.Node, y.Node), cmp.Compare(x.Thread, y.Thread))
		})
	}
	return profile
}

// nodeTests are the nodes that are worth a test: what is small on both sides together is left out,
// with all below it, as in a ranking.
type nodeTests struct {
	least   float64
	nodes   []int // of the profile
	parents []int // in nodes
	a, b    [][]float64
}

// untested marks what is below a node without a test.
const untested = -2

// add returns the number of the node's test, for those below it.
func (t *nodeTests) add(node *callNode, at, parent int) int {
	if parent == untested || stat.Average(node.a)+stat.Average(node.b) < t.least {
		return untested
	}
	t.nodes, t.parents = append(t.nodes, at), append(t.parents, parent)
	t.a, t.b = append(t.a, node.a), append(t.b, node.b)
	return len(t.nodes) - 1
}

// mark marks the nodes whose change can be told from zero when the tree is tested from its root.
func (t *nodeTests) mark(nodes []ProfileNode, confidence float64) {
	found, err := stat.TreeDiscoveries(t.parents, perrun.PValues(t.a, t.b), 1-confidence)
	if err != nil {
		return // of a confidence that is none: nothing is decided
	}
	for i, decided := range found {
		nodes[t.nodes[i]].Decided = decided
	}
}

// WaitProfile is the merged call tree of all time off the CPU, for the flame graph of waits.
func WaitProfile(result *Result, confidence float64) Profile {
	paths := make([]Path, 0, len(result.Waits))
	for i := range result.Waits {
		paths = append(paths, result.Waits[i].Path)
	}
	return newProfile(paths, perrun.Sides{A: len(result.A), B: len(result.B)}, confidence)
}

// Per is a call tree per unit of work. The given one keeps its amounts.
func (p Profile) Per(unit units.Unit) Profile {
	nodes := slices.Clone(p.Nodes)
	for i := range nodes {
		node := &nodes[i]
		change := unit.Interval(Interval{Value: node.Change, Low: node.Low, High: node.High})
		node.SelfA, node.SelfB = unit.Amount(node.SelfA), unit.Amount(node.SelfB)
		node.Change, node.Low, node.High = change.Value, change.Low, change.High
	}
	shares := slices.Clone(p.ByThread)
	for i := range shares {
		shares[i].SelfA, shares[i].SelfB = unit.Amount(shares[i].SelfA), unit.Amount(shares[i].SelfB)
	}
	return Profile{Nodes: nodes, Threads: p.Threads, ByThread: shares}
}
