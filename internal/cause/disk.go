package cause

import (
	"strings"

	"culprit/internal/compare"
	"culprit/recording"
)

// deviceWaits are kernel functions that wait for a block device, whoever asked.
var deviceWaits = []string{"io_schedule", "folio_wait_bit_common", "folio_wait_writeback", "submit_bio_wait",
	"__iomap_dio_rw", "blkdev_direct_IO", "__blkdev_direct_IO", "dio_await_completion", "wait_on_bit_io",
	"__wait_on_buffer",
	"jbd2_log_wait_commit", "blkdev_issue_flush", "rq_qos_wait", "wbt_wait", "blk_mq_get_tag", "blk_throttle",
	"blk_throtl", "throtl_", "swap_read"}

// hostWaits are kernel functions below which a wait for a device is the memory limit's or the flusher's doing.
var hostWaits = []string{"balance_dirty_pages", "try_to_free_mem_cgroup_pages", "try_to_free_pages",
	"shrink_folio_list", "reclaim_throttle"}

// waitsForDevice reports whether a path is blocked until a block device has answered.
func (s *scene) waitsForDevice(i int) bool {
	path := &s.paths[i]
	if path.Kind != compare.Blocked {
		return false
	}
	for _, frame := range path.Frames {
		if frame.Kind == recording.KindKernel && containsAny(frame.Name, hostWaits) {
			return false
		}
	}
	for _, frame := range path.Frames {
		if frame.Kind == recording.KindKernel && containsAny(frame.Name, deviceWaits) {
			return true
		}
	}
	return false
}

const (
	// A device is slower when each request takes so many times as long, at no more than so many times as many.
	timesLatency  = 1.5
	moreRequests  = 1.5
	fewestRequest = 5
)

// latency is the mean time of one block request on both sides, zero where none was seen.
func (s *scene) latency() (a, b float64) {
	countA, countB := s.count(compare.CountBlock, "")
	secondsA, secondsB := s.count(compare.CountBlockSeconds, "")
	return secondsA / max(countA, 1), secondsB / max(countB, 1)
}

// slowdown is how many times as long the dearer side's requests took as they would have at the other side's speed.
// Each operation is held against its own: more of the quick ones (flushes that have nothing to do) must not hide
// slower writes.
// Zero where no operation was seen on both sides.
func (s *scene) slowdown() float64 {
	expected, observed := 0.0, 0.0
	for _, operation := range []string{"read", "write", "flush", "discard", "other"} {
		countA, countB := s.count(compare.CountBlock+"."+operation, "")
		secondsA, secondsB := s.count(compare.CountBlockSeconds+"."+operation, "")
		if countA > 0 && countB > 0 {
			expected += countB * secondsA / countA
			observed += secondsB
		}
	}
	if expected <= 0 {
		return 0
	}
	return observed / expected
}

// findThrottledDisk claims waits for a device under a limit of I/O that the other side does not have.
// A throttled request waits before the device sees it: the device's own latency stays as it was.
func findThrottledDisk(s *scene) []*claim {
	limit := s.ioLimit()
	if limit == "" {
		return nil
	}
	a, b := s.latency()
	countA, countB := s.count(compare.CountBlock, "")
	secondsA, secondsB := s.count(compare.CountBlockSeconds, "")
	if !s.oneSided && countA > 0 && countB > 0 && secondsB-secondsA > mostOf*s.growth {
		return nil // the device was busy for that long: it was not held back
	}
	c := s.take("disk.throttled", s.waitsForDevice)
	if c == nil {
		return nil
	}
	if s.mostlyOftener(c) {
		s.release(c)
		return nil // the program asks more often, and each time waits as long as before: no limit did that
	}
	s.locateWait(c)
	c.at(limit)
	c.add("facts", "limit of I/O: "+limit, 0, 0, "")
	if countB > 0 {
		c.add("block", "time of one request in the device", a*1e3, b*1e3, "ms")
	}
	return []*claim{c}
}

// mostlyOftener reports whether the system call that a claim's time grew most in is called more often rather than
// dearer.
func (s *scene) mostlyOftener(c *claim) bool {
	calls := s.callsOf(c)
	if len(calls) == 0 || s.oneSided {
		return false
	}
	a, b := s.seconds(c)
	split := s.splitCalls(calls[0], a, b)
	return split != nil && split.A > 0 && split.Often.Value > mostOf*(split.Often.Value+split.Dearer.Value)
}

// ioLimit is a limit of I/O on the dearer side that the other side does not have, "" without one. Limits of the root
// cgroup hold for everybody and each device: they are no limit of this cgroup's, and often on somebody else's disk.
func (s *scene) ioLimit() string {
	if s.factsB["target.cgroup.path.blkio"] == "/" {
		return ""
	}
	for _, name := range sortedNames(factNames(s.factsB)) {
		value := s.factsB[name]
		limits := strings.HasPrefix(name, "target.cgroup.io.") && !strings.HasSuffix(name, "weight") &&
			!strings.HasSuffix(name, "latency")
		if limits && value != "" && value != "max" && value != "0" && value != s.factsA[name] {
			return name + " " + value
		}
	}
	return ""
}

func factNames(facts map[string]string) map[string]bool {
	names := map[string]bool{}
	for name := range facts {
		names[name] = true
	}
	return names
}

// findSlowDisk claims waits for a device that answers each request later than before.
func findSlowDisk(s *scene) []*claim {
	if s.oneSided {
		return nil
	}
	countA, countB := s.count(compare.CountBlock, "")
	a, b := s.latency()
	if countA < fewestRequest || countB < fewestRequest || s.slowdown() < timesLatency || countB > moreRequests*countA {
		return nil
	}
	c := s.take("disk.slow", s.waitsForDevice)
	if c == nil {
		return nil
	}
	s.locateWait(c)
	devices := map[string]float64{}
	for _, device := range s.keys(compare.CountBlockSeconds) {
		secondsA, secondsB := s.count(compare.CountBlockSeconds, device)
		devices[device] = secondsB - secondsA
	}
	for n, device := range byValue(devices) {
		if n == 2 || devices[device] <= 0 {
			break
		}
		c.at("device " + device)
	}
	c.add("block", "time of one block request", a*1e3, b*1e3, "ms")
	c.add("block", "block requests", countA, countB, "requests/run")
	return []*claim{c}
}

// locateWait names the function of the program that waits most, and the system call.
func (s *scene) locateWait(c *claim) {
	call := ""
	if calls := s.callsOf(c); len(calls) > 0 {
		call = calls[0]
	}
	s.locate(c, call)
}
