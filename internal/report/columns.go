package report

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"culprit/internal/compare"
)

// callColumns is a profile as the page reads it: names and kinds once, in JSON, and one array of
// numbers for each field of the nodes, in preorder. The arrays are the memory of the page's typed
// arrays: a million nodes are there without one being parsed. Seven digits are more than a profile
// has; case.json holds them all.
type callColumns struct {
	Names []string `json:"names"`
	Kinds []string `json:"kinds"`
	// Threads are who spent the time; none where it was one thread.
	Threads []compare.ProfileThread `json:"threads"`
	Columns []callColumn            `json:"columns"`

	bytes []byte // of the columns, one after the other
}

// fewDigits keeps about four digits, which how far an interval reaches has no more of: the rest
// would not compress, and the page of a large tree would be half as long again.
func fewDigits(value float64) float64 {
	return float64(math.Float32frombits(math.Float32bits(float32(value)) &^ (1<<11 - 1)))
}

// callColumn says where an array is: its type is that of a typed array of so many bits.
type callColumn struct {
	Name  string `json:"name"`
	Type  string `json:"type"` // "u8", "u16", "u32", "f32"
	Count int    `json:"count"`
}

// columnAlign is what the beginnings of the header and of all columns are multiples of: the widest
// number.
const columnAlign = 4

// addColumn appends an array of numbers; put writes one of them.
func addColumn[T any](c *callColumns, name, kind string, values []T, put func([]byte, T) []byte) {
	c.Columns = append(c.Columns, callColumn{name, kind, len(values)})
	for _, value := range values {
		c.bytes = put(c.bytes, value)
	}
	c.bytes = padded(c.bytes)
}

func padded(text []byte) []byte {
	for len(text)%columnAlign != 0 {
		text = append(text, 0)
	}
	return text
}

// addNumbers stores whole numbers in the fewest bytes that hold them all.
func (c *callColumns) addNumbers(name string, values []int) {
	most := 0
	for _, value := range values {
		most = max(most, value)
	}
	switch {
	case most <= math.MaxUint8:
		addColumn(c, name, "u8", values, func(to []byte, v int) []byte { return append(to, byte(v)) })
	case most <= math.MaxUint16:
		addColumn(c, name, "u16", values, func(to []byte, v int) []byte {
			return binary.LittleEndian.AppendUint16(to, uint16(v))
		})
	default:
		addColumn(c, name, "u32", values, func(to []byte, v int) []byte {
			return binary.LittleEndian.AppendUint32(to, uint32(v))
		})
	}
}

// addAmounts stores one number for each of the things given. What is not finite is not a number
// there.
func addAmounts[T any](c *callColumns, name string, of []T, amount func(*T) float64) {
	values := make([]float32, len(of))
	for i := range of {
		values[i] = float32(amount(&of[i]))
		if math.IsInf(float64(values[i]), 0) {
			values[i] = float32(math.NaN())
		}
	}
	addColumn(c, name, "f32", values, func(to []byte, v float32) []byte {
		return binary.LittleEndian.AppendUint32(to, math.Float32bits(v))
	})
}

// columnsOf returns nil where there is no call tree.
func columnsOf(profile *compare.Profile) *callColumns {
	if profile == nil || len(profile.Nodes) == 0 {
		return nil
	}
	c := &callColumns{}
	names, kinds := map[string]int{}, map[string]int{}
	count := len(profile.Nodes)
	name, kind, depths, decided := make([]int, count), make([]int, count), make([]int, count), make([]int, count)
	depth := -1
	for i, node := range profile.Nodes {
		// A child is one deeper than its parent; a node that claims more would make
		// the page look for parents that are not there.
		depth = min(max(node.Depth, 0), depth+1)
		name[i] = index(names, &c.Names, node.Name)
		kind[i] = index(kinds, &c.Kinds, string(node.Kind))
		depths[i] = depth
		if node.Decided {
			decided[i] = 1
		}
	}
	c.addNumbers("name", name)
	c.addNumbers("kind", kind)
	c.addNumbers("depth", depths)
	c.addNumbers("decided", decided)
	type node = compare.ProfileNode
	addAmounts(c, "self_a", profile.Nodes, func(n *node) float64 { return n.SelfA })
	addAmounts(c, "self_b", profile.Nodes, func(n *node) float64 { return n.SelfB })
	addAmounts(c, "change", profile.Nodes, func(n *node) float64 { return n.Change })
	addAmounts(c, "below", profile.Nodes, func(n *node) float64 { return fewDigits(n.Change - n.Low) })
	addAmounts(c, "above", profile.Nodes, func(n *node) float64 { return fewDigits(n.High - n.Change) })
	c.addCPI(profile.Nodes)
	c.addThreads(profile)
	return c
}

