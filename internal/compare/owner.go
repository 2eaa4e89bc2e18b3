package compare

import (
	"strings"

	"culprit/internal/code"
	"culprit/recording"
)

// The signals of a ranking. Those with seconds divide the metric among them: each second has one owner.
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

// ownerOf names the item that a path's time belongs to: the most specific thing that it was spent for.
func ownerOf(path *Path) itemKey {
	switch path.Kind {
	case Runnable:
		switch {
		case path.WakerComm == "":
			return itemKey{SignalQueue, "nobody ran: a quota, or the hypervisor"}
		case path.WakerOwn:
			return itemKey{SignalQueue, "threads of its own had the CPU"}
		}
		return itemKey{SignalQueue, "other processes had the CPU"}
	case Blocked:
		_, name := itemOf(path)
		if path.Lock {
			return itemKey{SignalLock, name}
		}
		return itemKey{SignalWait, name}
	}
	return runningOwner(path.Frames)
}

func runningOwner(frames []recording.Frame) itemKey {
	if len(frames) == 0 {
		return itemKey{SignalCode, "[no stack]"}
	}
	kernel := len(frames)
	for kernel > 0 && frames[kernel-1].Kind == recording.KindKernel {
		kernel--
	}
	user := userLeaf(frames)
	if kernel == len(frames) {
		return itemKey{SignalCode, user}
	}
	call := ""
	for _, frame := range frames[kernel:] {
		if code.EntersFault(frame.Name) {
			return itemKey{SignalFault, user} // also of a call that touches the program's memory
		}
		if call == "" {
			call = code.SyscallOf(frame.Name)
		}
	}
	switch {
	case call != "":
		return itemKey{SignalCall, call}
	case code.EntersKernel(frames[kernel].Name):
		return itemKey{SignalCall, entryUnder + user}
	}
	return itemKey{SignalKernel, frames[kernel].Name}
}

// entryUnder names what was caught on the way into or out of the kernel, before or after it is known what for.
const entryUnder = "entry and exit under "

// owners names the items of all paths. What was caught at the kernel's gate goes to the call that the same function
// of user space mostly makes.
func owners(paths []Path) []itemKey {
	keys := make([]itemKey, len(paths))
	calls := map[string]map[string]float64{}
	for i := range paths {
		keys[i] = ownerOf(&paths[i])
		if keys[i].signal != SignalCall || strings.HasPrefix(keys[i].name, entryUnder) {
			continue
		}
		user := userLeaf(paths[i].Frames)
		if calls[user] == nil {
			calls[user] = map[string]float64{}
		}
		calls[user][keys[i].name] += mean(paths[i].A) + mean(paths[i].B)
	}
	for i := range keys {
		if user, found := strings.CutPrefix(keys[i].name, entryUnder); found && keys[i].signal == SignalCall {
			if call, _ := largestTwo(calls[user]); call != "" {
				keys[i].name = call
			}
		}
	}
	return keys
}

// userLeaf is the last function before the kernel.
func userLeaf(frames []recording.Frame) string {
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].Kind != recording.KindKernel {
			return frames[i].Name
		}
	}
	return "[kernel]"
}
