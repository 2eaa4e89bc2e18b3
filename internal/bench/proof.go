package bench

import (
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbidClockGettime makes every clock_gettime system call of this thread fail with EPERM, for as
// long as it lives.
func forbidClockGettime() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // seccomp_data.nr
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_CLOCK_GETTIME},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	runtime.KeepAlive(filter)
	if err != nil {
		return fmt.Errorf("set seccomp filter: %w", err)
	}
	return nil
}

// whereForbidden runs a function on a thread of its own that may not call clock_gettime. The thread
// ends with it.
func whereForbidden(run func()) error {
	done := make(chan error)
	go func() {
		// Never unlocked: Go ends the thread with the goroutine, and makes no other from it.
		runtime.LockOSThread()
		err := forbidClockGettime()
		if err == nil {
			run()
		}
		done <- err
	}()
	return <-done
}

// clockMoves tells whether the clock goes on when it is read again and again.
func clockMoves(start time.Time) bool {
	var readings [4]time.Duration
	for i := range readings {
		for range 1000 {
			readings[i] = time.Since(start)
		}
	}
	moves := readings[0] > 0 && readings[3] < time.Minute
	for i := 1; i < len(readings); i++ {
		moves = moves && readings[i] > readings[i-1]
	}
	return moves
}

// vdsoProof finds out which way the clock is read: on a thread that may not make the call, only the
// vDSO goes on.
func vdsoProof() string {
	start, moves := time.Now(), false
	err := whereForbidden(func() { moves = clockMoves(start) })
	switch {
	case err != nil:
		return "path not proven: " + err.Error()
	case moves:
		return "0 system calls: it goes on where clock_gettime is forbidden (seccomp)"
	}
	return "A SYSTEM CALL FOR EACH READ: it fails where clock_gettime is forbidden (seccomp)"
}

// syscallProof finds out whether the read by system call makes one.
func syscallProof() string {
	var failed error
	if err := whereForbidden(func() { _, failed = readSyscall(unrolled) }); err != nil {
		return "path not proven: " + err.Error()
	}
	if errors.Is(failed, unix.EPERM) {
		return "1 system call each: it is refused where clock_gettime is forbidden (seccomp)"
	}
	return "NO SYSTEM CALL: it goes on where clock_gettime is forbidden (seccomp)"
}
