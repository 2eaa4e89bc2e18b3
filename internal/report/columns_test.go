package report

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// unpacked reads columns as the page does.
func unpacked(t *testing.T, text []byte) (header callColumns, numbers map[string][]float64) {
	t.Helper()
	length := binary.LittleEndian.Uint32(text)
	if length%4 != 0 {
		t.Fatalf("the header has %d bytes: no column behind it lies where a number may", length)
	}
	if err := json.Unmarshal(text[4:4+length], &header); err != nil {
		t.Fatal(err)
	}
	numbers = map[string][]float64{}
	rest := text[4+length:]
	for _, c := range header.Columns {
		size := map[string]int{"u8": 1, "u16": 2, "u32": 4, "f32": 4}[c.Type]
		if size == 0 || len(rest) < size*c.Count {
			t.Fatalf("%+v in %d bytes", c, len(rest))
		}
		for i := range c.Count {
			at := rest[i*size:]
			numbers[c.Name] = append(numbers[c.Name], map[string]func() float64{
				"u8":  func() float64 { return float64(at[0]) },
				"u16": func() float64 { return float64(binary.LittleEndian.Uint16(at)) },
				"u32": func() float64 { return float64(binary.LittleEndian.Uint32(at)) },
				"f32": func() float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(at))) },
			}[c.Type]())
		}
		rest = rest[(size*c.Count+3)/4*4:]
	}
	if len(rest) != 0 {
		t.Errorf("%d bytes are left over", len(rest))
	}
	return header, numbers
}

// The page gets what the profile holds; what is not finite, or names nothing, does no harm.
func TestColumnsHoldTheProfile(t *testing.T) {
	profile := &compare.Profile{
		Nodes: []compare.ProfileNode{{Name: "all", Kind: recording.KindOther},
			{Name: "main", Kind: recording.KindNative, Depth: 1, SelfA: 0.25, SelfB: 0.5, Change: 2, Low: 1.5, High: 3,
				Decided: true},
			{Name: "main", Kind: recording.KindNative, Depth: 9, SelfA: math.Inf(1), Change: math.NaN()}},
		Threads: []compare.ProfileThread{{Process: "p", Name: "a"}, {Process: "p", Name: "b"}},
		ByThread: []compare.ThreadShare{{Node: 2, Thread: 1, SelfA: 8}, {Node: 1, Thread: 0, SelfA: 0.125, SelfB: 0.5},
			{Node: 1, Thread: 1, SelfA: 0.125}, {Node: 7, Thread: 0}, {Node: 2, Thread: -1}},
	}
	text, err := columnsOf(profile).binary()
	if err != nil {
		t.Fatal(err)
	}
	header, numbers := unpacked(t, text)
	if !slices.Equal(header.Names, []string{"all", "main"}) || len(header.Threads) != 2 {
		t.Errorf("names %q, threads %v", header.Names, header.Threads)
	}
	for name, want := range map[string][]float64{"name": {0, 1, 1}, "depth": {0, 1, 2}, "decided": {0, 1, 0},
		"below": {0, 0.5, math.NaN()}, "above": {0, 1, math.NaN()}, "self_a": {0, 0.25, math.NaN()},
		"share_node": {1, 1}, "share_thread": {0, 1}, "share_a": {0.125, 0.125}, "share_b": {0.5, 0}} {
		same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
		if !slices.EqualFunc(numbers[name], want, same) {
			t.Errorf("%s is %v, want %v", name, numbers[name], want)
		}
	}
	if numbers["thread"][1] != 0 {
		t.Errorf("main has two threads, and is told to have %v", numbers["thread"][1])
	}
	if text, err := columnsOf(nil).binary(); text != nil || err != nil {
		t.Errorf("without a profile: %q, %v", text, err)
	}
	wide := &compare.Profile{}
	for i := range 70_000 {
		wide.Nodes = append(wide.Nodes, compare.ProfileNode{Name: string(rune('a' + i%20000)), Depth: min(i, 300)})
	}
	text, _ = columnsOf(wide).binary()
	if _, numbers := unpacked(t, text); numbers["depth"][69_999] != 300 || numbers["name"][19_999] != 19_999 {
		t.Errorf("a wide tree: depth %v, name %v", numbers["depth"][69_999], numbers["name"][19_999])
	}
}
