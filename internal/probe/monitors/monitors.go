// Package monitors finds who on this host counts or samples others by perf events: what each event
// counts, for a CPU, a process or a cgroup, and for how much of the time it had a counter. It also
// opens the same events once more, for internal/monitor to measure what they cost. /proc tells only
// that a descriptor is a perf event.
//
//	events, err := monitors.Find()
//
// It attaches nothing: a BPF program walks once over the open files of all processes. It needs
// root, and refuses a kernel without BPF iterators (before Linux 5.8).
package monitors

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/counters/event"
)

//go:generate ../bpf/generate.sh monitors -target bpfel -type held -type msr_key

// Event is a perf event that a process holds open.
type Event struct {
	Holder int    // the process
	Name   string // "context-switches", "raw_syscalls:sys_enter", "r01c2"
	CPU    int    // -1: on all on which the target runs
	Target int    // the process that it counts; 0: all that its CPU does, or what of it is in the cgroup
	Thread int    // the thread of it
	Cgroup uint64 // the only one that it counts, by id; 0: not by cgroup
	// Program is the id of the BPF program that runs at it, 0 without one.
	Program uint32
	// Hertz and Period: it takes a sample so often in a second, or each time so many have been
	// counted; both 0: it only counts.
	Hertz, Period uint64
	// Enabled and Running are the times in ns in which it was to count and did: where they differ
	// it shared a counter.
	Enabled, Running uint64

	attributes unix.PerfEventAttr
}

// eventLimit bounds how many are looked at.
const eventLimit = 1 << 16

// Find finds the perf events that processes hold open, but for those of the processes that are left
// out.
func Find(exclude ...int) ([]Event, error) {
	own, err := openClocks()
	defer closeAll(own)
	if err != nil {
		return nil, fmt.Errorf("find perf events of others: %w", err)
	}
	collection, err := loaded()
	if err != nil {
		return nil, fmt.Errorf("find perf events of others: %w", err)
	}
	defer collection.Close()
	operations, err := operationsOf(collection, own[0])
	if err != nil {
		return nil, err
	}
	if err := collection.Variables["operations"].Set(operations); err != nil {
		return nil, fmt.Errorf("find perf events of others: %w", err)
	}
	found, err := bpf.Walk[monitorsHeld](collection, "holders")
	if err != nil {
		return nil, err
	}
	return eventsOf(found[:min(len(found), eventLimit)], own, exclude), nil
}

// loaded are the programs of this package, in the kernel.
func loaded() (*ebpf.Collection, error) {
	spec, err := loadMonitors()
	if err != nil {
		return nil, fmt.Errorf("read program of monitors: %w", err)
	}
	shared := new(bpf.Shared)
	defer shared.Close() // the collection has its own
	return shared.Load(spec, nil)
}

// eventsOf leaves out who is not looked for, and our own two, which tell how the kernel writes its
// clocks.
func eventsOf(found []monitorsHeld, own, exclude []int) []Event {
	clocks := map[uint32]string{}
	var others []*monitorsHeld
	for i := range found {
		held := &found[i]
		if at := slices.Index(own, int(held.Descriptor)); at >= 0 && int(held.Holder) == os.Getpid() {
			if written := attributesOf(held.Attr[:]); written.Type != unix.PERF_TYPE_SOFTWARE {
				clocks[written.Type] = clockNames[at]
			}
		} else if !slices.Contains(exclude, int(held.Holder)) {
			others = append(others, held)
		}
	}
	events := make([]Event, len(others))
	for i, held := range others {
		events[i] = eventOf(held, clocks)
	}
	return events
}

// clockNames are the events that time drives, which the kernel keeps in another form than it was
// given: of PMUs of their own, with a period where a frequency was asked for.
var clockNames = []string{"cpu-clock", "task-clock"}

var clockConfigs = []uint64{unix.PERF_COUNT_SW_CPU_CLOCK, unix.PERF_COUNT_SW_TASK_CLOCK}

// openClocks opens one of each of them, which does not count.
func openClocks() ([]int, error) {
	var own []int
	for _, config := range clockConfigs {
		attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: config, Bits: unix.PerfBitDisabled}
		attributes.Size = uint32(unsafe.Sizeof(attributes))
		descriptor, err := unix.PerfEventOpen(&attributes, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return own, err
		}
		own = append(own, descriptor)
	}
	return own, nil
}

