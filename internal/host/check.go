package host

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

func checkBPF(files tree, try attempts) Capability {
	err := try.createMap()
	missing := Capability{Name: "bpf", Why: reason(err), Hides: "system calls, waits, wake-ups and stacks",
		Fix: "run as root with CAP_BPF and CAP_PERFMON; in a container also allow bpf(2) in its seccomp profile"}
	if errors.Is(err, errNoSystemCall) {
		missing.Fix = "use a kernel built with CONFIG_BPF_SYSCALL"
	}
	found := decide(err == nil, missing)
	if jit := files.line("/proc/sys/net/core/bpf_jit_enable"); found.Available && jit == "0" {
		found.Why = "interpreted, so dearer: the JIT is off (sysctl net.core.bpf_jit_enable)"
	}
	return found
}

// memlockNeeded is about what the unwinder's maps take on kernels or in places
// where they count as locked memory.
const memlockNeeded = 512 << 20

func checkMemlock(files tree, try attempts) Capability {
	maximum, err := try.memlockMaximum()
	missing := Capability{Name: "memlock",
		Why:   fmt.Sprintf("the hard limit of locked memory is %d MB and CAP_SYS_RESOURCE is missing", maximum>>20),
		Hides: "nothing on Linux 5.11 and later, where BPF maps count as cgroup memory; before that, stacks",
		Fix:   "raise the limit before the start: ulimit -l unlimited, or LimitMEMLOCK=infinity of the unit"}
	if err != nil {
		missing.Why = reason(err)
	}
	return decide(err == nil && (maximum >= memlockNeeded || holds(files, bitSysResource)), missing)
}

func checkSampling(files tree, try attempts) Capability {
	err := try.sampleHost()
	return decide(err == nil, Capability{Name: "perf-sampling", Why: reason(err),
		Hides: "on-CPU stacks: where the time goes",
		Fix: "run as root or with CAP_PERFMON; in a container also allow perf_event_open(2) in its seccomp profile; " +
			"kernel.perf_event_paranoid is " + orUnknown(files.line("/proc/sys/kernel/perf_event_paranoid"))})
}

func checkParanoid(files tree) Capability {
	const path = "/proc/sys/kernel/perf_event_paranoid"
	level, err := strconv.Atoi(files.line(path))
	missing := Capability{Name: "perf_event_paranoid",
		Why:   fmt.Sprintf("kernel.perf_event_paranoid is %d", level),
		Hides: "nothing for root; other users cannot sample the whole host",
		Fix:   "sysctl kernel.perf_event_paranoid=-1, or run as root"}
	if err != nil {
		missing.Why, missing.Hides = path+" cannot be read", "every perf event, if the kernel was built without them"
		missing.Fix = "use a kernel built with CONFIG_PERF_EVENTS"
	}
	found := decide(err == nil && (level <= 0 || holds(files, bitPerfmon, bitSysAdmin)), missing)
	if found.Available && level > 0 {
		found.Why = missing.Why + ", which does not bind a process with CAP_PERFMON"
	}
	return found
}

func checkKernelSymbols(files tree) Capability {
	const path = "/proc/kallsyms"
	// The file is megabytes long. Its first lines are zero on kernels before 6.15, which begin with
	// the per-CPU symbols (kernel commit 9d7de2aa8b41); these are a few hundred.
	text, err := files.read(path, 256<<10)
	missing := hiddenSymbols(files)
	if text == "" {
		missing.Why, missing.Fix = reason(err), "use a kernel built with CONFIG_KALLSYMS"
	}
	return decide(showsAddress(text), missing)
}

// hiddenSymbols says why kallsyms shows no addresses: kallsyms_show_value asks for CAP_SYSLOG
// unless kptr_restrict is 0 and perf_event_paranoid at most 1, and shows nobody anything from
// kptr_restrict 2 on.
func hiddenSymbols(files tree) Capability {
	restrict := files.line("/proc/sys/kernel/kptr_restrict")
	missing := Capability{Name: "kernel-symbols", Hides: "names of kernel functions in stacks"}
	switch level, err := strconv.Atoi(restrict); {
	case err == nil && level > 1:
		missing.Why = "addresses are hidden from everyone: kernel.kptr_restrict is " + restrict
		missing.Fix = "sysctl kernel.kptr_restrict=1, and run as root or with CAP_SYSLOG"
	case inUserNamespace(files):
		missing.Why, missing.Fix = "addresses are hidden from this process: it is in a user namespace", outside
	default:
		missing.Why = "addresses are hidden from this process: it has no CAP_SYSLOG"
		missing.Fix = "run as root or with CAP_SYSLOG; no setting of the host has to change for this"
	}
	return missing
}

// showsAddress tells whether a line of kallsyms begins with an address other than zero.
func showsAddress(text string) bool {
	for line := range strings.Lines(text) {
		address, _, _ := strings.Cut(line, " ")
		if value, err := strconv.ParseUint(address, 16, 64); err == nil && value != 0 {
			return true
		}
	}
	return false
}

