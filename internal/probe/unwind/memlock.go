package unwind

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// allowMemlock lets the library raise the locked-memory limit, or believe so.
//
// The library insists on RLIMIT_MEMLOCK = unlimited, which needs
// CAP_SYS_RESOURCE; kernels since 5.11 charge BPF memory to the memory cgroup
// and do not look at the limit (kernel commit d5299b67dd59). Where raising it is
// refused, a seccomp filter makes the call return 0 without doing anything, in
// this process only.
func allowMemlock() error {
	var old unix.Rlimit
	unlimited := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(0, unix.RLIMIT_MEMLOCK, &unlimited, &old); err == nil {
		return nil
	}
	filter := memlockFilter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// No new privileges, or the filter needs CAP_SYS_ADMIN. Set on every thread by TSYNC.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("install memlock filter: %w", errno)
	}
	return nil
}

// auditArch is this machine as seccomp calls it.
var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// memlockFilter returns success for setrlimit(RLIMIT_MEMLOCK, …) and for
// prlimit64(…, RLIMIT_MEMLOCK, new ≠ NULL, …); everything else is let through.
func memlockFilter() []unix.SockFilter {
	const (
		load       = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		jumpEqual  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		jumpAlways = unix.BPF_JMP | unix.BPF_JA
		give       = unix.BPF_RET | unix.BPF_K

		number   = 0 // offsets in struct seccomp_data
		arch     = 4
		argument = 16 // + 8 × index, low half first on little-endian machines

		allow = 0x7fff0000 // SECCOMP_RET_ALLOW
		zero  = 0x00050000 // SECCOMP_RET_ERRNO with errno 0
	)
	return []unix.SockFilter{
		{Code: load, K: arch},
		{Code: jumpEqual, K: auditArch, Jf: 9},
		{Code: load, K: number},
		{Code: jumpEqual, K: unix.SYS_SETRLIMIT, Jt: 4},
		{Code: jumpEqual, K: unix.SYS_PRLIMIT64, Jf: 6},
		{Code: load, K: argument + 8*2}, // prlimit64: new limit
		{Code: jumpEqual, K: 0, Jt: 4},
		{Code: load, K: argument + 8*1}, // prlimit64: resource
		{Code: jumpAlways, K: 1},
		{Code: load, K: argument}, // setrlimit: resource
		{Code: jumpEqual, K: unix.RLIMIT_MEMLOCK, Jt: 1},
		{Code: give, K: allow},
		{Code: give, K: zero},
	}
}
