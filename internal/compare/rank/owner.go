package rank

import (
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/stat"
	"culprit/recording"
)

// The signals of a ranking. Those with seconds divide the metric: each second has one owner.
const (
	SignalCode    = "cpu"      // a function's own time in user space
	SignalCall    = "syscall"  // the kernel's work for one system call
	SignalFault   = "fault"    // page faults, by the function that touches the memory
	SignalKernel  = "kernel"   // interrupts and what else the kernel does unasked
	SignalWait    = "wait"     // blocked, by place and call
	SignalLock    = "lock"     // blocked for a user-space lock
	SignalQueue   = "runqueue" // runnable without a CPU, by who had it
	SignalCounted = "count"    // a number of events: no seconds of its own
)

// ownerOf names the item that a path's time belongs to: the most specific that it was spent for.
func ownerOf(path *compare.Path) item {
	switch {
	case path.Kind == compare.Runnable && path.WakerComm == "":
		return item{SignalQueue, "nobody ran: a quota, or the hypervisor"}
	case path.Kind == compare.Runnable && path.WakerOwn:
		return item{SignalQueue, "threads of its own had the CPU"}
	case path.Kind == compare.Runnable:
		return item{SignalQueue, "other processes had the CPU"}
	case path.Kind == compare.Blocked && path.Lock:
		return item{SignalLock, waitedIn(path)}
	case path.Kind == compare.Blocked:
		return item{SignalWait, waitedIn(path)}
	case len(path.Frames) == 0:
		return item{SignalCode, leaf(path)}
	}
	return runningOwner(path.Frames)
}

func runningOwner(frames []recording.Frame) item {
	user, kernel := userLeaf(frames), names.LastUser(frames)+1
	if kernel == len(frames) {
		return item{SignalCode, user}
	}
	call := ""
	for _, frame := range frames[kernel:] {
		if code.EntersFault(frame.Name) {
			return item{SignalFault, user} // also of a call that touches the program's memory
		}
		if call == "" {
			call = code.SyscallOf(frame.Name)
		}
	}
	switch {
	case call != "":
		return item{SignalCall, call}
	case code.EntersKernel(frames[kernel].Name):
		return item{SignalCall, entryUnder + user}
	}
	return item{SignalKernel, frames[kernel].Name}
}

// entryUnder names what was caught on the way into or out of the kernel, for what is not known.
const entryUnder = "entry and exit under "

// owners names the items of all paths. What was caught at the kernel's gate goes to the call that
// the same function of user space mostly makes.
func owners(paths []compare.Path) []item {
	items := make([]item, len(paths))
	calls := map[string]map[string]float64{}
	for i := range paths {
		items[i] = ownerOf(&paths[i])
		if items[i].signal != SignalCall || strings.HasPrefix(items[i].name, entryUnder) {
			continue
		}
		user := userLeaf(paths[i].Frames)
		if calls[user] == nil {
			calls[user] = map[string]float64{}
		}
		calls[user][items[i].name] += stat.Average(paths[i].A) + stat.Average(paths[i].B)
	}
	for i := range items {
		user, found := strings.CutPrefix(items[i].name, entryUnder)
		if found && items[i].signal == SignalCall {
			if call, _ := perrun.Largest(calls[user]); call != "" {
				items[i].name = call
			}
		}
	}
	return items
}

// Owner is an item of a ranking by its signal and name.
type Owner struct{ Signal, Name string }

// Owners names the items that paths belong to.
func Owners(paths []compare.Path) []Owner {
	list := make([]Owner, len(paths))
	for i, found := range owners(paths) {
		list[i] = Owner{found.signal, found.name}
	}
	return list
}

// userLeaf is the last function before the kernel.
func userLeaf(frames []recording.Frame) string {
	if at := names.LastUser(frames); at >= 0 {
		return frames[at].Name
	}
	return "[kernel]"
}