func closeAll(descriptors []int) {
	for _, descriptor := range descriptors {
		unix.Close(descriptor)
	}
}

// operationsOf is what files of perf events have in common in the kernel.
func operationsOf(collection *ebpf.Collection, own int) (uint64, error) {
	for name, value := range map[string]uint32{"own_process": uint32(os.Getpid()), "own_descriptor": uint32(own)} {
		if err := collection.Variables[name].Set(value); err != nil {
			return 0, fmt.Errorf("find perf events of others: %w", err)
		}
	}
	found, err := bpf.Walk[monitorsHeld](collection, "holders")
	if err != nil {
		return 0, err
	}
	if len(found) != 1 || found[0].Operations == 0 {
		return 0, fmt.Errorf("find perf events of others: one of our own was seen %d times; "+
			"run culprit in the host's pid namespace", len(found))
	}
	return found[0].Operations, nil
}

func eventOf(held *monitorsHeld, clocks map[uint32]string) Event {
	found := Event{Holder: int(held.Holder), CPU: int(held.Cpu), Target: int(held.Target),
		Thread: int(held.Thread), Cgroup: held.Cgroup, Program: held.Program, Enabled: held.Enabled,
		Running: held.Running, attributes: attributesOf(held.Attr[:])}
	at := &found.attributes
	found.Name = event.NameOf(at.Type, at.Config, event.Host)
	if name := clocks[at.Type]; name != "" {
		found.Name = name
	}
	if system, name := bpf.Text(held.System[:]), bpf.Text(held.Name[:]); system != "" && name != "" {
		found.Name = system + ":" + name
	}
	switch clock := slices.Contains(clockNames, found.Name); {
	case at.Bits&unix.PerfBitFreq != 0:
		found.Hertz = at.Sample
	case clock && at.Sample > 0:
		found.Hertz = uint64(math.Round(1e9 / float64(at.Sample)))
	default:
		found.Period = at.Sample
	}
	return found
}

// attributesOf reads what the kernel keeps of struct perf_event_attr.
func attributesOf(words []uint64) unix.PerfEventAttr {
	var attributes unix.PerfEventAttr
	raw := make([]byte, 0, len(words)*8)
	for _, word := range words {
		raw = binary.NativeEndian.AppendUint64(raw, word)
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes)), raw)
	return attributes
}

// Counts tells whether the event only counts: it takes no samples, and no program runs at it.
func (e *Event) Counts() bool { return e.Hertz == 0 && e.Period == 0 && e.Program == 0 }

// Again opens the same event once more, to count: on a CPU, for a process, or for a cgroup that is
// open as a descriptor, as the event itself is. Samples are not taken, programs not run.
func (e *Event) Again(cpu, pid, cgroup int) (descriptor int, err error) {
	attributes := unix.PerfEventAttr{Type: e.attributes.Type, Config: e.attributes.Config, Ext1: e.attributes.Ext1,
		Ext2: e.attributes.Ext2, Bits: e.attributes.Bits & (unix.PerfBitExcludeUser | unix.PerfBitExcludeKernel |
			unix.PerfBitExcludeHv | unix.PerfBitExcludeIdle | unix.PerfBitInherit)}
	attributes.Size = uint32(unsafe.Sizeof(attributes))
	if at := slices.Index(clockNames, e.Name); at >= 0 {
		attributes.Type, attributes.Config = unix.PERF_TYPE_SOFTWARE, clockConfigs[at]
	}
	switch {
	case e.Cgroup != 0:
		return unix.PerfEventOpen(&attributes, cgroup, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC|unix.PERF_FLAG_PID_CGROUP)
	case e.Target != 0:
		return unix.PerfEventOpen(&attributes, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	return unix.PerfEventOpen(&attributes, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// CommOf is the name of a process, "" when it has gone.
func CommOf(pid int) string {
	text, err := os.ReadFile(path.Join("/proc", strconv.Itoa(pid), "comm"))
	if err != nil {
		return ""
	}
	return bpf.Clean(string(text[:max(0, len(text)-1)]))
}
