package main

import (
	"fmt"
	"strings"
	"time"

	"culprit/internal/record"
	"culprit/recording"
)

// sawOf compares what one probe saw of the test program with what the program
// did: what it saw, or why that is not enough.
func sawOf(name string, rec *recording.Recording, summary *record.Summary) (saw, why string) {
	const blind = "it was loaded and attached, but did not see "
	switch name {
	case "processes":
		starts := 0
		for _, process := range rec.Processes {
			if process.StartNs > 0 || process.Execs > 0 {
				starts++
			}
		}
		if starts < 1 {
			return "", blind + "the test program's start"
		}
		return fmt.Sprintf("%d processes", len(rec.Processes)), ""
	case "syscalls":
		calls := int64(0)
		for _, row := range rec.Syscalls {
			calls += row.Count
		}
		if calls == 0 {
			return "", blind + "one system call of the test program"
		}
		return fmt.Sprintf("%d system calls", calls), ""
	case "offcpu":
		longest := longestWait(rec)
		if longest < doctorSleep {
			return "", blind + "the test program sleep for a tenth of a second"
		}
		return fmt.Sprintf("a sleep of %d ms", longest.Milliseconds()), ""
	case "oncpu":
		if summary.Samples == 0 {
			return "", blind + "the test program compute"
		}
		return fmt.Sprintf("%d samples", summary.Samples), ""
	case "cpi":
		cycles, instructions := retired(rec)
		if cycles == 0 || instructions == 0 {
			return "", fmt.Sprintf("%sthe test program compute: %d samples by cycles, %d by instructions", blind, cycles,
				instructions)
		}
		return fmt.Sprintf("%d samples by cycles, %d by instructions", cycles, instructions), ""
	case "counters":
		for i := range rec.Counters {
			if counter := &rec.Counters[i]; counter.Name == "context-switches" && counter.Value > 0 {
				return fmt.Sprintf("%d context switches", counter.Value), ""
			}
		}
		return "", blind + "one context switch of the test program"
	case "faults", "block", "network", "kernellocks":
		return sawEvents(name, rec)
	case "requests":
		if rec.Requests == nil {
			return "", "it counted nothing"
		}
		return requestsBy(rec), "" // the test program has no socket
	case "unwinder":
		whole := summary.Samples - summary.Broken
		if whole*2 < summary.Samples || summary.Samples == 0 || !hasKind(rec, recording.KindNative) {
			return "", fmt.Sprintf("it followed %d of %d stacks of the test program to their root", whole, summary.Samples)
		}
		return fmt.Sprintf("%d of %d stacks whole", whole, summary.Samples), ""
	case "kernel symbols":
		named, all := kernelNames(rec)
		if named == 0 {
			return "", fmt.Sprintf("none of %d kernel functions on the test program's stacks has a name", all)
		}
		return fmt.Sprintf("%d of %d kernel functions named", named, all), ""
	}
	return "", ""
}

// requestsBy says how requests are followed here.
func requestsBy(rec *recording.Recording) string {
	for _, spot := range rec.Manifest.BlindSpots {
		if spot.Kind == recording.BlindCalls {
			return spot.String()
		}
	}
	return "its hooks are there"
}

// retired are how many samples by each of the two counters there are.
func retired(rec *recording.Recording) (cycles, instructions int64) {
	for i := range rec.Samples {
		switch rec.Samples[i].Signal {
		case recording.SignalCycles:
			cycles += rec.Samples[i].Count
		case recording.SignalInstructions:
			instructions += rec.Samples[i].Count
		}
	}
	return cycles, instructions
}

func longestWait(rec *recording.Recording) time.Duration {
	longest := int64(0)
	for _, wait := range rec.Waits {
		longest = max(longest, wait.BlockedNs)
	}
	return time.Duration(longest)
}

// kernelNames counts the kernel functions on stacks; those without a name have an address.
func kernelNames(rec *recording.Recording) (named, all int) {
	for _, frame := range rec.Frames {
		if frame.Kind != recording.KindKernel {
			continue
		}
		all++
		if frame.Name != "" && !strings.HasPrefix(frame.Name, "[") && !strings.Contains(frame.Name, "+0x") {
			named++
		}
	}
	return named, all
}

func hasKind(rec *recording.Recording, kind recording.FrameKind) bool {
	for _, frame := range rec.Frames {
		if frame.Kind == kind {
			return true
		}
	}
	return false
}
