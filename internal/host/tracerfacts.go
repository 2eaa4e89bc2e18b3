package host

import (
	"sort"
	"strconv"
	"strings"

	"culprit/recording"
)

// How a fact tells of tracers: "bpftrace ×2, perf ×6".
const (
	noTracer    = "none"
	tracerTimes = " ×"
	tracerComma = ", "
)

// tracerKinds are the facts that tell of tracers, and what each counts.
var tracerKinds = []struct {
	name, source string
	count        func(*Tracer) int
	set          func(*Tracer, int)
}{
	{"tracers.bpf", "/proc/*/fd", func(t *Tracer) int { return max(t.BPFPrograms, t.BPFLinks) },
		func(t *Tracer, n int) { t.BPFPrograms = n }},
	{"tracers.ftrace", "/sys/kernel/tracing", func(t *Tracer) int {
		if t.Ftrace {
			return len(t.Details)
		}
		return 0
	}, func(t *Tracer, _ int) { t.Ftrace = true }},
	{"tracers.perf", "/proc/*/fd", func(t *Tracer) int { return t.PerfEvents },
		func(t *Tracer, n int) { t.PerfEvents = n }},
	{"tracers.ptrace", "/proc/*/status", func(t *Tracer) int { return len(t.Ptraced) },
		func(t *Tracer, n int) { t.Ptraced = make([]int, n) }},
}

// TracerFacts tells the same as facts that can be compared between recordings:
// names of programs and counts, no pids.
func TracerFacts(tracers []Tracer) []recording.Fact {
	var facts []recording.Fact
	for _, kind := range tracerKinds {
		counts := map[string]int{}
		for i := range tracers {
			if number := kind.count(&tracers[i]); number > 0 {
				counts[tracers[i].Name] += number
			}
		}
		value := noTracer
		var parts []string
		for name, number := range counts {
			parts = append(parts, name+tracerTimes+strconv.Itoa(number))
		}
		if sort.Strings(parts); len(parts) > 0 {
			value = clean(strings.Join(parts, tracerComma), valueLimit)
		}
		facts = append(facts, recording.Fact{Name: kind.name, Value: value, Source: kind.source})
	}
	return facts
}

// TracersIn are the tracers that facts of recordings tell of, by name, each with the most that any
// of them says. Pids and details are not known of them.
func TracersIn(facts []recording.Fact) []Tracer {
	byName := map[string]*Tracer{}
	for _, kind := range tracerKinds {
		for _, fact := range facts {
			if fact.Name != kind.name || fact.Value == noTracer {
				continue
			}
			for _, part := range strings.Split(fact.Value, tracerComma) {
				name, times, _ := strings.Cut(part, tracerTimes)
				number, err := strconv.Atoi(times)
				if err != nil || number <= 0 {
					continue // cut off, or of a damaged file
				}
				number = min(number, processLimit)
				if byName[name] == nil {
					byName[name] = &Tracer{Name: name}
				}
				if tracer := byName[name]; number > kind.count(tracer) {
					kind.set(tracer, number)
				}
			}
		}
	}
	tracers := make([]Tracer, 0, len(byName))
	for _, tracer := range byName {
		tracers = append(tracers, *tracer)
	}
	sort.Slice(tracers, func(i, j int) bool { return tracers[i].Name < tracers[j].Name })
	return tracers
}

// OfTracers tells a fact that TracerFacts makes.
func OfTracers(name string) bool {
	for _, kind := range tracerKinds {
		if kind.name == name {
			return true
		}
	}
	return false
}

// Foreign is what a fact says of the tracers of others than recorders of this program, which come
// and go with another recording; "" where there are none.
func Foreign(value string) string {
	var parts []string
	for _, part := range strings.Split(value, tracerComma) {
		name, _, _ := strings.Cut(part, tracerTimes)
		if tracer := (&Tracer{Name: name}); name != noTracer && !tracer.OfRecorder() {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, tracerComma)
}
