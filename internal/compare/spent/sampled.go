package spent

import (
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// Sampled are the target's samples by a counter of the CPU, recording.SignalCycles or
// SignalInstructions. Seconds of a piece is how many events they stand for, and Count the sum of
// the squares of what each stands for: from both follows how many samples of equal weight would
// tell as much.
func Sampled(r *timeline.Run, signal string) (pieces []Piece) {
	for i := range r.Recording.Samples {
		sample := &r.Recording.Samples[i]
		t := r.Thread(sample.Tid)
		if sample.Signal != signal || !sample.Target || sample.Count <= 0 || sample.ValueNs <= 0 ||
			!recording.Plausible(sample.Count, sample.ValueNs) || t == nil || t.Pid != sample.Pid {
			continue
		}
		events := float64(sample.ValueNs)
		pieces = append(pieces, Piece{Key: Key{Kind: Running, Stack: r.Stack(sample.Stack)}, Seconds: events,
			Count: events * events / float64(sample.Count)})
	}
	return pieces
}
