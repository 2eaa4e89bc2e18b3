package syscalls

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// quickLog is QUICK_LOG of syscalls.bpf.c: only calls below 2^quickLog ns go untimed.
const quickLog = 13

// thread and call are what a row is about.
type row struct {
	tgid, tid uint32
	call      int32
}

// counted is what all CPUs together counted for one row. It has no pointers: a busy host makes
// fifty thousand rows in a part of a recording, which the garbage collector is not to go through
// again and again while that is written.
type counted struct {
	row
	bytes, totalNs, quickNs, count, errors int64
	buckets                                [len(syscallsCallTotal{}.Buckets)]int64
}

// counts are rows, in pieces that never move: the recording's tables go on to point into them.
type counts struct {
	places map[row]int32
	pieces [][]counted
}

const pieceRows = 512

// of finds or makes a row.
func (c *counts) of(key row) *counted {
	place, known := c.places[key]
	if !known {
		place = int32(len(c.places))
		c.places[key] = place
		if place%pieceRows == 0 {
			c.pieces = append(c.pieces, make([]counted, 0, pieceRows))
		}
		last := len(c.pieces) - 1
		c.pieces[last] = append(c.pieces[last], counted{row: key})
	}
	return &c.pieces[place/pieceRows][place%pieceRows]
}

func (s *Session) collectCounts(window *bpf.Window) error {
	rows := counts{places: map[row]int32{}}
	err := bpf.Drain(s.collection.Maps["calls"], func(key syscallsCallKey, total *syscallsCallTotal) {
		rows.of(row{key.Tgid, key.Tid, key.Call}).add(total)
	})
	if err != nil {
		return fmt.Errorf("read calls: %w", err)
	}
	err = drainSlots(s.collection.Maps["slots"], func(slot *syscallsCallSlot) {
		rows.of(row{slot.Tgid, slot.Tid, slot.Call}).add(&slot.Total)
	})
	if err != nil {
		return fmt.Errorf("read calls: %w", err)
	}
	table := slices.Grow(window.Recording.Syscalls, len(rows.places))
	for _, piece := range rows.pieces {
		for i := range piece {
			table = append(table, piece[i].made(window))
		}
	}
	slices.SortFunc(table, func(a, b recording.Syscall) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Tid, b.Tid),
			cmp.Compare(a.Name, b.Name))
	})
	if over := len(table) - recording.MaxSyscalls; over > 0 {
		window.Lose("syscalls: rows over the limit of a recording", int64(over))
		table = table[:recording.MaxSyscalls]
	}
	window.Recording.Syscalls = table
	return nil
}

// slotBatch is how many slots are read with one system call: of every CPU.
const slotBatch = 128

// drainSlots takes everything out of the tables of the CPUs, to which nobody writes any more.
func drainSlots(slots *ebpf.Map, each func(*syscallsCallSlot)) error {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return fmt.Errorf("count CPUs: %w", err)
	}
	keys, values := make([]uint32, slotBatch), make([]syscallsCallSlot, slotBatch*cpus)
	empty := make([]syscallsCallSlot, slotBatch*cpus)
	var cursor ebpf.MapBatchCursor
	for {
		n, err := slots.BatchLookup(&cursor, keys, values, nil)
		for i := range values[:n*cpus] {
			if values[i].Tid != 0 {
				each(&values[i])
			}
		}
		if n > 0 {
			if _, err := slots.BatchUpdate(keys[:n], empty[:n*cpus], nil); err != nil {
				return fmt.Errorf("clear calls: %w", err)
			}
		}
		if errors.Is(err, ebpf.ErrKeyNotExist) { // that was the last batch
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *counted) add(part *syscallsCallTotal) {
	c.bytes += int64(part.Bytes)
	c.totalNs += int64(part.TotalNs)
	c.quickNs += int64(part.QuickNs)
	c.count += int64(part.Count)
	c.errors += int64(part.Errors)
	for i, count := range part.Buckets {
		c.buckets[i] += int64(count)
	}
}

func (c *counted) made(window *bpf.Window) recording.Syscall {
	c.estimate()
	made := recording.Syscall{Pid: int32(c.tgid), Tid: int32(c.tid), Comm: window.Comm[int32(c.tgid)],
		Name: Name(c.call), Count: c.count, Errors: c.errors, TotalNs: c.totalNs, Buckets: c.buckets[:]}
	if transfers[made.Name] { // else the result is a descriptor, an address or a count of something else
		made.Bytes = c.bytes
	}
	return made
}

// estimate gives the calls that were not timed the distribution of those of the same row that were
// timed and quick: only quick calls go untimed, and at random. With n timed calls whose times have
// the coefficient of variation v the mean is uncertain by v/√n.
func (c *counted) estimate() {
	var timed, quick int64
	for i, count := range c.buckets {
		timed += count
		if i < quickLog {
			quick += count
		}
	}
	untimed := c.count - timed
	if untimed <= 0 || quick == 0 {
		return
	}
	c.totalNs += int64(float64(untimed) * float64(c.quickNs) / float64(quick))
	share := float64(untimed) / float64(quick)
	var seen, given int64
	for i, count := range c.buckets[:quickLog] {
		seen += count
		until := int64(float64(seen)*share + 0.5)
		c.buckets[i] += until - given
		given = until
	}
}

func (s *Session) collectErrors(window *bpf.Window) error {
	var table []recording.SyscallError
	err := bpf.Drain(s.collection.Maps["errors"], func(key syscallsErrorKey, count *uint64) {
		table = append(table, recording.SyscallError{Pid: int32(key.Tgid), Name: Name(key.Call),
			Errno: errnoName(key.Error), Count: int64(*count)})
	})
	if err != nil {
		return fmt.Errorf("read errors: %w", err)
	}
	slices.SortFunc(table, func(a, b recording.SyscallError) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Errno, b.Errno))
	})
	window.Recording.Errors = append(window.Recording.Errors, table...)
	return nil
}
