package report

import (
	"cmp"
	"slices"

	"culprit/internal/compare"
)

// columns is a profile as the page reads it: one array a field, in preorder,
// names and kinds given once. A hundred thousand nodes then take a tenth of the
// bytes, and become typed arrays without an object for each. Seven digits are
// more than a profile has; case.json holds them all.
type columns struct {
	Names   []string  `json:"names"`
	Kinds   []string  `json:"kinds"`
	Name    []int     `json:"name"` // index into Names
	Kind    []int     `json:"kind"` // index into Kinds
	Depth   []int     `json:"depth"`
	SelfA   []float32 `json:"self_a"`
	SelfB   []float32 `json:"self_b"`
	Change  []float32 `json:"change"`
	Low     []float32 `json:"low"`
	High    []float32 `json:"high"`
	Decided []int     `json:"decided"` // 0 or 1
	// CPI is nil where nothing was sampled by cycles and by instructions.
	CPI *cpiColumns `json:"cpi,omitempty"`
}

// cpiColumns are cycles per instruction of each node and side with their intervals; 0 where too few samples tell.
type cpiColumns struct {
	A     []float32 `json:"a"`
	ALow  []float32 `json:"a_low"`
	AHigh []float32 `json:"a_high"`
	B     []float32 `json:"b"`
	BLow  []float32 `json:"b_low"`
	BHigh []float32 `json:"b_high"`
}

func cpiColumnsOf(nodes []compare.ProfileNode) *cpiColumns {
	if !slices.ContainsFunc(nodes, func(n compare.ProfileNode) bool { return n.CPIA != nil || n.CPIB != nil }) {
		return nil
	}
	c := &cpiColumns{}
	for i := range nodes {
		a, b := cmp.Or(nodes[i].CPIA, &compare.Interval{}), cmp.Or(nodes[i].CPIB, &compare.Interval{})
		c.A, c.ALow, c.AHigh = append(c.A, float32(a.Value)), append(c.ALow, float32(a.Low)), append(c.AHigh, float32(a.High))
		c.B, c.BLow, c.BHigh = append(c.B, float32(b.Value)), append(c.BLow, float32(b.Low)), append(c.BHigh, float32(b.High))
	}
	return c
}

func columnsOf(profile *compare.Profile) *columns {
	if profile == nil || len(profile.Nodes) == 0 {
		return nil
	}
	c := &columns{CPI: cpiColumnsOf(profile.Nodes)}
	names, kinds := map[string]int{}, map[string]int{}
	depth := -1
	for _, node := range profile.Nodes {
		// A child is one deeper than its parent; a node that claims more would make
		// the page look for parents that are not there.
		depth = min(max(node.Depth, 0), depth+1)
		c.Name = append(c.Name, index(names, &c.Names, node.Name))
		c.Kind = append(c.Kind, index(kinds, &c.Kinds, string(node.Kind)))
		c.Depth = append(c.Depth, depth)
		c.SelfA = append(c.SelfA, float32(node.SelfA))
		c.SelfB = append(c.SelfB, float32(node.SelfB))
		c.Change = append(c.Change, float32(node.Change))
		c.Low = append(c.Low, float32(node.Low))
		c.High = append(c.High, float32(node.High))
		decided := 0
		if node.Decided {
			decided = 1
		}
		c.Decided = append(c.Decided, decided)
	}
	return c
}

// index returns the place of text in the table, which it joins when it is new.
func index(seen map[string]int, table *[]string, text string) int {
	if place, found := seen[text]; found {
		return place
	}
	place := len(*table)
	seen[text] = place
	*table = append(*table, text)
	return place
}
