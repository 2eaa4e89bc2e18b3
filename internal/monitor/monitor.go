// Package monitor tells who on this host counts or samples others, how, and what each adds to a
// switch, a system call and a page fault, measured on this host: the same events are opened once
// more, for two processes of culprit's own, by turns with and without.
//
//	found, err := monitor.Find(os.Getpid())
//	err = monitor.Price(ctx, found)
//
// It refuses nothing but says of each monitor why it has no price: one that takes samples is not
// repeated.
package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/probe/monitors"
	"culprit/internal/stat"
)

// The scopes of a monitor's events: what they are for says what a switch costs.
const (
	ScopeCPU     = "cpu"     // stay on at a switch
	ScopeProcess = "process" // are programmed anew at each switch to and from the process
	ScopeCgroup  = "cgroup"  // at each switch from one cgroup to another
)

// What a monitor does with its events.
const (
	Counts  = "counts"
	Samples = "samples"
	Runs    = "runs BPF programs"
)

// Monitor is what one process holds of one kind.
type Monitor struct {
	Pid   int    `json:"pid"`
	Name  string `json:"name"`
	Scope string `json:"scope"`
	Does  string `json:"does"`
	// Events are their names, each once. Open is how many descriptors there are, Each how many of
	// them one CPU has to change for one process or cgroup.
	Events []string `json:"events"`
	Open   int      `json:"open"`
	Each   int      `json:"each"`
	// Targets is how many processes or cgroups it is for, 0 for CPUs.
	Targets int    `json:"targets,omitempty"`
	Hertz   uint64 `json:"hertz,omitempty"`
	// Counted is the least part of the time in which one of its events had a counter: below 1 they
	// took turns, and its numbers are estimates.
	Counted float64 `json:"counted_share"`
	// Costs, where they were measured; Why not, where they were not.
	Costs *Costs `json:"costs,omitempty"`
	Why   string `json:"no_costs,omitempty"`

	events []monitors.Event
}

// Costs are what a monitor adds, in ns of CPU time.
type Costs struct {
	Switch stat.Interval `json:"switch_ns"` // between two that it counts
	Call   stat.Interval `json:"call_ns"`
	Fault  stat.Interval `json:"fault_ns"`
}

// Find finds them, but for those of some processes: culprit's own.
func Find(exclude ...int) ([]Monitor, error) {
	events, err := monitors.Find(exclude...)
	if err != nil {
		return nil, err
	}
	return grouped(events), nil
}

// grouped makes one monitor of the events of a process that are of one kind.
func grouped(events []monitors.Event) []Monitor {
	type kind struct {
		pid         int
		scope, does string
	}
	byKind := map[kind][]monitors.Event{}
	for _, each := range events {
		of := kind{each.Holder, scopeOf(&each), doesOf(&each)}
		if of.scope == ScopeCPU && of.does != Runs && slices.Contains(channels, each.Name) {
			continue
		}
		byKind[of] = append(byKind[of], each)
	}
	found := make([]Monitor, 0, len(byKind))
	for of, events := range byKind {
		made := Monitor{Pid: of.pid, Name: monitors.CommOf(of.pid), Scope: of.scope, Does: of.does, Open: len(events),
			Counted: 1, events: events}
		made.sum()
		found = append(found, made)
	}
	slices.SortFunc(found, func(a, b Monitor) int {
		return cmp.Or(cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Does, b.Does))
	})
	return found
}

// channels are events at which nothing happens: a monitor has them for the ring of memory that
// comes with them. On CPUs, where they stay on at a switch, they cost nobody anything.
var channels = []string{"bpf-output", "dummy"}

func scopeOf(e *monitors.Event) string {
	switch {
	case e.Cgroup != 0:
		return ScopeCgroup
	case e.Target != 0:
		return ScopeProcess
	}
	return ScopeCPU
}

func doesOf(e *monitors.Event) string {
	switch {
	case e.Program != 0:
		return Runs
	case e.Hertz > 0 || e.Period > 0:
		return Samples
	}
	return Counts
}

// sum fills in what all events together tell.
func (m *Monitor) sum() {
	targets := map[uint64]bool{}
	for i := range m.events {
		each := &m.events[i]
		if !slices.Contains(m.Events, each.Name) {
			m.Events = append(m.Events, each.Name)
		}
		if target := each.Cgroup + uint64(each.Target); target != 0 {
			targets[target] = true
		}
		m.Hertz = max(m.Hertz, each.Hertz)
		if each.Enabled > 0 {
			m.Counted = min(m.Counted, float64(each.Running)/float64(each.Enabled))
		}
	}
	slices.Sort(m.Events)
	m.Targets, m.Each = len(targets), len(m.changed())
}

