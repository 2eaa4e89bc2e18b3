package counters

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"culprit/internal/probe/counters/event"
)

// kindsOf says how the program reads each event.
func kindsOf(list event.List) (kinds [event.Max]uint8) {
	direct, queues := readsDirectly(), findsQueues()
	for i := range list {
		e := &list[i]
		switch {
		case e.Kind == event.Clock:
			kinds[i] = kindClock
		case direct && queues && isSwitches(e):
			kinds[i] = kindSwitches
		case direct && (e.Kind == event.Software || e.Kind == event.Tracepoint):
			kinds[i] = kindMemory
		default:
			kinds[i] = kindHelper
		}
	}
	return kinds
}

// isSwitches tells whether an event counts each switch of a CPU, as its run queue does. In a group
// it stays an event: it counts while the others of the group do.
func isSwitches(e *event.Event) bool {
	alone := e.Bits == 0 && e.Group < 0
	return alone && e.Type == unix.PERF_TYPE_SOFTWARE && e.Config == unix.PERF_COUNT_SW_CONTEXT_SWITCHES
}

// readsDirectly tells whether programs may read the kernel's memory by address: since Linux 6.2.
func readsDirectly() bool {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return false
	}
	var function *btf.Func
	return kernel.TypeByName("bpf_rdonly_cast", &function) == nil
}

// findsQueues tells whether a task leads to the run queue of its CPU, and this counts switches:
// where groups of tasks are scheduled (CONFIG_FAIR_GROUP_SCHED, as distributions have it).
func findsQueues() bool {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return false
	}
	for _, one := range [][2]string{{"sched_entity", "cfs_rq"}, {"cfs_rq", "rq"}, {"rq", "nr_switches"}, {"rq", "cpu"}} {
		if !hasMember(kernel, one[0], one[1]) {
			return false
		}
	}
	return true
}

// hasMember tells whether a struct of the kernel has a member of that name.
func hasMember(kernel *btf.Spec, of, name string) bool {
	var found *btf.Struct
	return kernel.TypeByName(of, &found) == nil &&
		slices.ContainsFunc(found.Members, func(one btf.Member) bool { return one.Name == name })
}

// countSwitches adds what run queues counted, up to the last booking of each CPU, to what the
// events did.
func (m *Meter) countSwitches() error {
	var states []countersCpuState
	for i := range m.options.Events {
		if m.kinds[i] != kindSwitches {
			continue
		}
		if states == nil {
			if err := m.collection.Maps["cpus"].Lookup(uint32(0), &states); err != nil {
				return fmt.Errorf("read what run queues counted: %w", err)
			}
		}
		for _, cpu := range m.events.CPUs {
			if states[cpu].Addresses[i] == 0 {
				return fmt.Errorf("the run queue of CPU %d was not found: %s cannot be counted; leave it out", cpu,
					m.options.Events[i].Name)
			}
			m.counted[cpu][i].Value = states[cpu].Last[i].Value
		}
	}
	return nil
}
