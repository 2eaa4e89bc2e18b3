package compare

import (
	"sort"

	"culprit/internal/stat"
	"culprit/recording"
)

const (
	// profileLimit bounds the nodes of a profile; beyond it small ones are left
	// to their parents, smallest part first.
	profileLimit  = 50000
	smallestShare = 1e-4
)

// callNode is one node of the merged call tree, with inclusive seconds per run.
type callNode struct {
	frame        recording.Frame
	a, b         []float64
	selfA, selfB float64
	children     map[frameKey]*callNode
}

func newCallNode(frame recording.Frame, runsA, runsB int) *callNode {
	return &callNode{frame: frame, a: make([]float64, runsA), b: make([]float64, runsB),
		children: map[frameKey]*callNode{}}
}

func (n *callNode) add(path *Path) {
	for i, seconds := range path.A {
		n.a[i] += seconds
	}
	for i, seconds := range path.B {
		n.b[i] += seconds
	}
}

func (n *callNode) sorted() []*callNode {
	list := make([]*callNode, 0, len(n.children))
	for _, child := range n.children {
		list = append(list, child)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].frame.Name != list[j].frame.Name {
			return list[i].frame.Name < list[j].frame.Name
		}
		return list[i].frame.Kind < list[j].frame.Kind
	})
	return list
}

// callTree merges paths of one kind of time into a tree.
func callTree(paths []Path, runsA, runsB int) (root *callNode, count int) {
	root, count = newCallNode(recording.Frame{Name: "all", Kind: recording.KindOther}, runsA, runsB), 1
	for i := range paths {
		path := &paths[i]
		node := root
		node.add(path)
		frames := path.Frames
		if len(frames) == 0 {
			frames = []recording.Frame{{Name: "[no stack]", Kind: recording.KindOther}}
		}
		for _, frame := range frames {
			key := frameKey{frame.Name, frame.Kind}
			child := node.children[key]
			if child == nil {
				child = newCallNode(frame, runsA, runsB)
				node.children[key] = child
				count++
			}
			child.add(path)
			node = child
		}
		node.selfA += mean(path.A)
		node.selfB += mean(path.B)
	}
	return root, count
}

// newProfile lays the call tree out in preorder, with what can be told about each node's change.
func newProfile(paths []Path, runsA, runsB int, confidence float64) Profile {
	root, count := callTree(paths, runsA, runsB)
	smallest := 0.0
	if count > profileLimit {
		smallest = smallestShare * max(mean(root.a), mean(root.b))
	}
	var profile Profile
	tests := &nodeTests{least: tooSmall * (mean(root.a) + mean(root.b))}
	var walk func(node *callNode, depth, parent int)
	walk = func(node *callNode, depth, parent int) {
		change := Change(node.a, node.b, confidence)
		at := len(profile.Nodes)
		profile.Nodes = append(profile.Nodes, ProfileNode{Name: node.frame.Name, Kind: node.frame.Kind, Depth: depth,
			SelfA: node.selfA, SelfB: node.selfB, Change: change.Value, Low: change.Low, High: change.High})
		tested := tests.add(node, at, parent)
		for _, child := range node.sorted() {
			if smallest > 0 && max(mean(child.a), mean(child.b)) < smallest || len(profile.Nodes) >= 2*profileLimit {
				profile.Nodes[at].SelfA += mean(child.a)
				profile.Nodes[at].SelfB += mean(child.b)
				continue
			}
			walk(child, depth+1, tested)
		}
	}
	walk(root, 0, -1)
	for _, at := range tests.decided(confidence) {
		profile.Nodes[at].Decided = true
	}
	return profile
}

// nodeTests are the nodes of a call tree that are worth a test: what is small on both sides together is left out,
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
	if parent == untested || mean(node.a)+mean(node.b) < t.least {
		return untested
	}
	t.nodes, t.parents = append(t.nodes, at), append(t.parents, parent)
	t.a, t.b = append(t.a, node.a), append(t.b, node.b)
	return len(t.nodes) - 1
}

// decided are the nodes whose change can be told from zero when the tree is tested from its root.
func (t *nodeTests) decided(confidence float64) []int {
	found, err := stat.TreeDiscoveries(t.parents, pValues(t.a, t.b), 1-confidence)
	if err != nil {
		return nil // of a confidence that is none: nothing is decided
	}
	var nodes []int
	for i, yes := range found {
		if yes {
			nodes = append(nodes, t.nodes[i])
		}
	}
	return nodes
}

// WaitProfile is the merged call tree of all time off the CPU, for the flame graph of waits.
func WaitProfile(result *Result, confidence float64) Profile {
	paths := make([]Path, 0, len(result.Waits))
	for i := range result.Waits {
		paths = append(paths, result.Waits[i].Path)
	}
	return newProfile(paths, len(result.A), len(result.B), confidence)
}
