package processes

import (
	"strconv"

	"culprit/internal/host"
	"culprit/recording"
)

// groups are the containers, or units of systemd, that processes were in when the window began.
type groups map[int32]string

// groupsOf looks them up.
func groupsOf(found []processesEvent) groups {
	names := groups{}
	for i := range found {
		pid := int32(found[i].Tgid)
		if _, known := names[pid]; !known {
			names[pid] = groupName(pid)
		}
	}
	return names
}

func groupName(pid int32) string { return host.GroupName("/", strconv.Itoa(int(pid))) }

// fill names the container of each row. One that has ended is in its parent's when it was not there
// at the beginning. The rows come in the order of their starts: parents first.
func (g groups) fill(rows []recording.Process) {
	now := groups{}
	for i := range rows {
		row := &rows[i]
		name, known := g[row.Pid]
		if row.EndNs == 0 { // it may have moved; or ended since the window did
			row.Container = groupName(row.Pid)
		}
		switch {
		case row.Container != "":
		case known && row.StartNs == 0:
			row.Container = name
		default:
			row.Container = now.parent(row.Ppid)
		}
		now[row.Pid] = row.Container
	}
}

// parent is the name of a process that has no row, or an earlier one.
func (g groups) parent(pid int32) string {
	if _, known := g[pid]; !known && pid > 0 {
		g[pid] = groupName(pid)
	}
	return g[pid]
}
