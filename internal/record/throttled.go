package record

import (
	"fmt"
	"slices"
	"time"

	"culprit/recording"
)

// Throttled is what limits of a cgroup held back on one device.
type Throttled struct {
	Device  string `json:"device"`
	Cgroup  string `json:"cgroup"`   // last part of its path
	Count   int64  `json:"count"`    // pieces of I/O
	SleptNs int64  `json:"slept_ns"` // how long threads of the target slept for them, all together
}

func (t Throttled) String() string {
	text := fmt.Sprintf("%d pieces of I/O on %s by the limit of cgroup %s", t.Count, t.Device, t.Cgroup)
	if t.SleptNs > 0 {
		text += fmt.Sprintf("; the target slept %v for them", time.Duration(t.SleptNs).Round(time.Millisecond))
	}
	return text
}

// throttledOf adds up the rows of block devices, by device and cgroup: what concerns the target,
// which are its processes and what is written for its cgroups, or everything when the target is the
// host. The table keeps all of it.
func throttledOf(rec *recording.Recording) (all []Throttled) {
	everybody, groups := rec.Manifest.Target.Kind == "host", rec.Cgroups()
	for _, row := range rec.Block {
		if row.Throttled > 0 && (everybody || row.Target || groups[row.ThrottledBy]) {
			all = addThrottled(all, Throttled{row.Device, row.ThrottledBy, row.Throttled, row.ThrottledNs})
		}
	}
	return all
}

func addThrottled(all []Throttled, more ...Throttled) []Throttled {
	for _, one := range more {
		at := slices.IndexFunc(all, func(t Throttled) bool { return t.Device == one.Device && t.Cgroup == one.Cgroup })
		if at < 0 {
			all = append(all, one)
			continue
		}
		all[at].Count += one.Count
		all[at].SleptNs += one.SleptNs
	}
	return all
}