// addCPI adds cycles per instruction of each node and side with their intervals, 0 where too few
// samples tell; nothing where no node was sampled by cycles and by instructions.
func (c *callColumns) addCPI(nodes []compare.ProfileNode) {
	type node = compare.ProfileNode
	if !slices.ContainsFunc(nodes, func(n node) bool { return n.CPIA != nil || n.CPIB != nil }) {
		return
	}
	sides := []struct {
		name string
		of   func(n *node) *compare.Interval
	}{
		{"cpi_a", func(n *node) *compare.Interval { return cmp.Or(n.CPIA, &compare.Interval{}) }},
		{"cpi_b", func(n *node) *compare.Interval { return cmp.Or(n.CPIB, &compare.Interval{}) }},
	}
	for _, side := range sides {
		addAmounts(c, side.name, nodes, func(n *node) float64 { return side.of(n).Value })
		addAmounts(c, side.name+"_low", nodes, func(n *node) float64 { return side.of(n).Low })
		addAmounts(c, side.name+"_high", nodes, func(n *node) float64 { return side.of(n).High })
	}
}

// addThreads adds who spent each node's own time: of most nodes it is one thread, and then its
// number is enough, from 1 on; the shares of the others are told one by one. Shares of nodes or
// threads that are not there are left out: a document may be damaged.
func (c *callColumns) addThreads(profile *compare.Profile) {
	if len(profile.Threads) < 2 {
		return
	}
	c.Threads = profile.Threads
	sorted := slices.DeleteFunc(slices.Clone(profile.ByThread), func(share compare.ThreadShare) bool {
		return share.Node < 0 || share.Node >= len(profile.Nodes) || share.Thread < 0 || share.Thread >= len(c.Threads)
	})
	slices.SortStableFunc(sorted, func(x, y compare.ThreadShare) int { return cmp.Compare(x.Node, y.Node) })
	alone := make([]int, len(profile.Nodes))
	var shares []compare.ThreadShare
	var nodes, threads []int
	for i, share := range sorted {
		first := i == 0 || sorted[i-1].Node != share.Node
		if last := i == len(sorted)-1 || sorted[i+1].Node != share.Node; first && last {
			alone[share.Node] = share.Thread + 1
			continue
		}
		shares = append(shares, share)
		nodes, threads = append(nodes, share.Node), append(threads, share.Thread)
	}
	c.addNumbers("thread", alone)
	c.addNumbers("share_node", nodes)
	c.addNumbers("share_thread", threads)
	addAmounts(c, "share_a", shares, func(s *compare.ThreadShare) float64 { return s.SelfA })
	addAmounts(c, "share_b", shares, func(s *compare.ThreadShare) float64 { return s.SelfB })
}

// binary is the length of the header in four bytes, the header in JSON, and the columns; of no
// profile nothing.
func (c *callColumns) binary() ([]byte, error) {
	if c == nil {
		return nil, nil
	}
	e := &encoder{}
	if err := e.value(c); err != nil {
		return nil, err
	}
	header := e.out.Bytes()
	for len(header)%columnAlign != 0 {
		header = append(header, ' ')
	}
	text := binary.LittleEndian.AppendUint32(nil, uint32(len(header)))
	return append(append(text, header...), c.bytes...), nil
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
