package report

import (
	"culprit/internal/trial"
	"fmt"
	"maps"
	"slices"
	"strings"

	"culprit/internal/compare/units"
	"culprit/internal/investigate"
)

// perOf is what the amounts of a case are per: the one source of that word for the terminal and for
// the page.
func perOf(c *investigate.Case) string {
	if c.Per == "" {
		return units.PerRun
	}
	return visible(c.Per, 60)
}

// pieceOf is what one of the measured pieces of a case is called.
func pieceOf(c *investigate.Case) string {
	if perOf(c) == units.PerRun {
		return "run"
	}
	return "recording"
}

func costOf(c *investigate.Case) []string {
	lines := []string{}
	of := c.Recorder
	switch {
	case known(c.RecordingCost):
		cost := *c.RecordingCost
		lines = append(lines, fmt.Sprintf("Recording changed %s by %s (%s); the trials that decide ran without it",
			metricNoun(c.Metric.Name), signed(cost.Ratio-1), signedInterval(cost)))
	case of.OfTargetCPUS > 0 || of.OfTargetWallS > 0:
		lines = append(lines, fmt.Sprintf("Recording itself took %s time of the target per %s, as far as is seen; "+
			"no amount above holds it", takenWords(of), perOf(c)))
	default:
		lines = append(lines, "What recording cost is unknown: no run with and one without the recorder to compare")
	}
	if c.Recorder.CPUS > 0 || c.Recorder.StartCPUS > 0 {
		lines = append(lines, fmt.Sprintf("The recorder used %s of CPU to start and %s while recording",
			amount(c.Recorder.StartCPUS, "s"), amount(c.Recorder.CPUS, "s")))
	}
	for _, loss := range c.Recorder.Losses {
		if loss.Count > 0 {
			lines = append(lines, "Lost: "+digits(float64(loss.Count))+" "+visible(loss.What, nameRunesMax))
		}
	}
	return lines
}

// alsoSeen says what was strange but small, with its cost.
func alsoSeen(c *investigate.Case) []string {
	lines := []string{}
	for _, seen := range c.AlsoSeen {
		text := fmt.Sprintf("%s over %s, in %s: %s (%s), %s in all, %s of the wall time", plural(seen.Stalls, "stall"),
			amount(seen.Shortest, "s"), visible(seen.Call, 40), visible(seen.Function, nameRunesMax),
			visible(string(seen.Cause), 60), amount(seen.Seconds, "s"), percent(seen.Share))
		if seen.Stalls > 1 {
			text += ", the longest " + amount(seen.Longest, "s")
		}
		if seen.Object != "" {
			text += ", " + visible(seen.Object, nameRunesMax)
		}
		lines = append(lines, text)
	}
	return lines
}

// takenWords says what recording took: "12 ms of CPU and 15 ms of wall time", which need not be
// both.
func takenWords(of investigate.RecorderCost) string {
	var parts []string
	if of.OfTargetCPUS > 0 {
		parts = append(parts, amount(of.OfTargetCPUS, "s")+" of CPU")
	}
	if of.OfTargetWallS > 0 {
		parts = append(parts, amount(of.OfTargetWallS, "s")+" of wall")
	}
	return strings.Join(parts, " and ")
}

func hostLine(host investigate.Host) string {
	parts := []string{}
	for _, part := range []string{host.Name, host.CPU, host.Kernel, host.Hypervisor} {
		if part != "" {
			parts = append(parts, visible(part, 80))
		}
	}
	if host.CPUs > 0 {
		parts = append(parts, plural(host.CPUs, "CPU"))
	}
	if host.MemoryBytes > 0 {
		parts = append(parts, amount(float64(host.MemoryBytes), "bytes"))
	}
	if host.ClockSource != "" {
		parts = append(parts, "clock source "+visible(host.ClockSource, 40))
	}
	return strings.Join(parts, " · ")
}

// leftOutWords says which trials do not count; empty where all do.
type leftOutWords struct {
	Count string `json:"count"` // "2 of 26 trials left out"
	Why   string `json:"why"`   // by reason
}

func (l leftOutWords) String() string {
	if l.Why == "" {
		return l.Count
	}
	return l.Count + ": " + l.Why
}

// leftOutOf counts the trials that do not count by the reason they carry, without the amounts,
// which differ from trial to trial: the page lists those.
func leftOutOf(c *investigate.Case) leftOutWords {
	reasons := map[string]int{}
	total, out := 0, 0
	for _, run := range c.Trials {
		if run.Kind == trial.KindWarmup {
			continue
		}
		total++
		if run.Valid {
			continue
		}
		out++
		if run.LeftOut != nil {
			reasons[visible(run.LeftOut.Short(), 120)]++
		}
	}
	if out = max(out, c.Excluded); out == 0 {
		return leftOutWords{}
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", reason, reasons[reason]))
	}
	return leftOutWords{Count: fmt.Sprintf("%d of %s left out", out, plural(max(total, out), "trial")),
		Why: strings.Join(parts, "; ")}
}