func checkBTF(files tree) Capability {
	return decide(files.exists("/sys/kernel/btf/vmlinux"), Capability{Name: "btf",
		Why:   "/sys/kernel/btf/vmlinux is missing",
		Hides: "system calls, waits and wake-ups: those programs need the kernel's types",
		Fix:   "use a kernel built with CONFIG_DEBUG_INFO_BTF (Debian 11, Ubuntu 20.10, RHEL 8.2 and later have it)"})
}

func checkTracefs(files tree, try attempts) Capability {
	for _, mount := range mountTable(files) {
		if mount.kind == "tracefs" {
			return Capability{Name: "tracefs", Available: true, Why: "mounted at " + clean(mount.point, 256)}
		}
	}
	_, err := try.readDetached("tracefs", "README")
	if err == nil {
		return Capability{Name: "tracefs", Available: true, Why: "not mounted; readable through a private mount"}
	}
	return Capability{Name: "tracefs", Why: reason(err), Hides: "classic tracepoints and running ftrace instances",
		Fix: "mount -t tracefs tracefs /sys/kernel/tracing"}
}

func checkUnprivilegedBPF(files tree) Capability {
	value := files.line("/proc/sys/kernel/unprivileged_bpf_disabled")
	missing := Capability{Name: "unprivileged-bpf", Why: "kernel.unprivileged_bpf_disabled is " + orUnknown(value),
		Hides: "system calls, waits and stacks: this process has no CAP_BPF and may not load programs without it",
		Fix:   "run as root or with CAP_BPF; do not open BPF to everyone for this"}
	found := decide(value == "0" || holds(files, bitBPF, bitSysAdmin), missing)
	if found.Available && value != "0" {
		found.Why = missing.Why + ", which does not bind a process with CAP_BPF"
	}
	return found
}

func checkLockdown(files tree, try attempts) Capability {
	const name = "lockdown"
	level := chosen(files.line("/sys/kernel/security/lockdown"))
	if level == "" {
		text, err := try.readDetached("securityfs", name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Capability{Name: "no-lockdown", Available: true, Why: "the level cannot be read: " + reason(err)}
		}
		level = chosen(clean(text, valueLimit))
	}
	missing := Capability{Name: "no-lockdown", Why: "the kernel is locked down to " + level,
		Hides: "everything that reads kernel memory: stacks, waits and wake-ups",
		Fix:   "boot without lockdown=confidentiality (and, where Secure Boot forces it, without Secure Boot)"}
	if level == "integrity" {
		return Capability{Name: "no-lockdown", Available: true,
			Why: "lockdown integrity: reading is allowed; MSRs cannot be written and BPF cannot change memory"}
	}
	return decide(level != "confidentiality", missing)
}

func checkCounters(try attempts) Capability {
	err := try.countCycles()
	return decide(err == nil, Capability{Name: "hardware-counters", Why: reason(err),
		Hides: "cycles, instructions, cache and branch misses: a change in cycles per instruction is not explained",
		Fix:   "use a machine or an instance type that shows its performance counters (metal, or a vPMU)"})
}

func checkPressure(files tree) Capability {
	return decide(files.line("/proc/pressure/cpu") != "", Capability{Name: "psi",
		Why: "/proc/pressure/cpu is missing or closed", Hides: "pressure stall totals of the host and of cgroups",
		Fix: "boot with psi=1"})
}

func checkClockSource(files tree, try attempts) Capability {
	available := strings.Fields(files.line(clockSourceFolder + "available_clocksource"))
	missing := Capability{Name: "clocksource-flip", Hides: "the proof that a clock source is, or is not, the cause",
		Why: fmt.Sprintf("only %d clock source is available", len(available)),
		Fix: "none on this machine: compare with another one, or an emulated guest"}
	if len(available) >= 2 {
		err := try.writable(clockSourceFolder + "current_clocksource")
		missing.Why, missing.Fix = reason(err), "run as root, outside a container or in one with /sys writable"
		return decide(err == nil, missing)
	}
	return missing
}

func checkCgroup2(files tree) Capability {
	missing := Capability{Name: "cgroup2", Why: "no cgroup2 file system is mounted",
		Hides: "cgroup targets by their v2 path and their exact CPU accounting; v1 limits are still read",
		Fix:   "mount -t cgroup2 none /sys/fs/cgroup/unified, or boot with systemd.unified_cgroup_hierarchy=1"}
	for _, mount := range mountTable(files) {
		if mount.kind != "cgroup2" {
			continue
		}
		found := Capability{Name: "cgroup2", Available: true}
		if controllers := files.line(mount.point + "/cgroup.controllers"); controllers == "" {
			found.Why = "mounted without controllers: the limits are those of v1"
		}
		return found
	}
	return missing
}

// reason is an error as a short text.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return clean(err.Error(), 256)
}

func orUnknown(value string) string {
	if value == "" {
		return "unknown"
	}
	return value
}
