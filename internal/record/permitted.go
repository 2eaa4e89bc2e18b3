package record

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// Permitted says, without loading anything, whether this process may record:
// nil, or an error that wraps ErrNotSupported and names what is missing.
func Permitted() error {
	set, err := host.EffectiveCapabilities()
	if err != nil {
		return fmt.Errorf("%w: %v", ErrNotSupported, err)
	}
	if host.InUserNamespace() {
		return fmt.Errorf("%w: culprit runs in a user namespace (a rootless container?), whose root may not load BPF; "+
			"run it as root of the host", ErrNotSupported)
	}
	if missing := host.MissingForBPF(set); missing != "" {
		return fmt.Errorf("%w: recording needs root, or CAP_BPF and CAP_PERFMON (missing: %s)", ErrNotSupported, missing)
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		return fmt.Errorf("%w: this kernel has no type information (/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)",
			ErrNotSupported)
	}
	if own, err := os.Readlink("/proc/self/ns/pid"); err == nil && own != firstPidNamespace {
		return fmt.Errorf("%w: the kernel tells the host's process ids, and culprit runs in a pid namespace of its own "+
			"(a container?); run it on the host, or with its ids: docker run --pid=host", ErrNotSupported)
	}
	var files unix.Rlimit
	if needed := filesNeeded(); unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil && files.Max < needed {
		return fmt.Errorf("%w: recording opens up to %d files, and the limit is %d; raise it: ulimit -Hn %d",
			ErrNotSupported, needed, files.Max, needed)
	}
	return nil
}

// firstPidNamespace is PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h.
const firstPidNamespace = "pid:[4026531836]"

// filesNeeded is how many files the recorder has open at most, with some to spare: programs, maps
// and links are about 220, perf events up to two on each CPU.
func filesNeeded() uint64 { return 384 + 4*uint64(runtime.NumCPU()) }
