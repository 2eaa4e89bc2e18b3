package counters

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"culprit/internal/probe/counters/event"
)

// Events are open on every CPU that they count on.
type Events struct {
	CPUs []int
	list event.List
	open map[int][]int // by CPU: a descriptor for each event, -1 where it does not count there
}

// OpenEvents opens events on all CPUs. They count from now on.
func OpenEvents(list event.List) (*Events, error) {
	return openEvents(list, func(int) bool { return true })
}

// openEvents opens those that are needed.
func openEvents(list event.List, needed func(i int) bool) (*Events, error) {
	cpus, err := event.CPUs()
	if err != nil {
		return nil, err
	}
	e := &Events{CPUs: cpus, list: list, open: map[int][]int{}}
	for _, cpu := range cpus {
		if err := e.openOn(cpu, needed); err != nil {
			e.Close()
			return nil, err
		}
	}
	return e, nil
}

// openOn opens them on one CPU; those of a group behind its first.
func (e *Events) openOn(cpu int, needed func(i int) bool) error {
	leaders := map[int]int{}
	for i := range e.list {
		each := &e.list[i]
		if !needed(i) || each.CPUs != nil && !slices.Contains(each.CPUs, cpu) {
			e.open[cpu] = append(e.open[cpu], -1)
			continue
		}
		leader := -1
		if found, grouped := leaders[each.Group]; grouped && each.Group >= 0 {
			leader = found
		}
		attributes := each.Attributes()
		descriptor, err := unix.PerfEventOpen(&attributes, -1, cpu, leader, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil && leader >= 0 {
			return fmt.Errorf("event %s cannot be counted in one group with those before it (%w); "+
				"make the group smaller, or take it out of the braces", each.Name, err)
		}
		if err != nil {
			return each.Explain(event.Host, err)
		}
		if leader < 0 && each.Group >= 0 {
			leaders[each.Group] = descriptor
		}
		e.open[cpu] = append(e.open[cpu], descriptor)
	}
	return nil
}

func (e *Events) descriptor(cpu, i int) int { return e.open[cpu][i] }

// Read gives what each CPU has counted since the opening, by CPU and in the order of the events. An
// event that does not count on a CPU is zero there.
func (e *Events) Read() (map[int][]Count, error) {
	all := map[int][]Count{}
	for _, cpu := range e.CPUs {
		counts := make([]Count, len(e.list))
		for i, descriptor := range e.open[cpu] {
			if descriptor < 0 {
				continue
			}
			var values [24]byte
			n, err := unix.Read(descriptor, values[:])
			if err != nil || n != len(values) {
				return nil, fmt.Errorf("read event %s on CPU %d: %d bytes, error %v", e.list[i].Name, cpu, n, err)
			}
			counts[i] = Count{Value: binary.NativeEndian.Uint64(values[:]), Enabled: binary.NativeEndian.Uint64(values[8:]),
				Running: binary.NativeEndian.Uint64(values[16:])}
		}
		all[cpu] = counts
	}
	return all, nil
}

// Close ends them.
func (e *Events) Close() {
	for _, descriptors := range e.open {
		for _, descriptor := range descriptors {
			if descriptor >= 0 {
				unix.Close(descriptor)
			}
		}
	}
	e.open = nil
}
