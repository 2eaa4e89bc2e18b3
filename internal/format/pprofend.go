package format

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"culprit/recording"
)

func (p *pprofReader) finish() (*recording.Recording, error) {
	rec := weighed(p.rows, p.names)
	rec.Facts = p.facts
	lose(rec, "pprof: negative values (a difference of two profiles)", p.negative)
	m := &rec.Manifest
	m.StartedAt = p.startedAt
	if p.periodNs > 0 {
		m.Hz = int(math.Round(1e9 / float64(p.periodNs)))
	}
	if p.mainFile != "" && p.mainFile != "." {
		m.Target.Command = p.mainFile
	}
	m.Metrics = map[string]float64{"cpu": cpuSeconds(rec)}
	setWindow(rec, p.rows, 0)
	if p.lengthNs > 0 {
		m.WindowNs = clampAmount(p.lengthNs)
		m.Metrics["wall"] = float64(m.WindowNs) / 1e9
	}
	m.BlindSpots = append(lacks(p.lacks(rec)...), m.BlindSpots...)
	return rec, nil
}

// lacks says what the profile does not hold.
func (p *pprofReader) lacks(rec *recording.Recording) []string {
	spots := []string{"imported from pprof: a profile has no times, no waits one by one, no system calls, no settings"}
	return append(spots, keptForExport(rec, p.labels)...)
}

// keptForExport says what a profile holds beside CPU time and waits, and which labels have no
// place.
func keptForExport(rec *recording.Recording, labels map[string]bool) []string {
	var spots []string
	signals := signalsOf(rec)
	others := slices.DeleteFunc(slices.Clone(signals), func(signal string) bool {
		return signal == recording.SignalCPU || signal == recording.SignalOffCPU
	})
	if !slices.Contains(signals, recording.SignalCPU) {
		spots = append(spots, "the profile holds no CPU time: "+list(signals)+" is kept for export, not explained")
	} else if len(others) > 0 {
		spots = append(spots, list(others)+" is kept for export, not explained")
	}
	if len(labels) > 0 {
		var names []string
		for name := range labels {
			names = append(names, name)
		}
		slices.Sort(names)
		spots = append(spots, fmt.Sprintf("labels are not kept: %s", list(names)))
	}
	return spots
}

// signalsOf names the signals of a recording's target, each once, in their order.
func signalsOf(rec *recording.Recording) []string {
	var names []string
	known := map[string]bool{}
	for i := range rec.Samples {
		if name := rec.Samples[i].Signal; rec.Samples[i].Target && !known[name] {
			known[name] = true
			names = append(names, name)
		}
	}
	return names
}

// list names a few for people.
func list(names []string) string {
	const shown = 8
	if len(names) == 0 {
		return "nothing"
	}
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
