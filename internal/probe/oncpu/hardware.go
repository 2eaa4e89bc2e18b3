package oncpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/counters/event"
	"culprit/internal/probe/watchpoint"
	"culprit/recording"
)

// Where the processor samples accesses to memory itself, it tells who touches what: of threads
// whose stores retire before any sample of the clock meets them, and of instructions that overwrite
// their operand. How long it takes the clock's samples tell alone: an access that was sampled
// stands for no time. Such a sample is as good as a hit of a debug register, and costs the thread
// no trap of its own.

const (
	maxObserved   = 1 << 15 // samples of the processor in one window
	maxHitsOfLine = 64      // words and threads of one line
)

// memorySource is one maker's way.
type memorySource struct {
	name   string // as its maker calls it
	events []string
	// packets: it writes them to a buffer instead of running a program (spe.go).
	packets bool
}

// memorySources: precise events of Intel, on hybrid CPUs those of the fast cores (since Sapphire
// Rapids a load whose level of the cache is asked for needs mem-loads-aux beside it, one whose
// address is asked for does not: intel_pmu_hw_config, Linux 61b985e3e775); instruction-based
// sampling of AMD; statistical profiling of Arm, by an event for each kind of core.
var memorySources = []memorySource{
	{name: "PEBS", events: []string{"cpu/mem-loads/", "cpu/mem-stores/"}},
	{name: "PEBS", events: []string{"cpu_core/mem-loads/", "cpu_core/mem-stores/"}},
	{name: "IBS", events: []string{"ibs_op/cnt_ctl=0/"}},
	{name: "SPE", packets: true, events: []string{"arm_spe_0/load_filter=1,store_filter=1,jitter=1/",
		"arm_spe_1/load_filter=1,store_filter=1,jitter=1/"}},
}

// sourcesOf are those to try.
func sourcesOf(options bpf.Options) []memorySource {
	if options.MemoryBy != "" {
		return []memorySource{{name: "a test", events: []string{options.MemoryBy}}}
	}
	return memorySources
}

// memorySampling is the processor's sampling of memory, where it is on.
type memorySampling struct {
	by     string // its name and events: "PEBS (cpu/mem-loads/, cpu/mem-stores/)"
	events []*bpf.PerfEvents
	spe    *packetReader // nil: the processor writes no packets
}

// foundSource is a source that the host has, with its events.
type foundSource struct {
	memorySource
	list event.List
}

// findMemory looks for the first source that the host has; nil: it has none, as most virtual
// machines.
func findMemory(sources []memorySource, host event.Source) *foundSource {
	for _, source := range sources {
		found := &foundSource{memorySource: memorySource{name: source.name, packets: source.packets}}
		for _, name := range source.events {
			if list, err := event.Parse(name, host); err == nil && len(list) == 1 {
				found.list, found.events = append(found.list, list[0]), append(found.events, name)
			}
		}
		if len(found.list) > 0 {
			return found
		}
	}
	return nil
}

// openMemory opens what was found; nil where none of it can be: the processor lacks it after all,
// or this user may not.
func openMemory(program *ebpf.Program, found *foundSource, hz int) *memorySampling {
	if found == nil {
		return nil
	}
	sampling, opened := &memorySampling{}, []string(nil)
	if found.packets {
		sampling.spe, opened = openPackets(found, hz)
	} else {
		sampling.events, opened = openSamples(program, found, hz)
	}
	if len(opened) == 0 {
		return nil
	}
	sampling.by = fmt.Sprintf("%s (%s)", found.name, strings.Join(opened, ", "))
	return sampling
}

// openSamples opens the events that run the program, and says which could be.
func openSamples(program *ebpf.Program, found *foundSource, hz int) (all []*bpf.PerfEvents, opened []string) {
	for i := range found.list {
		one := &found.list[i]
		if events, err := bpf.OpenMemory(program, one.Attributes(), one.CPUs, uint64(hz)); err == nil {
			all, opened = append(all, events), append(opened, found.events[i])
		}
	}
	return all, opened
}

func (m *memorySampling) enable() error {
	if m == nil {
		return nil
	}
	for _, one := range m.events {
		if err := one.Enable(); err != nil {
			return err
		}
	}
	return m.spe.enable()
}

func (m *memorySampling) disable() {
	if m == nil {
		return
	}
	m.spe.disable()
	for _, one := range m.events {
		_ = one.Disable() // fails only on a closed descriptor
	}
}

// sampled reports whether the processor told anything in a window, and counts what it could not.
func (m *memorySampling) sampled(window *bpf.Window) bool {
	return m != nil && (m.spe == nil || m.spe.tell(window))
}

func (m *memorySampling) close() {
	if m == nil {
		return
	}
	m.spe.close()
	for _, one := range m.events {
		one.Close()
	}
}

// observe takes over what the processor saw a thread touch.
func (l *looker) observe(sample *oncpuOperand) {
	found, ok := accessBy(sample)
	if !ok {
		return
	}
	if l.observed == maxObserved || len(l.seen) == maxOperands {
		l.over++
		return
	}
	l.observed++
	l.keep(sample, found)
	one := &l.seen[len(l.seen)-1]
	one.observed = true
	l.lines[l.common.lineOf(one.pid, one.address)].hit(one)
	l.went.add(codeOf{one.pid, one.code}, one.tid, found)
}

// hit books an access as a debug register's hit.
func (h *hotLine) hit(one *seenOperand) {
	word := watchpoint.Word{Address: one.address, Size: int(one.size)}
	at := slices.IndexFunc(h.hits, func(seen watchpoint.Seen) bool { return seen.Tid == one.tid && seen.Word == word })
	if at < 0 {
		if len(h.hits) == maxHitsOfLine {
			return
		}
		at = len(h.hits)
		h.hits = append(h.hits, watchpoint.Seen{Tid: one.tid, Word: word, Tasks: map[uint64]int64{}})
	}
	seen := &h.hits[at]
	seen.Touches++
	if one.write {
		seen.Writes++
	}
	if one.task != 0 {
		seen.Tasks[one.task]++
	}
}

// addObserved adds who the processor saw at lines that are sampled by the clock as well: without
// samples of its own, a user of the line is one.
func (l *looker) addObserved(window *bpf.Window, words map[word]touched, lines map[lineOf]*sharers,
	golang map[int32]bool) {
	for i := range l.seen {
		one := &l.seen[i]
		in := l.common.lineOf(one.pid, one.address)
		if !one.observed || lines[in] == nil || one.time < window.StartNs || one.time >= window.EndNs {
			continue
		}
		if golang[one.pid] && isOfTask("", &one.access) {
			continue
		}
		at := word{in: in, pid: one.pid, tid: one.tid, block: one.block, address: one.address, size: one.size,
			write: one.write, stack: recording.NoStack}
		if golang[one.pid] {
			at.task = one.task
		}
		if _, known := words[at]; !known {
			words[at] = touched{}
		}
		lines[in] = lines[in].with(&at)
	}
}
