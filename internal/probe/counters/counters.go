// Package counters counts events on whole CPUs and books what was counted to the cgroup, process or
// thread that ran. The counters stay on: at a switch that changes who is counted, a BPF program
// reads them and books the difference to the one that leaves. Nothing is reprogrammed at a switch,
// which is what makes counting per cgroup dear elsewhere.
//
//	meter, err := counters.Open(counters.Options{By: counters.ByCgroup, Events: list})
//	err = meter.Begin()
//	rows, err := meter.Read() // as often as one likes
//
// It refuses events of a whole package (power), which say nothing about who ran.
package counters

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/counters/event"
)

//go:generate ../bpf/generate.sh counters -target bpfel -type key -type row -type cpu_state -type event_address

// By says to whom counts are booked.
type By uint32

// As in reading.h.
const (
	ByCgroup By = iota
	ByProcess
	ByThread
)

// The ids of rows that are nobody's: as in reading.h.
const (
	Idle   = uint64(0)
	Others = ^uint64(0)     // who is not counted
	Rest   = ^uint64(0) - 1 // whose rows did not fit
)

const (
	kindClock = iota
	kindMemory
	kindSwitches
	kindHelper
)

const (
	commandRead = iota
	commandStop
)

// Options are the plan of a meter.
type Options struct {
	By     By
	Events event.List
	// Some: only who is followed (Follow), and what it starts, has rows.
	Some bool
	// Rows bounds how many can be told apart, on each CPU; 0: a default.
	Rows int
	// Shared, where it is set, says who is followed: those of the recorder.
	Shared *bpf.Shared
}

// The default of Options.Rows, and the most rows of all CPUs together, of which a kernel that
// cannot add rows at a switch (before 6.2) makes fewer at once.
const (
	rowsOfCPU = 8192
	mostRows  = 1 << 16
	madeRows  = 1 << 14
)

// Meter counts. It is not for use by several goroutines at once.
type Meter struct {
	options    Options
	events     *Events
	kinds      [event.Max]uint8
	collection *ebpf.Collection
	links      []link.Link
	handed     []*ebpf.Map
	rows       map[Key]*Row
	counted    map[int][]Count // by CPU, at the last booking
}

// Key is who was counted. Born tells two apart that had the same id one after the other.
type Key struct {
	ID   uint64 // of the cgroup; number of the process or thread
	Born uint32
}

// Row is what was counted for one of them since Begin, on all CPUs.
type Row struct {
	RanNs  int64 // time on a CPU
	Pid    int32 // of the process; of a cgroup: 0
	Comm   string
	Counts []Count // in the order of the events

	namedNs uint64 // when its name was taken
}

// Count is what one event came to.
type Count struct {
	Value uint64
	// Enabled and Running are the times, in ns, in which it was to be counted and was; for events
	// that are never without a counter both are the time on a CPU.
	Enabled, Running uint64
}

