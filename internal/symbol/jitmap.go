package symbol

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	maxJITLines = 2 << 20
	maxJITBytes = 512 << 20
)

// JITMap reads the map that a runtime writes for perf, /tmp/perf-PID.map: lines
// of start and size, both hexadecimal, and name
// (https://github.com/torvalds/linux/blob/master/tools/perf/Documentation/jit-interface.txt).
// Memory is used again for newer code, so a later line wins over an earlier one.
// Lines that cannot be read (one may be half-written) are left out and counted.
func JITMap(r io.Reader) (table *Table, skipped int, err error) {
	var entries []jitEntry
	builder := &tableBuilder{}
	lines := bufio.NewReaderSize(io.LimitReader(r, maxJITBytes), 1<<16)
	for len(entries) < maxJITLines {
		line, cut, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, skipped, fmt.Errorf("read JIT map: %w", err)
		}
		entry, ok := parseJITLine(line)
		entry.name = builder.keep(entry.name)
		for cut && err == nil { // the rest of a line longer than the buffer
			_, cut, err = lines.ReadLine()
		}
		if !ok {
			skipped++
			continue
		}
		entry.order = len(entries)
		entries = append(entries, entry)
	}
	if len(entries) == 0 {
		return nil, skipped, fmt.Errorf("read JIT map: %w", ErrNoSymbols)
	}
	for _, entry := range newest(entries) {
		builder.add(entry.symbolEntry)
	}
	return builder.table(), skipped + builder.dropped, nil
}

type jitEntry struct {
	symbolEntry
	order int // of its line
}

func (e jitEntry) endAddress() uint64 { return e.start + e.size }

func parseJITLine(line []byte) (entry jitEntry, ok bool) {
	start, rest, _ := bytes.Cut(line, []byte{' '})
	size, name, _ := bytes.Cut(rest, []byte{' '})
	entry.start, ok = parseHex(bytes.TrimPrefix(start, []byte("0x")))
	if !ok {
		return entry, false
	}
	entry.size, ok = parseHex(bytes.TrimPrefix(size, []byte("0x")))
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	if !ok || len(name) == 0 || entry.size == 0 || entry.start+entry.size < entry.start {
		return entry, false
	}
	entry.name = name
	return entry, true
}

// newest leaves out every entry whose start was overwritten by a later one.
func newest(entries []jitEntry) []jitEntry {
	slices.SortFunc(entries, func(x, y jitEntry) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.order, x.order))
	})
	kept := entries[:0]
	var around latest
	for _, entry := range entries {
		for len(around) > 0 && around[0].endAddress() <= entry.start {
			heap.Pop(&around)
		}
		if len(around) == 0 || around[0].order < entry.order {
			kept = append(kept, entry)
		}
		heap.Push(&around, entry)
	}
	return kept
}

// latest is a heap with the entry of the latest line on top.
type latest []jitEntry

func (l latest) Len() int           { return len(l) }
func (l latest) Less(i, j int) bool { return l[i].order > l[j].order }
func (l latest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *latest) Push(entry any)    { *l = append(*l, entry.(jitEntry)) }
func (l *latest) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
