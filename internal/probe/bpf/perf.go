package bpf

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// PerfEvents is an event on every CPU with a BPF program behind it.
type PerfEvents struct {
	fds   []int
	links []*link.RawLink
}

// OpenPerf opens a software event, disabled, on every online CPU. sample is a
// rate in Hz when frequency is set, else a period.
func OpenPerf(program *ebpf.Program, config, sample uint64, frequency bool) (*PerfEvents, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: config, Sample: sample, Bits: unix.PerfBitDisabled}
	if frequency {
		attr.Bits |= unix.PerfBitFreq
	}
	return openOnAll(program, attr)
}

// The breakpoint of OpenBreakpoint: include/uapi/linux/hw_breakpoint.h.
const (
	breakpointWrite  = 2
	breakpointLength = 8
)

// OpenBreakpoint watches eight bytes of kernel memory with a debug register of every online CPU, disabled: a program
// that writes there runs the given one at once, on its CPU.
func OpenBreakpoint(program *ebpf.Program, address uint64) (*PerfEvents, error) {
	return openOnAll(program, unix.PerfEventAttr{Type: unix.PERF_TYPE_BREAKPOINT, Sample: 1, Bp_type: breakpointWrite,
		Ext1: address, Ext2: breakpointLength, Bits: unix.PerfBitDisabled})
}

func openOnAll(program *ebpf.Program, attr unix.PerfEventAttr) (*PerfEvents, error) {
	attr.Size = uint32(unsafe.Sizeof(attr))
	events := &PerfEvents{}
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	for _, cpu := range cpus {
		if err := events.open(program, cpu, attr); err != nil {
			events.Close()
			return nil, err
		}
	}
	return events, nil
}

func (e *PerfEvents) open(program *ebpf.Program, cpu int, attr unix.PerfEventAttr) error {
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open perf event on CPU %d: %w", cpu, explain(err))
	}
	e.fds = append(e.fds, fd)
	attached, err := link.AttachRawLink(link.RawLinkOptions{Target: fd, Program: program, Attach: ebpf.AttachPerfEvent})
	if err != nil {
		return fmt.Errorf("attach to perf event on CPU %d: %w", cpu, explain(err))
	}
	e.links = append(e.links, attached)
	return nil
}

// Enable starts the events.
func (e *PerfEvents) Enable() error { return e.control(unix.PERF_EVENT_IOC_ENABLE, "enable") }

// Disable stops the events; they can be enabled again.
func (e *PerfEvents) Disable() error { return e.control(unix.PERF_EVENT_IOC_DISABLE, "disable") }

// SetRate changes the rate of clock events that were opened with one, in Hz. To the kernel it is a period in ns: at the
// opening perf_swevent_init_hrtimer turned the rate into one for good, and 49 would be read as a sample each 49 ns.
func (e *PerfEvents) SetRate(hz int) error {
	for _, fd := range e.fds {
		period := uint64(time.Second) / uint64(hz)
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_PERIOD,
			uintptr(unsafe.Pointer(&period)))
		if errno != 0 {
			return fmt.Errorf("set rate of perf event: %w", errno)
		}
	}
	return nil
}

func (e *PerfEvents) control(request uint, verb string) error {
	for _, fd := range e.fds {
		if err := unix.IoctlSetInt(fd, request, 0); err != nil {
			return fmt.Errorf("%s perf event: %w", verb, err)
		}
	}
	return nil
}

// Close detaches and frees the events.
func (e *PerfEvents) Close() {
	for _, attached := range e.links {
		attached.Close()
	}
	for _, fd := range e.fds {
		unix.Close(fd)
	}
	e.links, e.fds = nil, nil
}

// onlineCPUs reads a list such as "0-3,6".
func onlineCPUs() ([]int, error) {
	data, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("list CPUs: %w", err)
	}
	var cpus []int
	for _, part := range strings.Split(strings.TrimSpace(string(data)), ",") {
		first, last, ranged := strings.Cut(part, "-")
		low, err := strconv.Atoi(first)
		if err != nil {
			return nil, fmt.Errorf("list CPUs: %q", part)
		}
		high := low
		if ranged {
			if high, err = strconv.Atoi(last); err != nil || high-low > 1<<16 {
				return nil, fmt.Errorf("list CPUs: %q", part)
			}
		}
		for cpu := low; cpu <= high; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
