package host

import (
	"slices"
	"testing"

	"culprit/recording"
)

// What facts tell of tracers comes back out of them, but for pids and details; of several
// recordings, the most that any tells.
func TestTracersComeBackOutOfFacts(t *testing.T) {
	facts := TracerFacts([]Tracer{{Pid: 7, Name: "perf", PerfEvents: 4},
		{Pid: 9, Name: "bpftrace", BPFPrograms: 2, BPFLinks: 1, PerfEvents: 1},
		{Name: "ftrace", Ftrace: true, Details: []string{"events sched:sched_switch"}},
		{Pid: 11, Name: "strace", Ptraced: []int{12}}})
	facts = append(facts, TracerFacts([]Tracer{{Pid: 7, Name: "perf", PerfEvents: 6}})...)
	facts = append(facts, recording.Fact{Name: "tracers.perf", Value: "cut ×"},
		recording.Fact{Name: "target.tracer", Value: "strace"})
	var texts []string
	for _, tracer := range TracersIn(facts) {
		texts = append(texts, tracer.String())
	}
	want := []string{"bpftrace: 1 perf event, 2 BPF programs", "ftrace: tracing switched on",
		"perf: 6 perf events", "strace: 1 process under ptrace"}
	if !slices.Equal(texts, want) {
		t.Errorf("%q\nwant %q", texts, want)
	}
	if none := TracersIn(TracerFacts(nil)); len(none) != 0 {
		t.Errorf("no tracers are %+v", none)
	}
}

func TestSampledHertz(t *testing.T) {
	for value, want := range map[string]float64{
		"none": 0, "": 0, "perf counts 5 events of 1 process: cpu-clock": 0,
		"perf samples 1 event of 1 process, 20000 times a second: cpu-clock":                                     20000,
		"a counts 2 events of 1 process: cs, x; perf samples 2 events of 3 processes, 99 times a second: cycles": 198,
		"perf samples 1 event of 1 process: context-switches":                                                    0,
		"perf samples 1 event of 1 process: cs; b samples 1 event of 1 process, 50 times a second: cs":           50,
		"perf samples 99999999999999999999 events, 1e9 times a second: cs":                                       0,
	} {
		if got := SampledHertz(value); got != want {
			t.Errorf("%q is %v samples a second, want %v", value, got, want)
		}
	}
}
