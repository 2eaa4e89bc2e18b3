package cause

import (
	"maps"
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
)

// deviceWaits are kernel functions that wait for a block device, whoever asked.
var deviceWaits = []string{"io_schedule", "folio_wait_bit_common", "folio_wait_writeback", "submit_bio_wait",
	"__iomap_dio_rw", "blkdev_direct_IO", "__blkdev_direct_IO", "dio_await_completion", "wait_on_bit_io",
	"__wait_on_buffer",
	"jbd2_log_wait_commit", "blkdev_issue_flush", "rq_qos_wait", "wbt_wait", "blk_mq_get_tag", "blk_throttle",
	"blk_throtl", "throtl_", "swap_read"}

// hostWaits are kernel functions below which a wait for a device is the memory limit's or the
// flusher's doing.
var hostWaits = []string{"balance_dirty_pages", "try_to_free_mem_cgroup_pages", "try_to_free_pages",
	"shrink_folio_list", "reclaim_throttle"}

// waitsForDevice reports whether a path is blocked until a block device has answered.
func (s *scene) waitsForDevice(i int) bool {
	path := &s.paths[i]
	return path.Kind == compare.Blocked && !code.InKernel(path.Frames, hostWaits...) &&
		code.InKernel(path.Frames, deviceWaits...)
}

const (
	// A device is slower when each request takes so many times as long, at no more than so many
	// times as many.
	timesLatency  = 1.5
	moreRequests  = 1.5
	fewestRequest = 5
	fewestOwn     = 20
)

// addLatency tells the mean time of one block request where the dearer side made one.
func (s *scene) addLatency(c *claim, text string) {
	requests, seconds := s.countOf(counts.Block), s.countOf(counts.BlockSeconds)
	if seconds.b > 0 {
		c.add("block", text, seconds.each(requests).times(1e3), "ms")
	}
}

// slower reports whether the devices answered requests of these operations more slowly, and that
// not because there were more of them. How many others there are says nothing of these: reads by
// somebody else, for as long as the dearer side runs, make no slower write the program's doing.
func (s *scene) slower(operations ...string) bool {
	var count sides
	for _, operation := range operations {
		count = count.plus(s.countOf(counts.Block + "." + operation))
	}
	return min(count.a, count.b) >= fewestRequest && count.b <= moreRequests*count.a &&
		s.slowdown(operations...) >= timesLatency
}

// slowdown is how many times as long the dearer side's requests took as they would have at the
// other side's speed. Each operation is held against its own: more of the quick ones (flushes that
// have nothing to do) must not hide slower writes. Zero where no operation was seen on both sides.
func (s *scene) slowdown(operations ...string) float64 {
	expected, observed := 0.0, 0.0
	for _, operation := range operations {
		count, seconds := s.countOf(counts.Block+"."+operation), s.countOf(counts.BlockSeconds+"."+operation)
		if count.a > 0 && count.b > 0 {
			expected += count.b * seconds.a / count.a
			observed += seconds.b
		}
	}
	if expected <= 0 {
		return 0
	}
	return observed / expected
}

// findThrottledDisk claims waits for a device under a limit of I/O that the other side does not
// have, or that holds back the dearer side alone. A throttled request waits before the device sees
// it: the device's own latency stays as it was.
func findThrottledDisk(s *scene) []finding {
	limit, held := s.ioLimit(), s.heldBack()
	if limit.Name == "" && !held {
		return nil
	}
	count, busy := s.countOf(counts.Block), s.countOf(counts.BlockSeconds).more() > majority*s.growth
	if !held && !s.oneSided && count.a > 0 && count.b > 0 && busy {
		return nil // the device was busy for that long: it was not held back
	}
	return []finding{{cause: DiskThrottled, match: s.waitsForDevice,
		stands: func(c *claim) string {
			if !held && s.mostlyOftener(c) {
				return "the program asks more often, and each time waits as long as before: no limit did that"
			}
			return ""
		},
		tell: func(c *claim) { s.tellThrottledDisk(c, limit) }}}
}