// Open opens the events on every CPU and loads the programs; nothing counts yet.
func Open(options Options) (*Meter, error) {
	for i := range options.Events {
		if each := &options.Events[i]; each.Kind == event.Package {
			return nil, fmt.Errorf("event %s counts for a whole package or device: it says nothing about who runs; "+
				"count it with --by cpu", each.Name)
		}
	}
	if options.Rows == 0 {
		options.Rows = rowsOfCPU
	}
	m := &Meter{options: options, rows: map[Key]*Row{}, kinds: kindsOf(options.Events)}
	var err error
	m.events, err = openEvents(options.Events, func(i int) bool { return m.kinds[i] != kindSwitches })
	if err != nil {
		return nil, err
	}
	if err := m.load(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// load loads the programs for these events and tells them where to read.
func (m *Meter) load() error {
	spec, err := loadCounters()
	if err != nil {
		return fmt.Errorf("read program of counters: %w", err)
	}
	err = bpf.Set(spec, map[string]any{"by": uint32(m.options.By), "events": uint32(len(m.options.Events)),
		"everybody": boolean(!m.options.Some), "kinds": m.kinds})
	if err != nil {
		return err
	}
	rows := spec.Maps["rows"]
	if readsDirectly() { // and rows may be made at a switch
		rows.MaxEntries, rows.Flags = uint32(min(m.options.Rows*len(m.events.CPUs), mostRows)), bpfNoPrealloc
	} else {
		rows.MaxEntries = uint32(min(m.options.Rows*len(m.events.CPUs), madeRows))
	}
	shared := m.options.Shared
	if shared == nil {
		shared = new(bpf.Shared)
		defer shared.Close()
	}
	if m.collection, err = shared.Load(spec, nil); err != nil {
		return fmt.Errorf("load counters: %w", err)
	}
	return m.place()
}

// bpfNoPrealloc is BPF_F_NO_PREALLOC: rows take memory when there are any.
const bpfNoPrealloc = 1

func boolean(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}

// place hands the events to the programs: those that are asked for by a map of CPUs, the rest by
// where they count.
func (m *Meter) place() error {
	for i := range m.options.Events {
		if m.kinds[i] == kindHelper {
			if err := m.hand(i); err != nil {
				return fmt.Errorf("hand event %s to its program: %w", m.options.Events[i].Name, err)
			}
		}
	}
	addresses, err := m.addresses()
	if err != nil {
		return err
	}
	possible, err := ebpf.PossibleCPU()
	if err != nil {
		return fmt.Errorf("count CPUs: %w", err)
	}
	states := make([]countersCpuState, possible)
	for _, cpu := range m.events.CPUs {
		for i := range m.options.Events {
			if m.kinds[i] == kindMemory {
				states[cpu].Addresses[i] = addresses[m.events.descriptor(cpu, i)]
			}
		}
	}
	if err := m.collection.Maps["cpus"].Update(uint32(0), states, ebpf.UpdateAny); err != nil {
		return fmt.Errorf("tell programs where events count: %w", err)
	}
	return nil
}

// hand makes the map of an event that a helper reads.
func (m *Meter) hand(i int) error {
	onCPUs, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerfEventArray})
	if err != nil {
		return err
	}
	m.handed = append(m.handed, onCPUs) // the kernel takes its events out when nobody of user space has it
	for _, cpu := range m.events.CPUs {
		if descriptor := m.events.descriptor(cpu, i); descriptor >= 0 { // a hybrid CPU has other kinds of cores
			if err := onCPUs.Update(uint32(cpu), uint32(descriptor), ebpf.UpdateAny); err != nil {
				return err
			}
		}
	}
	return m.collection.Maps["counters"].Update(uint32(i), onCPUs, ebpf.UpdateAny)
}

// addresses finds, by descriptor, where the kernel keeps our events.
func (m *Meter) addresses() (map[int]uint64, error) {
	wanted := false
	for i := range m.options.Events {
		wanted = wanted || m.kinds[i] == kindMemory
	}
	if !wanted {
		return nil, nil
	}
	found, err := bpf.Walk[countersEventAddress](m.collection, "addresses")
	if err != nil {
		return nil, err
	}
	byDescriptor := map[int]uint64{}
	for _, each := range found {
		byDescriptor[int(each.Descriptor)] = each.Address
	}
	for i := range m.options.Events {
		for _, cpu := range m.events.CPUs {
			if m.kinds[i] == kindMemory && byDescriptor[m.events.descriptor(cpu, i)] == 0 {
				return nil, fmt.Errorf("find where the kernel counts %s on CPU %d: its descriptor is not among ours",
					m.options.Events[i].Name, cpu)
			}
		}
	}
	return byDescriptor, nil
}

// Close ends the counting.
func (m *Meter) Close() {
	bpf.CloseLinks(m.links)
	m.links = nil
	if m.collection != nil {
		m.collection.Close()
	}
	for _, each := range m.handed {
		each.Close()
	}
	m.events.Close()
}

// errNotBegun is of a meter that is read before Begin.
var errNotBegun = errors.New("read counters: counting has not begun")
