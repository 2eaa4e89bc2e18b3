package oncpu

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/mapped"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// Processes share what they map of one file with MAP_SHARED: of a file, a memfd, a segment of
// System V, memory without a name that was mapped before a fork. One byte has an address of its own
// in each of them. What the kernel lists of their mappings (device, number of the file, offset) is
// the same in all.

const (
	maxAsked   = 512 // lists of mappings read in one window
	maxObjects = 1024
	maxRanges  = 4096 // of memory that may be shared, of all processes
	maxPath    = 200  // bytes of what a recording tells of one
)

// askedAt are the samples of a process at which its mappings are read: it may map memory later.
var askedAt = [...]uint64{2, 30, 150, 600}

// common is the memory that several processes map.
type common struct {
	taken   *ebpf.Map // samples of each process
	keep    *ebpf.Map // processes whose operands are kept though they have one thread
	asked   map[int32]int
	lists   int
	ranges  map[int32][]commonRange // by address
	count   int
	objects map[string]*object
	kept    map[int32]bool
}

// object is a file that is mapped.
type object struct {
	number int32 // from 1 on
	text   string
	plain  bool // bytes of a file, not of a device: one offset is one byte
	spread bool // mapped more than once
	at     commonRange
}

type commonRange struct {
	pid                int32
	start, end, offset uint64
	of                 *object
}

func newCommon(taken, keep *ebpf.Map) *common {
	return &common{taken: taken, keep: keep, asked: map[int32]int{}, ranges: map[int32][]commonRange{},
		objects: map[string]*object{}, kept: map[int32]bool{}}
}

// look reads the mappings of processes that were sampled, and reports whether more memory is known
// to be shared.
func (c *common) look() (more bool) {
	if c.taken == nil {
		return false
	}
	var due []int32
	err := bpf.Each(c.taken, func(pid uint32, tally *oncpuTally) {
		asked := c.asked[int32(pid)]
		if tally.Target != 0 && asked < len(askedAt) && tally.Samples >= askedAt[asked] && c.lists+len(due) < maxAsked {
			due = append(due, int32(pid))
		}
	})
	if err != nil {
		return false // a window that ends reads the same map, and tells
	}
	for _, pid := range due {
		c.asked[pid]++
		c.lists++
		file, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			continue // it is gone
		}
		more = c.learn(pid, io.LimitReader(file, mapped.MaxBytes), isPlain) || more
		_ = file.Close() // nothing was written to it
	}
	if more {
		c.keepOperands()
	}
	return more
}

// isPlain tells a file from a device, of which each process may have something else at one offset.
func isPlain(pid int32, start, end uint64) bool {
	info, err := os.Stat((&mapped.Mapping{Start: start, End: end}).Place(pid))
	return err == nil && info.Mode().IsRegular()
}

// learn takes the list of a process's mappings instead of what it had before.
func (c *common) learn(pid int32, maps io.Reader, plain func(pid int32, start, end uint64) bool) (more bool) {
	c.count -= len(c.ranges[pid])
	var list []commonRange
	for lines := bufio.NewScanner(maps); lines.Scan() && c.count+len(list) < maxRanges; {
		words := strings.SplitN(lines.Text(), " ", 6)
		if len(words) < 6 || len(words[1]) != 4 || words[1][3] != 's' {
			continue
		}
		raw, _, ok := unwind.ParseMapping(lines.Text())
		if !ok || raw.Length == 0 || raw.Inode == 0 {
			continue
		}
		one := commonRange{pid: pid, start: raw.Vaddr, end: raw.Vaddr + raw.Length, offset: raw.FileOffset}
		one.of = c.object(words[3]+" "+words[4], words[5])
		if one.of == nil {
			continue
		}
		if one.of.at.of == nil { // for the first time
			one.of.plain = plain(pid, one.start, one.end)
			one.of.at = one
		}
		if !one.of.spread && one.of.plain && !one.is(&one.of.at) {
			one.of.spread, more = true, true
		}
		more = more || one.of.spread && c.at(pid, one.start) != one.of
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b commonRange) int { return cmp.Compare(a.start, b.start) })
	c.ranges[pid] = list
	c.count += len(list)
	return more
}

// is reports whether two are one place in one process.
func (r *commonRange) is(other *commonRange) bool {
	return r.pid == other.pid && r.start == other.start
}

// object finds the file by its device and number, nil where there are too many.
func (c *common) object(key, path string) *object {
	known := c.objects[key]
	if known == nil && len(c.objects) < maxObjects {
		path = strings.TrimSuffix(strings.TrimLeft(path, " "), " (deleted)")
		text := strings.ToValidUTF8(key+" "+path, "?")
		if len(text) > maxPath {
			text = strings.ToValidUTF8(text[:maxPath], "")
		}
		known = &object{number: int32(len(c.objects) + 1), text: text}
		c.objects[key] = known
	}
	return known
}

// keepOperands has the operands of processes kept that share memory with others.
func (c *common) keepOperands() {
	for pid, ranges := range c.ranges {
		shares := slices.ContainsFunc(ranges, func(one commonRange) bool { return one.of.spread })
		if shares && !c.kept[pid] && c.keep != nil {
			c.kept[pid] = c.keep.Update(uint32(pid), uint32(1), ebpf.UpdateAny) == nil // else there are too many
		}
	}
}

// forget has no operands kept any more.
func (c *common) forget() {
	for pid := range c.kept {
		_ = c.keep.Delete(uint32(pid)) // it may not be there
	}
}

// find is the range that an address lies in, of memory that is mapped more than once; nil where it
// does not.
func (c *common) find(pid int32, address uint64) *commonRange {
	ranges := c.ranges[pid]
	after, _ := slices.BinarySearchFunc(ranges, address, func(one commonRange, address uint64) int {
		if one.end <= address {
			return -1
		}
		return 1
	})
	if after == len(ranges) || address < ranges[after].start || !ranges[after].of.spread {
		return nil
	}
	return &ranges[after]
}

// at is the shared memory at an address.
func (c *common) at(pid int32, address uint64) *object {
	if found := c.find(pid, address); found != nil {
		return found.of
	}
	return nil
}

// lineOf is the line of an address: the same in all processes that share it.
func (c *common) lineOf(pid int32, address uint64) lineOf {
	found := c.find(pid, address)
	if found == nil {
		return lineOf{pid: pid, line: address &^ (lineBytes - 1)}
	}
	return lineOf{memory: found.of.number, line: (address - found.start + found.offset) &^ (lineBytes - 1)}
}

// tell enters into a row which memory it is of.
func (c *common) tell(row *recording.Line) {
	if found := c.find(row.Pid, row.Line); found != nil {
		row.Memory, row.MemoryOffset = found.of.text, row.Line-found.start+found.offset
	}
}
