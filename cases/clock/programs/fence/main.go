// Command fence runs a program behind filters on its system calls: a call whose first argument is
// one of a list of descriptors fails. Each filter looks at the argument, so that the kernel cannot
// remember its answer.
//
//	fence FILTERS COMMAND [ARGUMENT…]
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	descriptors     = 500 // that a filter has
	firstDescriptor = 1 << 20
	firstArgument   = 16 // in struct seccomp_data
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "fence: %v\n", err)
		os.Exit(2)
	}
}

func run(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("usage: fence FILTERS COMMAND [ARGUMENT…]")
	}
	filters, err := strconv.Atoi(words[0])
	if err != nil || filters < 1 || filters > 32 {
		return fmt.Errorf("%q filters: give a number from 1 to 32", words[0])
	}
	program, err := exec.LookPath(words[1])
	if err != nil {
		return err
	}
	runtime.LockOSThread() // a filter is the thread's that sets it, and what that thread executes inherits it
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	for each := range filters {
		if err := confine(firstDescriptor + each*descriptors); err != nil {
			return fmt.Errorf("set filter %d: %w", each+1, err)
		}
	}
	return syscall.Exec(program, words[1:], os.Environ())
}

// confine sets one filter.
func confine(first int) error {
	rules := make([]unix.SockFilter, 0, 2*descriptors+2)
	rules = append(rules, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: firstArgument})
	for each := range descriptors {
		rules = append(rules,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(first + each)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EBADF)})
	}
	rules = append(rules, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(rules)), Filter: &rules[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}
