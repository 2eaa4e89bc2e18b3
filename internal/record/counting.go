package record

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"culprit/internal/host"
	"culprit/internal/monitor"
	"culprit/recording"
)

// countingFact tells what those do who hold perf events: for whom, how many, which. It begins like the fact that tells
// how many they hold.
const countingFact = "tracers.perf.counting"

// countingTold bounds how many monitors the fact tells of.
const countingTold = 8

// counting remembers what others count, for as long as they hold as many events: looking takes a tenth of a second.
type counting struct {
	held  string
	value string
}

// fact looks where others than recorders hold perf events.
func (c *counting) fact(tracers []host.Tracer) recording.Fact {
	var held strings.Builder
	ours := []int{os.Getpid(), os.Getppid()}
	for i := range tracers {
		switch t := &tracers[i]; {
		case t.Name == recording.RecorderComm || t.Name == "culprit":
			ours = append(ours, t.Pid)
		case t.PerfEvents > 0:
			fmt.Fprintf(&held, "%d:%d ", t.Pid, t.PerfEvents)
		}
	}
	if held.String() != c.held || c.value == "" {
		c.held, c.value = held.String(), "none"
		if c.held != "" {
			c.value = described(ours)
		}
	}
	return recording.Fact{Name: countingFact, Value: c.value, Source: "perf events of all processes"}
}

// described says it without numbers of processes, which differ from run to run.
func described(ours []int) string {
	found, err := monitor.Find(ours...)
	if err != nil {
		return "not known"
	}
	var texts []string
	for i := range found {
		if text := found[i].Text(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts[:min(len(texts), countingTold)], "; ")
}
