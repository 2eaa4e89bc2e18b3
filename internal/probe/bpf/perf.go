package bpf

import (
	"errors"
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
	fds       []int // those that are controlled
	followers []int // of groups: they go with the first of each
	links     []*link.RawLink
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

// preciseLevels are how exactly the instruction of a sample is to be told, the best first
// (precise_ip of include/uapi/linux/perf_event.h): 2 asks for no skid, 0 takes what there is.
var preciseLevels = []uint64{unix.PerfBitPreciseIPBit2, unix.PerfBitPreciseIPBit1, 0}

// OpenMemory opens an event whose samples tell the address of the memory that was accessed,
// disabled, on some CPUs; nil: on every online one.
func OpenMemory(program *ebpf.Program, attr unix.PerfEventAttr, cpus []int, hz uint64) (events *PerfEvents, err error) {
	if cpus == nil {
		if cpus, err = onlineCPUs(); err != nil {
			return nil, err
		}
	}
	attr.Sample, attr.Sample_type, attr.Read_format = hz, unix.PERF_SAMPLE_IP|unix.PERF_SAMPLE_ADDR, 0
	attr.Bits |= unix.PerfBitDisabled | unix.PerfBitFreq
	for _, precise := range preciseLevels {
		one := attr
		one.Bits |= precise
		if events, err = openOn(cpus, program, one); err == nil {
			return events, nil
		}
	}
	return nil, err
}

// The breakpoint of OpenBreakpoint: include/uapi/linux/hw_breakpoint.h.
const (
	breakpointWrite  = 2
	breakpointLength = 8
)

// OpenBreakpoint watches eight bytes of kernel memory with a debug register of every online CPU,
// disabled: a program that writes there runs the given one at once, on its CPU.
func OpenBreakpoint(program *ebpf.Program, address uint64) (*PerfEvents, error) {
	return openOnAll(program, unix.PerfEventAttr{Type: unix.PERF_TYPE_BREAKPOINT, Sample: 1, Bp_type: breakpointWrite,
		Ext1: address, Ext2: breakpointLength, Bits: unix.PerfBitDisabled})
}

// OpenGroup opens hardware events as one group, disabled, on every online CPU: they have counters
// at the same times. Each samples at a rate in Hz and runs the program of the same number.
func OpenGroup(programs []*ebpf.Program, configs []uint64, hz uint64) (*PerfEvents, error) {
	events := &PerfEvents{}
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	for _, cpu := range cpus {
		if err := events.openGroup(programs, configs, hz, cpu); err != nil {
			events.Close()
			return nil, err
		}
	}
	return events, nil
}

func (e *PerfEvents) openGroup(programs []*ebpf.Program, configs []uint64, hz uint64, cpu int) error {
	leader := -1
	for i, config := range configs {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: config, Sample: hz, Bits: unix.PerfBitFreq}
		attr.Size = uint32(unsafe.Sizeof(attr))
		if leader < 0 {
			attr.Bits |= unix.PerfBitDisabled
		}
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, leader, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			err = tooOften(explainHardware(err), &attr, maxRate())
			return fmt.Errorf("open hardware event on CPU %d: %w", cpu, err)
		}
		if leader < 0 {
			leader, e.fds = fd, append(e.fds, fd)
		} else {
			e.followers = append(e.followers, fd)
		}
		if err := e.attach(programs[i], fd, cpu); err != nil {
			return err
		}
	}
	return nil
}

// explainHardware tells a CPU that cannot from a user who may not.
func explainHardware(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("%w: this host has no hardware counters that can sample (%v)", ErrNotSupported, err)
	}
	return explain(err)
}

// maxRate is how many samples of an event the kernel allows in a second, "" where it does not say.
func maxRate() string {
	text, _ := os.ReadFile("/proc/sys/kernel/perf_event_max_sample_rate") // "" where there is none
	return strings.TrimSpace(string(text))
}

// tooOften says that it was the rate that the kernel calls an invalid argument: it lowers what it
// allows by itself where the interrupts of samples take long.
func tooOften(err error, attr *unix.PerfEventAttr, allowed string) error {
	most, wrong := strconv.ParseUint(allowed, 10, 64)
	if !errors.Is(err, unix.EINVAL) || attr.Bits&unix.PerfBitFreq == 0 || wrong != nil || attr.Sample <= most {
		return err
	}
	return fmt.Errorf("%d samples a second are asked for and the kernel allows %d (kernel.perf_event_max_sample_rate, "+
		"which it lowers where they take long): ask for fewer with -F, or raise it (%w)", attr.Sample, most, err)
}

func openOnAll(program *ebpf.Program, attr unix.PerfEventAttr) (*PerfEvents, error) {
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	return openOn(cpus, program, attr)
}

func openOn(cpus []int, program *ebpf.Program, attr unix.PerfEventAttr) (*PerfEvents, error) {
	attr.Size = uint32(unsafe.Sizeof(attr))
	events := &PerfEvents{}
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
		return fmt.Errorf("open perf event on CPU %d: %w", cpu, tooOften(explain(err), &attr, maxRate()))
	}
	e.fds = append(e.fds, fd)
	return e.attach(program, fd, cpu)
}

func (e *PerfEvents) attach(program *ebpf.Program, fd, cpu int) error {
	attached, err := link.AttachRawLink(link.RawLinkOptions{Target: fd, Program: program, Attach: ebpf.AttachPerfEvent})
	if err != nil {
		return fmt.Errorf("attach to perf event on CPU %d: %w", cpu, explain(err))
	}
	e.links = append(e.links, attached)
	return nil
}

// Enable starts the events.
func (e *PerfEvents) Enable() error { return e.control(unix.PERF_EVENT_IOC_ENABLE, "enable", 0) }

// Disable stops the events; they can be enabled again.
func (e *PerfEvents) Disable() error { return e.control(unix.PERF_EVENT_IOC_DISABLE, "disable", 0) }

// SetRate changes the rate of clock events that were opened with one, in Hz. To the kernel it is a
// period in ns: at the opening perf_swevent_init_hrtimer turned the rate into one for good, and 49
// would be read as a sample each 49 ns.
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

// EnableGroups starts all events of each group at once.
func (e *PerfEvents) EnableGroups() error {
	return e.control(unix.PERF_EVENT_IOC_ENABLE, "enable", unix.PERF_IOC_FLAG_GROUP)
}

// DisableGroups is the reverse of EnableGroups.
func (e *PerfEvents) DisableGroups() error {
	return e.control(unix.PERF_EVENT_IOC_DISABLE, "disable", unix.PERF_IOC_FLAG_GROUP)
}

func (e *PerfEvents) control(request uint, verb string, flags int) error {
	for _, fd := range e.fds {
		if err := unix.IoctlSetInt(fd, request, flags); err != nil {
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
	for _, fd := range append(e.followers, e.fds...) {
		unix.Close(fd)
	}
	e.links, e.fds, e.followers = nil, nil, nil
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
