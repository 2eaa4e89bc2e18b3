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

// What recorders of this program hold is none of the others' tracers, and does not hide those.
func TestForeignTracers(t *testing.T) {
	for value, want := range map[string]string{
		"none": "", "culprit ×2, culprit-record ×300": "", "culprit-record ×300, perf ×6": "perf ×6",
		"perf ×6": "perf ×6", "culprit-recorder ×1": "culprit-recorder ×1", "": "",
	} {
		if got := Foreign(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	if !OfTracers("tracers.bpf") || OfTracers("tracers.perf.counting") {
		t.Error("which facts count tracers is not known")
	}
}
