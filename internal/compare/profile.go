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
	var a, b [][]float64
	var parents []int
	var walk func(node *callNode, depth, parent int)
	walk = func(node *callNode, depth, parent int) {
		change := Change(node.a, node.b, confidence)
		at := len(profile.Nodes)
		profile.Nodes = append(profile.Nodes, ProfileNode{Name: node.frame.Name, Kind: node.frame.Kind, Depth: depth,
			SelfA: node.selfA, SelfB: node.selfB, Change: change.Value, Low: change.Low, High: change.High})
		a, b, parents = append(a, node.a), append(b, node.b), append(parents, parent)
		for _, child := range node.sorted() {
			if smallest > 0 && max(mean(child.a), mean(child.b)) < smallest || len(profile.Nodes) >= 2*profileLimit {
				profile.Nodes[at].SelfA += mean(child.a)
				profile.Nodes[at].SelfB += mean(child.b)
				continue
			}
			walk(child, depth+1, at)
		}
	}
	walk(root, 0, -1)
	decided, err := stat.TreeDiscoveries(parents, pValues(a, b), 1-confidence)
	if err != nil {
		return profile // of a confidence that is none: nothing is decided
	}
	for i, yes := range decided {
		profile.Nodes[i].Decided = yes
	}
	return profile
}

// WaitProfile is the merged call tree of all time off the CPU, for the flame graph of waits.
func WaitProfile(result *Result, confidence float64) Profile {
	paths := make([]Path, 0, len(result.Waits))
	for i := range result.Waits {
		paths = append(paths, result.Waits[i].Path)
	}
	return newProfile(paths, len(result.A), len(result.B), confidence)
}
