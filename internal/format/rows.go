package format

import (
	"fmt"
	"math"
	"strings"
	"time"

	"culprit/recording"
)

const (
	maxRows      = 512 << 10
	firstSliceNs = 100e6
	// The coarsest slice: beyond it nothing more is gained by adding up, only rows of other stacks
	// are left.
	lastSliceNs = 1 << 46 // about 20 hours
	// maxAmount bounds every number of the input, so that sums cannot overflow.
	maxAmount = 1e15
)

// rowKey is what samples are added up by.
type rowKey struct {
	slice               int64 // time over the length of a slice
	pid, tid, cpu       int32
	stack, comm, signal int32
}

// fillThread takes the one for the other where a sample names only its process or only its thread.
func (k *rowKey) fillThread() {
	switch {
	case k.tid == 0:
		k.tid = k.pid
	case k.pid == 0:
		k.pid = k.tid
	}
}

// row is one amount. Its weight is in the event's own unit until it is known what that is worth.
type row struct {
	rowKey
	count, weight int64
}

// rows adds samples up over slices of time, within a number of rows: when they
// are full, the CPU is forgotten, and then slices become twice as long. Rows keep
// the order of the input.
type rows struct {
	index   map[rowKey]int32
	list    []row
	limit   int
	sliceNs int64
	firstNs int64 // of all times seen
	lastNs  int64
	timed   bool
	noCPU   bool // on which CPU a sample was is no longer kept
	lost    int64
}

func newRows() *rows {
	return &rows{index: map[rowKey]int32{}, limit: maxRows, sliceNs: firstSliceNs}
}

// seen widens the window by a moment.
func (r *rows) seen(timeNs int64) {
	if !r.timed {
		r.timed, r.firstNs, r.lastNs = true, timeNs, timeNs
	}
	r.firstNs, r.lastNs = min(r.firstNs, timeNs), max(r.lastNs, timeNs)
}

// add counts a sample; key.slice is filled in here.
func (r *rows) add(key rowKey, timeNs, count, weight int64) {
	count, weight = clampAmount(count), clampAmount(weight)
	for {
		key.slice = timeNs / r.sliceNs
		if r.noCPU {
			key.cpu = 0
		}
		if at, ok := r.index[key]; ok {
			r.list[at].count = addAmounts(r.list[at].count, count)
			r.list[at].weight = addAmounts(r.list[at].weight, weight)
			return
		}
		if len(r.list) < r.limit {
			r.index[key] = int32(len(r.list))
			r.list = append(r.list, row{key, count, weight})
			return
		}
		if !r.coarsen() {
			r.lost++
			return
		}
	}
}

// coarsen makes room: a quarter of the rows, or what there is to gain.
func (r *rows) coarsen() bool {
	if !r.noCPU {
		r.noCPU = true
		r.merge(func(key *rowKey) { key.cpu = 0 })
	}
	for len(r.list) > r.limit/4*3 && r.sliceNs < lastSliceNs {
		r.sliceNs *= 2
		r.merge(func(key *rowKey) { key.slice >>= 1 })
	}
	return len(r.list) < r.limit
}

// merge changes all keys and adds up the rows that are equal then.
func (r *rows) merge(change func(*rowKey)) {
	old := r.list
	clear(r.index)
	r.list = old[:0] // never ahead of what is read
	for _, one := range old {
		change(&one.rowKey)
		if at, ok := r.index[one.rowKey]; ok {
			r.list[at].count = addAmounts(r.list[at].count, one.count)
			r.list[at].weight = addAmounts(r.list[at].weight, one.weight)
			continue
		}
		r.index[one.rowKey] = int32(len(r.list))
		r.list = append(r.list, one)
	}
}

func clampAmount(amount int64) int64 { return max(0, min(amount, maxAmount)) }

