package compare

import (
	"culprit/internal/code"
	"culprit/internal/compare/names"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

const (
	// namelessPart of the CPU time in subs without frames is worth a word. Chosen.
	namelessPart = 0.1
	// knownPart of the CPU time must have stacks, so that nothing large hides in the rest. Chosen.
	knownPart = 0.9
	// sampledPart of the exact CPU time must have samples, from leastSampled seconds on. Chosen: of
	// less a sampling clock sees too little to tell.
	sampledPart  = 0.5
	leastSampled = 0.02
)

// unseen says what a recording could not show of a metric.
func unseen(r *timeline.Run, metric string) (list []recording.BlindSpot) {
	note := func(kind recording.BlindKind) { list = append(list, recording.BlindSpot{Kind: kind}) }
	for _, probe := range r.Recording.Manifest.Probes {
		if !probe.On {
			list = append(list, recording.BlindSpot{Kind: recording.BlindProbe, What: probe.Name,
				Why: probe.Why})
		}
	}
	total, known, nameless := 0.0, 0.0, 0.0
	for i := range r.Recording.Samples {
		sample := &r.Recording.Samples[i]
		if sample.Signal != recording.SignalCPU || !sample.Target {
			continue
		}
		stack, value := r.Stack(sample.Stack), float64(sample.ValueNs)
		total += value
		if stack != names.None {
			known += value
		}
		if inPerlMain(r.Names, stack) {
			nameless += value
		}
	}
	if nameless > namelessPart*total {
		note(recording.BlindPerl)
	}
	exact, measured := r.Recording.Manifest.Metrics[MetricCPU]
	switch {
	case total == 0:
		note(recording.BlindNoSamples)
	case known < knownPart*total:
		note(recording.BlindNoStacks)
	case measured && exact > leastSampled && total/1e9 < sampledPart*exact:
		note(recording.BlindFewSamples)
	}
	if metric == MetricWall && len(r.Recording.Waits) == 0 {
		note(recording.BlindNoWaits)
	}
	return list
}

// inPerlMain reports whether a stack's innermost code of Perl is outside of all subs with frames.
func inPerlMain(pool *names.Pool, stack int32) bool {
	for _, frame := range pool.Up(stack) {
		switch {
		case frame.Kind == recording.KindOther && frame.File != "":
			return code.IsEntry(*frame)
		case code.RunsPerl(frame):
			return false
		}
	}
	return false
}
