package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"culprit/recording"
)

// Limits of a .cpuprofile: what is decoded stays in memory until the end, as times come after what
// they are of.
const (
	maxProfileNodes   = 1 << 20
	maxProfileSamples = 16 << 20
	maxProfileBytes   = 1 << 30
	maxProfileSteps   = 200 << 20 // from nodes up to the root, all together
)

// cpuProfileReader reads profiles of V8 as Node (--cpu-prof), Chrome, Deno and Bun write them
// (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile).
type cpuProfileReader struct {
	names  *names
	rows   *rows
	lost   int64 // samples beyond the limit
	back   int64 // samples whose time goes back
	idleNs int64
	wallNs int64
	offset int64 // of the file that is read: profiles come one after the other
}

func newCPUProfile() *cpuProfileReader {
	return &cpuProfileReader{names: newNames(), rows: newRows()}
}

// looksLikeCPUProfile tells an object with nodes of V8.
func looksLikeCPUProfile(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && head[0] == '{' &&
		(bytes.Contains(head, []byte(`"callFrame"`)) || bytes.Contains(head, []byte(`"hitCount"`)))
}

func (c *cpuProfileReader) read(_ string, input *bufio.Reader) error {
	bounded := &io.LimitedReader{R: input, N: maxProfileBytes}
	profile, err := decodeV8(json.NewDecoder(bounded))
	switch {
	case bounded.N <= 0:
		return fmt.Errorf("over %d GiB, more than is read; record a shorter time", maxProfileBytes>>30)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the profile is cut off")
	case err != nil:
		return fmt.Errorf("damaged profile: %w", err)
	case len(profile.nodes) == 0:
		return errors.New("the profile has no nodes")
	}
	stacks, err := c.stacks(profile.nodes)
	if err != nil {
		return err
	}
	c.lost += profile.lost
	if !(profile.end >= profile.start) || profile.end-profile.start > maxAmount/1e3 {
		return errors.New("damaged profile: it ends before it begins")
	}
	lengthNs := int64((profile.end - profile.start) * 1e3)
	if len(profile.samples) > 0 {
		lengthNs = max(lengthNs, c.timed(profile, stacks, lengthNs))
	} else if err := c.counted(profile, stacks, lengthNs); err != nil {
		return err
	}
	c.wallNs, c.offset = addAmounts(c.wallNs, lengthNs), addAmounts(c.offset, lengthNs)
	return nil
}

// v8Stack is where a node's time goes.
type v8Stack struct {
	stack int32
	idle  bool
}

// stacks gives each node its stack.
func (c *cpuProfileReader) stacks(nodes []v8Node) (map[int64]v8Stack, error) {
	parent, at := map[int64]int64{}, make(map[int64]int, len(nodes))
	for i := range nodes {
		node := &nodes[i]
		if _, twice := at[node.ID]; twice {
			return nil, fmt.Errorf("damaged profile: two nodes have the number %d", node.ID)
		}
		at[node.ID] = i
		if node.Parent != 0 {
			parent[node.ID] = node.Parent
		}
		for _, child := range node.Children {
			parent[child] = node.ID
		}
	}
	frames := make([]int32, len(nodes))
	for i := range nodes {
		frames[i] = c.frame(&nodes[i])
	}
	stacks := make(map[int64]v8Stack, len(nodes))
	var path []int32
	left := maxProfileSteps
	for i := range nodes {
		path = path[:0]
		for id, steps := nodes[i].ID, 0; ; steps++ {
			place, known := at[id]
			if left--; !known || steps > len(nodes) || left < 0 {
				return nil, errors.New("damaged profile: its nodes are no tree of a usual depth")
			}
			if name := nodes[place].CallFrame.FunctionName; name != "(root)" && len(path) < maxScratch {
				path = append(path, frames[place])
			}
			above, has := parent[id]
			if !has {
				break
			}
			if id = above; len(path) >= maxScratch {
				break
			}
		}
		for a, b := 0, len(path)-1; a < b; a, b = a+1, b-1 {
			path[a], path[b] = path[b], path[a]
		}
		stacks[nodes[i].ID] = v8Stack{c.names.stack(path), nodes[i].CallFrame.FunctionName == "(idle)"}
	}
	return stacks, nil
}

func (c *cpuProfileReader) frame(node *v8Node) int32 {
	call := &node.CallFrame
	frame := recording.Frame{Name: call.FunctionName, Kind: recording.KindNode,
		File: strings.TrimPrefix(call.URL, "file://")}
	if frame.Name == "" {
		frame.Name = "(anonymous)"
	}
	if line := call.LineNumber + 1; line > 0 && line < math.MaxInt32 {
		frame.Line = int32(line)
	}
	if call.URL == "" && strings.HasPrefix(frame.Name, "(") { // (program), (garbage collector): V8's own
		frame.Kind = recording.KindNative
	}
	return c.names.frame(frame)
}

// timed takes samples with their times: each lasts until the next one.
func (c *cpuProfileReader) timed(p *v8Profile, stacks map[int64]v8Stack, lengthNs int64) (endNs int64) {
	at := int64(0)
	for i, id := range p.samples {
		if i < len(p.deltas) {
			if p.deltas[i] < 0 {
				c.back++
			}
			at = addAmounts(at, max(0, min(p.deltas[i], maxAmount/1e3))*1e3)
		}
		long := max(0, lengthNs-at)
		if i+1 < len(p.samples) {
			long = 0
			if i+1 < len(p.deltas) {
				long = max(0, min(p.deltas[i+1], maxAmount/1e3)) * 1e3
			}
		}
		c.add(stacks, id, at, 1, long)
		endNs = max(endNs, min(addAmounts(at, long), maxAmount))
	}
	return endNs
}

// counted takes nodes with how often each was hit, where there are no samples.
func (c *cpuProfileReader) counted(p *v8Profile, stacks map[int64]v8Stack, lengthNs int64) error {
	total := 0.0
	for i := range p.nodes {
		total += max(0, min(p.nodes[i].HitCount, maxAmount))
	}
	if total <= 0 {
		return errors.New("the profile has no samples")
	}
	for i := range p.nodes {
		hits := max(0, min(p.nodes[i].HitCount, maxAmount))
		if hits > 0 {
			c.add(stacks, p.nodes[i].ID, 0, int64(hits), int64(hits/total*float64(lengthNs)))
		}
	}
	return nil
}

func (c *cpuProfileReader) add(stacks map[int64]v8Stack, id, at, count, ns int64) {
	where, known := stacks[id]
	switch {
	case !known:
		c.lost++
		return
	case where.idle:
		c.idleNs = addAmounts(c.idleNs, ns)
		return
	}
	at = min(addAmounts(c.offset, at), maxAmount)
	c.rows.seen(at)
	c.rows.add(rowKey{stack: where.stack, signal: c.names.text([]byte(recording.SignalCPU))}, at, count, ns)
}

func (c *cpuProfileReader) finish() (*recording.Recording, error) {
	rec := weighed(c.rows, c.names)
	lose(rec, "samples beyond the limit, or of no node", c.lost)
	lose(rec, "samples whose time goes back", c.back)
	m := &rec.Manifest
	m.Metrics = map[string]float64{"cpu": cpuSeconds(rec)}
	setWindow(rec, c.rows, 0)
	m.WindowNs = clampAmount(c.wallNs)
	m.Metrics["wall"] = float64(m.WindowNs) / 1e9
	m.BlindSpots = append(lacks("imported from a profile of V8: one thread of JavaScript, no waits one by one, no system "+
		"calls, no settings; native code stands as (program)"), m.BlindSpots...)
	return rec, nil
}