func addAmounts(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// into makes the rows samples. worth turns a row's count and weight into nanoseconds.
func (r *rows) into(rec *recording.Recording, texts []string, worth func(row) int64) {
	r.index = nil
	if len(r.list) == 0 {
		return
	}
	rec.Samples = make([]recording.Sample, 0, len(r.list))
	for _, one := range r.list {
		comm := texts[one.comm]
		rec.Samples = append(rec.Samples, recording.Sample{
			Signal: texts[one.signal], TimeNs: max(0, one.slice*r.sliceNs-r.firstNs), Pid: one.pid, Tid: one.tid,
			CPU: one.cpu, Stack: one.stack, Count: one.count, ValueNs: clampAmount(worth(one)),
			Target: !isIdle(one.pid, comm), Comm: comm})
	}
	r.list = nil
	rec.Manifest.SliceNs = r.sliceNs
	if r.noCPU {
		rec.Manifest.BlindSpots = append(rec.Manifest.BlindSpots, lacks(fmt.Sprintf(
			"more different samples than are kept: times are added up over %v, and on which CPU they "+
				"ran is not kept", time.Duration(r.sliceNs)))...)
	}
	lose(rec, "samples beyond the limit", r.lost)
}

// weighed makes a recording of rows whose weights are nanoseconds.
func weighed(r *rows, n *names) *recording.Recording {
	rec := &recording.Recording{}
	r.into(rec, n.texts, func(r row) int64 { return r.weight })
	n.into(rec)
	inOrder(rec)
	return rec
}

// isIdle tells the kernel's idle loop, which no program is.
func isIdle(pid int32, comm string) bool { return pid == 0 && strings.HasPrefix(comm, "swapper") }

// cpuSeconds is the CPU time of the target's samples.
func cpuSeconds(rec *recording.Recording) float64 {
	var total int64
	for i := range rec.Samples {
		if sample := &rec.Samples[i]; sample.Signal == recording.SignalCPU && sample.Target {
			total = addAmounts(total, sample.ValueNs)
		}
	}
	return float64(total) / 1e9
}

// inOrder numbers stacks and frames by where they first stand in the tables, so
// that a recording does not depend on which goroutine was first, and drops those
// that nothing refers to.
func inOrder(rec *recording.Recording) {
	stacks, frames := newNumbers(len(rec.Stacks)), newNumbers(len(rec.Frames))
	for i := range rec.Samples {
		rec.Samples[i].Stack = stacks.of(rec.Samples[i].Stack)
	}
	for i := range rec.Waits {
		rec.Waits[i].Stack = stacks.of(rec.Waits[i].Stack)
		rec.Waits[i].WakerStack = stacks.of(rec.Waits[i].WakerStack)
	}
	for i := range rec.Slow {
		rec.Slow[i].Stack = stacks.of(rec.Slow[i].Stack)
		rec.Slow[i].WakerStack = stacks.of(rec.Slow[i].WakerStack)
		rec.Slow[i].HopStack = stacks.of(rec.Slow[i].HopStack)
	}
	kept := make([]recording.Stack, len(stacks.old))
	for now, old := range stacks.old {
		kept[now] = rec.Stacks[old]
		for i, frame := range kept[now].Frames {
			kept[now].Frames[i] = frames.of(frame)
		}
	}
	named := make([]recording.Frame, len(frames.old))
	for now, old := range frames.old {
		named[now] = rec.Frames[old]
	}
	rec.Stacks, rec.Frames = kept, named
}

// numbers gives old numbers new ones in the order in which they are asked for.
type numbers struct {
	now []int32 // by old number, plus one; 0: not asked for yet
	old []int32
}

func newNumbers(count int) *numbers { return &numbers{now: make([]int32, count)} }

func (n *numbers) of(old int32) int32 {
	if old < 0 {
		return old
	}
	if n.now[old] == 0 {
		n.old = append(n.old, old)
		n.now[old] = int32(len(n.old))
	}
	return n.now[old] - 1
}
