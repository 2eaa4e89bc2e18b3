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

	latencies, length int32 // its buckets lie there in those of counts, up to the last one that counts
}

// counts are rows and their buckets, in pieces that never move: the recording's tables go on to
// point into them. Most calls are of up to 16 µs, and of one thread: all forty buckets of each row
// took three quarters of the memory.
type counts struct {
	places  map[row]int32
	pieces  [][]counted
	buckets [][]int64
}

const (
	pieceRows    = 512
	pieceBuckets = 8192 // whole pieces: a row lies in one
)

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

// bucketsOf are those of a row.
func (c *counts) bucketsOf(of *counted) []int64 {
	if of.length == 0 {
		return nil
	}
	at := int(of.latencies % pieceBuckets)
	return c.buckets[of.latencies/pieceBuckets][at : at+int(of.length) : at+int(of.length)]
}

// lengthen makes room for more buckets of a row.
func (c *counts) lengthen(of *counted, length int) {
	last := len(c.buckets) - 1
	if last < 0 || len(c.buckets[last])+length > pieceBuckets {
		c.buckets = append(c.buckets, make([]int64, 0, pieceBuckets))
		last++
	}
	at, before := len(c.buckets[last]), c.bucketsOf(of)
	c.buckets[last] = c.buckets[last][:at+length]
	copy(c.buckets[last][at:], before)
	of.latencies, of.length = int32(last*pieceBuckets+at), int32(length)
}

// add adds what one CPU counted for a row.
func (c *counts) add(key row, part *syscallsCallTotal) {
	of := c.of(key)
	of.bytes += int64(part.Bytes)
	of.totalNs += int64(part.TotalNs)
	of.quickNs += int64(part.QuickNs)
	of.count += int64(part.Count)
	of.errors += int64(part.Errors)
	length := len(part.Buckets)
	for length > 0 && part.Buckets[length-1] == 0 {
		length--
	}
	if length > int(of.length) {
		c.lengthen(of, length)
	}
	buckets := c.bucketsOf(of)
	for i, count := range part.Buckets[:length] {
		buckets[i] += int64(count)
	}
}

func (s *Session) collectCounts(window *bpf.Window) error {
	rows := counts{places: map[row]int32{}}
	err := bpf.Drain(s.collection.Maps["calls"], func(key syscallsCallKey, total *syscallsCallTotal) {
		rows.add(row{key.Tgid, key.Tid, key.Call}, total)
	})
	if err != nil {
		return fmt.Errorf("read calls: %w", err)
	}
	err = drainSlots(s.collection.Maps["slots"], func(slot *syscallsCallSlot) {
		rows.add(row{slot.Tgid, slot.Tid, slot.Call}, &slot.Total)
	})
	if err != nil {
		return fmt.Errorf("read calls: %w", err)
	}
	table := slices.Grow(window.Recording.Syscalls, len(rows.places))
	for _, piece := range rows.pieces {
		for i := range piece {
			table = append(table, piece[i].made(window, rows.bucketsOf(&piece[i])))
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

func (c *counted) made(window *bpf.Window, buckets []int64) recording.Syscall {
	c.estimate(buckets)
	made := recording.Syscall{Pid: int32(c.tgid), Tid: int32(c.tid), Comm: window.Comm[int32(c.tgid)],
		Name: Name(c.call), Count: c.count, Errors: c.errors, TotalNs: c.totalNs, Buckets: buckets}
	if transfers[made.Name] { // else the result is a descriptor, an address or a count of something else
		made.Bytes = c.bytes
	}
	return made
}

// estimate gives the calls that were not timed the distribution of those of the same row that were
// timed and quick: only quick calls go untimed, and at random. With n timed calls whose times have
// the coefficient of variation v the mean is uncertain by v/√n.
func (c *counted) estimate(buckets []int64) {
	var timed, quick int64
	for i, count := range buckets {
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
	for i, count := range buckets[:min(quickLog, len(buckets))] {
		seen += count
		until := int64(float64(seen)*share + 0.5)
		buckets[i] += until - given
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