func (s *scene) tellThrottledDisk(c *claim, limit Place) {
	s.locateWait(c)
	c.at(limit)
	if limit.Name != "" {
		c.note("facts", "limit of I/O: "+limit.String())
	}
	for _, group := range s.keys(counts.HeldBack) {
		c.at(Place{Kind: InCgroup, Name: group})
		c.add("block", "pieces of I/O that a limit of cgroup "+group+" held back", s.count(counts.HeldBack, group),
			"pieces/run")
		c.add("block", "slept for them, all threads", s.count(counts.HeldSeconds, group), "s/run")
	}
	s.addLatency(c, "time of one request in the device")
}

// heldBack reports whether a limit of I/O was seen to hold back the dearer side alone, for at least
// half of what it takes longer. Where both sides are held back, the one that asks for more waits
// longer: no limit did that.
func (s *scene) heldBack() bool {
	pieces, slept := s.countOf(counts.HeldBack), s.countOf(counts.HeldSeconds)
	return pieces.b > 0 && pieces.a <= hardly*pieces.b && slept.more() >= majority*s.growth && !s.sameIOLimit()
}

// mostlyOftener reports whether the system call that a claim's time grew most in is called more
// often rather than dearer.
func (s *scene) mostlyOftener(c *claim) bool {
	calls := s.callsOf(c)
	if len(calls) == 0 || s.oneSided {
		return false
	}
	a, b := s.seconds(c)
	split := s.splitCalls(calls[0], a, b)
	return split != nil && split.A > 0 && split.Often.Value > split.Dearer.Value
}

// ioLimit is a limit of I/O on the dearer side that the other side does not have, nameless without
// one. Limits of the root cgroup hold for everybody and each device: they are no limit of this
// cgroup's, and often on somebody else's disk.
func (s *scene) ioLimit() Place {
	if s.factsB["target.cgroup.path.blkio"] == "/" {
		return Place{}
	}
	for _, name := range slices.Sorted(maps.Keys(s.factsB)) {
		if value := s.factsB[name]; isIOLimit(name, value) && value != s.factsA[name] {
			return Place{Kind: InSetting, Name: name, Value: value}
		}
	}
	return Place{}
}

// sameIOLimit reports whether both sides run under the same limit of I/O: what it holds back then
// follows from what they ask for.
func (s *scene) sameIOLimit() bool {
	for name, value := range s.factsB {
		if isIOLimit(name, value) && value == s.factsA[name] && s.factsB["target.cgroup.path.blkio"] != "/" {
			return true
		}
	}
	return false
}

func isIOLimit(name, value string) bool {
	return strings.HasPrefix(name, "target.cgroup.io.") && !strings.HasSuffix(name, "weight") &&
		!strings.HasSuffix(name, "latency") && value != "" && value != "max" && value != "0"
}

// findSlowDisk claims waits for a device that answers each request later than before.
func findSlowDisk(s *scene) []finding {
	if s.oneSided {
		return nil
	}
	// What forces data to the medium waits for writes and the flushes behind them.
	writes, reads := s.slower("write", "flush"), s.slower("read")
	// What the program did not read before has no speed to be compared with: others' requests had
	// another size.
	oftener := s.countOf(counts.OwnReads).grew(manyTimes, fewestOwn)
	if !writes && (!reads || oftener) {
		return nil
	}
	return []finding{{cause: DiskSlow, tell: s.tellSlowDisk,
		match: func(i int) bool {
			return s.waitsForDevice(i) && (s.traits[i].sync && writes || !s.traits[i].sync && !oftener)
		}}}
}

func (s *scene) tellSlowDisk(c *claim) {
	s.locateWait(c)
	s.atKeys(c, InDevice, counts.BlockSeconds)
	s.addLatency(c, "time of one block request")
	c.add("block", "block requests", s.count(counts.Block, ""), "requests/run")
}

// locateWait names the function of the program that waits most, and the system call where it waits
// in one: a page fault is none, and what the program's own start waited for is not its place.
func (s *scene) locateWait(c *claim) {
	call := first(s.callsOf(c))
	if within, all := s.parted(c, func(i int) bool { return s.traits[i].call == call }); within < notable*all {
		call = ""
	}
	s.locate(c, call)
}
