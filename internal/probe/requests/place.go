package requests

import (
	"sort"

	"culprit/internal/code"
	"culprit/recording"
)

// netCalls wait for one socket or pipe, as those of spent.h do, which has calls for events besides;
// lockCalls and sleepCalls likewise.
var (
	netCalls = map[string]bool{"read": true, "write": true, "readv": true, "writev": true, "connect": true,
		"accept": true, "sendto": true, "recvfrom": true, "sendmsg": true, "recvmsg": true, "accept4": true,
		"recvmmsg": true, "sendmmsg": true}
	lockCalls  = map[string]bool{"futex": true, "futex_waitv": true, "futex_wait": true}
	sleepCalls = map[string]bool{"nanosleep": true, "clock_nanosleep": true}
)

// objectOf is the file or socket that a long call was on.
func (m *maker) objectOf(wait *recording.Wait) string {
	calls := m.slow[wait.Tid]
	i := sort.Search(len(calls), func(i int) bool { return calls[i].TimeNs > wait.TimeNs })
	if i == 0 {
		return ""
	}
	call := calls[i-1]
	if call.TimeNs+call.DurationNs < wait.WokenNs() || call.Name != wait.Syscall ||
		call.ObjectKind == recording.ObjectLock {
		return ""
	}
	return call.Object
}

func classOf(wait *recording.Wait) string {
	switch {
	case wait.Syscall == "":
		return recording.PartFault
	case wait.State == "D":
		return recording.PartDisk
	case lockCalls[wait.Syscall]:
		return recording.PartLock
	case sleepCalls[wait.Syscall]:
		return recording.PartSleep
	case netCalls[wait.Syscall] || forEvents(wait.Syscall):
		return recording.PartNet
	}
	return recording.PartOther
}

// napped tells a wait on a futex that was to pass the time, as Java's Thread.sleep is: a timer
// ended it, and nobody else was to. Some locks are looked at again by a timer.
func (m *maker) napped(wait *recording.Wait) bool {
	return lockCalls[wait.Syscall] && wait.WakerKind == recording.WakerTimer &&
		m.waitsFor(wait.Stack) == code.WaitEvent && !code.RetriesLock(m.window.Builder.Frames(wait.Stack))
}

// behindOf bounds the requests of a thread that one may have waited behind.
const behindOf = 512

// behind names the request that the thread was at while another waited to be read: the one that
// took most of that time.
func (m *maker) behind(r *recording.SlowRequest, parts []recording.RequestPart) {
	read, most := r.TimeNs+r.WaitNs, int64(0)
	var at *recording.SlowRequest
	turns := m.turns[r.Tid] // in order of their first data
	last := sort.Search(len(turns), func(i int) bool { return turns[i].TimeNs > read })
	for _, other := range turns[max(0, last-behindOf):last] {
		if other.ID == r.ID || other.InProgress || other.Tid != other.WriterTid {
			continue
		}
		from, to := other.TimeNs+other.WaitNs, other.TimeNs+other.LatencyNs
		if common := min(to, read) - max(from, r.TimeNs); common > most {
			most, at = common, other
		}
	}
	if at == nil {
		return
	}
	from, to := at.TimeNs+at.WaitNs, at.TimeNs+at.LatencyNs
	for i := range parts {
		if parts[i].TimeNs < to && parts[i].TimeNs+parts[i].LengthNs > from {
			parts[i].Behind = at.ID
			if parts[i].Class == recording.PartIdle { // it slept within that one
				m.sleptFor(&parts[i], at)
			}
		}
	}
}

// sleptFor says what a thread waited for on a socket while it was at another request. One whose
// wait for events was over when data came would have read it: it waited for something else.
func (m *maker) sleptFor(part *recording.RequestPart, at *recording.SlowRequest) {
	if part.Syscall == "" || part.Beside {
		return
	}
	part.Class = recording.PartNet
	if at.Downstream != "" && 2*at.DownstreamNs >= part.LengthNs {
		part.Class, part.Where = recording.PartDownstream, at.Downstream
	}
}
