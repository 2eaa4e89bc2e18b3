package block

import (
	"slices"

	"github.com/cilium/ebpf"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

const (
	queuedProgram = "bio_queued"
	// maxLetGo bounds what is kept of one window.
	maxLetGo = 1 << 18
)

// withoutThrottle leaves out what a kernel before 5.17, or one without limits of I/O, cannot load.
func withoutThrottle(spec *ebpf.CollectionSpec) { delete(spec.Programs, queuedProgram) }

// collectThrottle books what limits held back on who waited for it.
//
// When the throttle took a bio is not told, but its thread sleeps from then on: a thread of the
// target in the limited cgroup that was asleep for I/O when a bio was let go waited for one since
// it fell asleep, first come, first served as in the throttle. What nobody of the target slept for
// (written by a kernel thread, asynchronous, another process's) has a row of its cgroup without a
// process, and no time.
func (s *Session) collectThrottle(window *bpf.Window, t *table) error {
	events, over, err := s.letGo.Take()
	if err != nil {
		return err
	}
	window.Lose("block: waits at a limit over the limit", over)
	if len(events) == 0 {
		return nil
	}
	slices.SortFunc(events, func(a, b blockLetGo) int { return int(int64(a.Time) - int64(b.Time)) })
	groups := window.Recording.Cgroups()
	waits := sleepsForDisk(window.Recording.Waits)
	for i := range events {
		event := &events[i]
		at, group := int64(event.Time)-window.StartNs, bpf.Text(event.Cgroup[:])
		key, sleptNs := rowKey{device: event.Device, operation: event.Operation, heldBy: group}, int64(0)
		var comm string
		if groups[group] {
			if wait := waits.take(at); wait != nil {
				key.pid, key.heldBy, sleptNs = uint32(wait.Pid), "", at-wait.TimeNs
				comm = window.Comm[wait.Pid]
			}
		}
		row := t.row(key, comm)
		row.Target = row.Target || key.pid != 0
		row.Throttled++
		row.ThrottledNs += sleptNs
		row.ThrottledBy = group
	}
	return nil
}

// sleeps are the target's uninterruptible sleeps, by their beginnings. Each is taken once.
type sleeps []*recording.Wait

func sleepsForDisk(waits []recording.Wait) sleeps {
	var found sleeps
	for i := range waits {
		if waits[i].State == "D" {
			found = append(found, &waits[i])
		}
	}
	slices.SortStableFunc(found, func(a, b *recording.Wait) int { return int(a.TimeNs - b.TimeNs) })
	return found
}

// take gives the sleep that was under way at a time and had begun first, nil when there is none.
// Times do not go back.
func (s *sleeps) take(at int64) *recording.Wait {
	for len(*s) > 0 && (*s)[0].TimeNs <= at {
		first := (*s)[0]
		*s = (*s)[1:]
		if first.TimeNs+first.BlockedNs >= at {
			return first
		}
	}
	return nil
}
