package compare

import (
	"strings"

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

// faultEntries are the kernel's functions that a page fault enters by.
var faultEntries = []string{"asm_exc_page_fault", "exc_page_fault", "do_page_fault", "do_user_addr_fault"}

// ownerOf names the item that a path's time belongs to: the most specific thing that it was spent for.
func ownerOf(path *Path) itemKey {
	switch path.Kind {
	case Runnable:
		if path.WakerComm == "" {
			return itemKey{SignalQueue, "nobody ran: a quota, or the hypervisor"}
		}
		return itemKey{SignalQueue, path.WakerComm + " had the CPU"}
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
	user := "[kernel]"
	if kernel > 0 {
		user = frames[kernel-1].Name
	}
	if kernel == len(frames) {
		return itemKey{SignalCode, user}
	}
	call := ""
	for _, frame := range frames[kernel:] {
		for _, entry := range faultEntries {
			if strings.HasPrefix(frame.Name, entry) {
				return itemKey{SignalFault, user} // also of a call that touches the program's memory
			}
		}
		if call == "" {
			call = SyscallOfFrame(frame.Name)
		}
	}
	switch {
	case call != "":
		return itemKey{SignalCall, call}
	case enters(frames[kernel].Name) && (kernel+1 == len(frames) || enters(frames[len(frames)-1].Name)):
		// Caught on the way in or out: what for, the wrapper tells.
		return itemKey{SignalCall, "entry and exit under " + user}
	}
	return itemKey{SignalKernel, frames[kernel].Name}
}

// enters tells the functions that every system call goes through before it is known which.
func enters(name string) bool {
	return strings.HasPrefix(name, "entry_SYSCALL") || strings.HasPrefix(name, "do_syscall_64") ||
		strings.HasPrefix(name, "syscall_") || strings.HasPrefix(name, "x64_sys_call") ||
		strings.HasPrefix(name, "el0_svc") || strings.HasPrefix(name, "do_el0_svc")
}
