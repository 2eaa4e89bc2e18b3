package record

import (
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// hostSlack is how much later than asked for a recorder of the whole host may be woken. Go's
// monitor thread sleeps for 20 µs at a time, fifty times in a row, whenever the process was idle
// and is no more: with the kernel's usual slack of 50 µs each of ten wakings a second has it wake
// twenty times, for nothing. Where a host starts processes all the time there are some hundred
// wakings a second. Nothing that is timed there needs to be more exact: a process is announced,
// which no timer delays.
const hostSlack = 4 * time.Millisecond

// start starts a recorder's process. What a process's threads sleep is as inexact as what the
// thread that forked it does (prctl(2), PR_SET_TIMERSLACK), and Go's monitor is there before the
// program could set its own.
func (o Options) start(command *exec.Cmd) error {
	if !o.Forever && !o.WholeHost {
		return command.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// It fails on kernels without it: the recorder is woken more often.
	if before, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil && before > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(hostSlack), 0, 0, 0)
		defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(before), 0, 0, 0) }()
	}
	return command.Start()
}