// changed are the events that one CPU changes for one target: those of the thread, or of the cgroup
// and CPU, that has most.
func (m *Monitor) changed() []monitors.Event {
	type place struct {
		thread, cpu int
		cgroup      uint64
	}
	byPlace := map[place][]monitors.Event{}
	var most []monitors.Event
	for _, each := range m.events {
		at := place{each.Thread, each.CPU, each.Cgroup}
		byPlace[at] = append(byPlace[at], each)
		if len(byPlace[at]) > len(most) {
			most = byPlace[at]
		}
	}
	return most
}

// Of tells whether it counts or samples one of these processes, or one of these cgroups by id.
func (m *Monitor) Of(pids []int, cgroups []uint64) bool {
	return slices.ContainsFunc(m.events, func(each monitors.Event) bool {
		return each.Target != 0 && slices.Contains(pids, each.Target) ||
			each.Cgroup != 0 && slices.Contains(cgroups, each.Cgroup)
	})
}

// SamplesHz is how many samples by time it takes a second of what it watches while that runs: 0
// where it samples at other events alone.
func (m *Monitor) SamplesHz() (sum uint64) {
	if m.Does != Samples {
		return 0
	}
	for _, each := range m.changed() {
		sum += min(each.Hertz, mostHertz)
	}
	return sum
}

// mostHertz is far above what any kernel lets be asked for (kernel.perf_event_max_sample_rate).
const mostHertz = 1 << 30

// Programs tells each BPF program that runs at an event of the monitor, and where that is.
func (m *Monitor) Programs(tell func(id uint32, place string)) {
	for i := range m.events {
		if each := &m.events[i]; each.Program != 0 {
			tell(each.Program, each.Name)
		}
	}
}

// shares is below which part of the time a counter was surely shared: clocks of the kernel are read
// one after another.
const shares = 0.99

// Multiplexed tells whether its events took turns at the counters.
func (m *Monitor) Multiplexed() bool { return m.Counted < shares }

// namesTold bounds how many events are told by name.
const namesTold = 6

// String says what it does: "perf (pid 12) counts 20 events of 2 cgroups: …".
func (m *Monitor) String() string { return m.Name + " (pid " + strconv.Itoa(m.Pid) + ")" + m.does() }

// Text is the same without the number of the process.
func (m *Monitor) Text() string { return m.Name + m.does() }

func (m *Monitor) does() string {
	text := " " + m.Does
	if m.Does == Runs {
		text += " at"
	}
	text += " " + amount(m.Each, "event")
	switch m.Scope {
	case ScopeCPU:
		text += " on whole CPUs"
	case ScopeProcess:
		text += " of " + amount(m.Targets, "process")
	case ScopeCgroup:
		text += " of " + amount(m.Targets, "cgroup")
	}
	if m.Hertz > 0 {
		text += fmt.Sprintf(", %d times a second", m.Hertz)
	}
	names := m.Events
	if len(names) > namesTold {
		names = append(slices.Clone(names[:namesTold]), "…")
	}
	return text + ": " + strings.Join(names, ", ")
}

func amount(number int, what string) string {
	switch {
	case number == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		return strconv.Itoa(number) + " " + what + "es"
	}
	return strconv.Itoa(number) + " " + what + "s"
}

// Lines say what it costs, and how far its numbers can be trusted.
func (m *Monitor) Lines() []string {
	var lines []string
	switch {
	case m.Costs != nil:
		lines = append(lines, m.adds()+" (measured with the same events on two processes of culprit's)")
	case m.Why != "":
		lines = append(lines, m.Why)
	}
	if m.Multiplexed() {
		lines = append(lines, fmt.Sprintf("its events share counters, one of them counted %.0f %% of the time only: the "+
			"numbers are estimates (monitor.multiplexed)", 100*m.Counted))
	}
	return lines
}

// adds tells what is surely more than nothing.
func (m *Monitor) adds() string {
	switches := map[string]string{ScopeCPU: "a switch", ScopeProcess: "a switch between two such processes",
		ScopeCgroup: "a switch from one such cgroup to another"}[m.Scope]
	var more, nothing []string
	for _, each := range []struct {
		ns stat.Interval
		to string
	}{{m.Costs.Switch, switches}, {m.Costs.Call, "a system call"}, {m.Costs.Fault, "a page fault"}} {
		if each.ns.Low > 0 {
			more = append(more, fmt.Sprintf("%.0f ns (%.0f to %.0f) to %s", each.ns.Value, each.ns.Low, each.ns.High, each.to))
		} else {
			nothing = append(nothing, each.to)
		}
	}
	if len(nothing) > 0 {
		more = append(more, "nothing that could be measured to "+strings.Join(nothing, " or "))
	}
	return "adds " + strings.Join(more, ", ")
}
