package event

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPUs are those that are online.
func CPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("list CPUs: %w", err)
	}
	return cpuList(string(text))
}

// Try opens each event once, on a CPU that it counts on, and says of the first that cannot be why.
func (l List) Try(source Source) error {
	for i := range l {
		cpu := 0
		if len(l[i].CPUs) > 0 {
			cpu = l[i].CPUs[0]
		}
		attributes := l[i].Attributes()
		attributes.Bits |= unix.PerfBitDisabled
		descriptor, err := unix.PerfEventOpen(&attributes, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return l[i].Explain(source, err)
		}
		unix.Close(descriptor)
	}
	return nil
}

// Explain says why the kernel refused an event, in one line that names the way out.
func (e *Event) Explain(source Source, err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("event %s: counting on whole CPUs is not permitted (kernel.perf_event_paranoid is %s); "+
			"run as root or with CAP_PERFMON", e.Name, source.paranoid())
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("event %s: the system call perf_event_open is missing or filtered; "+
			"leave the sandbox of this container", e.Name)
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return fmt.Errorf("event %s: no file descriptor is left for it: each event takes one for each CPU; "+
			"raise `ulimit -n` or name fewer events", e.Name)
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("event %s: another user holds the PMU for itself; `culprit doctor` lists who counts", e.Name)
	}
	if e.Kind != Hardware && e.Kind != Package {
		return fmt.Errorf("event %s: this kernel does not count it (%w)", e.Name, err)
	}
	if pmu := source.CorePMU(); pmu != "" {
		return fmt.Errorf("event %s: the PMU %s of this host does not count it (%w); "+
			"`culprit count --list` lists what it has", e.Name, pmu, err)
	}
	return fmt.Errorf("event %s: this host has no hardware counters: among its event sources (%s) there is no PMU of "+
		"the CPU, as in most virtual machines; %s", e.Name, strings.Join(source.PMUs(), ", "), StandIn(e.Name))
}

func (s Source) paranoid() string {
	text, err := s.read("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return "not readable"
	}
	return text
}

// usualTurn is PERF_CPU_HRTIMER of a kernel with 250 ticks a second, as most are configured.
const usualTurn = 4 * time.Millisecond

// Turn is how long an event keeps a counter of the CPU that it shares with others before the next
// one has it.
func (s Source) Turn() time.Duration {
	text, err := s.read(devices, s.CorePMU(), "perf_event_mux_interval_ms")
	if err != nil {
		return usualTurn
	}
	length, err := strconv.ParseUint(text, 10, 16)
	if err != nil || length == 0 {
		return usualTurn
	}
	return time.Duration(length) * time.Millisecond
}

// Counters is how many counters of a CPU are free, found by taking them.
type Counters struct {
	Free int
	// Watchdog: the kernel's own watchdog holds one for good.
	Watchdog bool
}

// FreeCounters takes one counter after the other of the CPU it runs on until the kernel has no
// more, and gives them back. Branches are counted, which no fixed counter does; where the CPU does
// not count branches, instructions.
func FreeCounters(source Source) Counters {
	found := Counters{}
	watchdog, err := source.read("/proc/sys/kernel/nmi_watchdog")
	found.Watchdog = err == nil && watchdog == "1" && source.CorePMU() != ""
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, name := range []string{"branch-instructions", "instructions", "cycles"} {
		event := generic[name]
		if found.Free = event.fit(Max); found.Free > 0 {
			break
		}
	}
	return found
}

// fit is how many of the same event can be counted at once on CPU 0.
func (e *Event) fit(most int) int {
	attributes := e.Attributes()
	attributes.Bits |= unix.PerfBitPinned
	var open []int
	defer func() {
		for _, descriptor := range open {
			unix.Close(descriptor)
		}
	}()
	for len(open) < most {
		descriptor, err := unix.PerfEventOpen(&attributes, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			break
		}
		open = append(open, descriptor)
		if !scheduled(descriptor) {
			return len(open) - 1
		}
	}
	return len(open)
}

// scheduled tells whether a pinned event got its counter: the kernel gives up one that did not, and
// reads nothing.
func scheduled(descriptor int) bool {
	var values [24]byte
	n, err := unix.Read(descriptor, values[:])
	return err == nil && n == len(values)
}

// Fits tells whether all of the list can be counted at once on a CPU beside what is counted
// already.
func (l List) Fits() bool {
	leader := -1
	var open []int
	defer func() {
		for _, descriptor := range open {
			unix.Close(descriptor)
		}
	}()
	for i := range l {
		if !l[i].Multiplexed() {
			continue
		}
		attributes := l[i].Attributes()
		attributes.Bits |= unix.PerfBitDisabled
		if leader < 0 {
			attributes.Bits |= unix.PerfBitPinned
		}
		descriptor, err := unix.PerfEventOpen(&attributes, -1, 0, leader, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return false
		}
		open = append(open, descriptor)
		if leader < 0 {
			leader = descriptor
		}
	}
	if leader < 0 {
		return true
	}
	err := unix.IoctlSetInt(leader, unix.PERF_EVENT_IOC_ENABLE, unix.PERF_IOC_FLAG_GROUP)
	return err == nil && scheduled(leader)
}

// Default is the set that is counted when none is named: as many of the usual ones as there are
// counters for.
func Default(source Source) List {
	const always = "task-clock,context-switches,cpu-migrations,page-faults,major-faults"
	hardware := []string{"cycles", "instructions", "cache-misses", "branch-misses", "branches", "cache-references"}
	if source.CorePMU() == "" {
		hardware = nil
	}
	for ; ; hardware = hardware[:len(hardware)-1] {
		text := always
		if len(hardware) > 0 {
			text += ",{" + strings.Join(hardware, ",") + "}"
		}
		list, err := Parse(text, source)
		if err == nil && (len(hardware) == 0 || list.Try(source) == nil && list.Fits()) {
			return list
		}
	}
}
