package recording

import "strings"

// WokenNs is when a wait was ended, or when the thread lost its CPU.
func (w *Wait) WokenNs() int64 { return w.TimeNs + w.BlockedNs }

// EndNs is when the thread ran again.
func (w *Wait) EndNs() int64 { return w.WokenNs() + w.RunqueueNs }

// Runner names who had the CPU just before the thread got it back; "" where it is not known, and
// where nobody had it but the kernel's idle task: a quota, the hypervisor, or a CPU that has to
// wake up.
func (w *Wait) Runner() string {
	if w.RunnerPid == 0 || strings.HasPrefix(w.RunnerComm, "swapper/") {
		return ""
	}
	return w.RunnerComm
}
