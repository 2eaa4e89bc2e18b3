package recording

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// follow has a manifest tell of one more part.
func follow(whole, next Manifest, first bool) Manifest {
	for i := range next.Gaps {
		next.Gaps[i].TimeNs += whole.WindowNs
	}
	for i := range next.Thinned {
		next.Thinned[i].TimeNs += whole.WindowNs
	}
	for i := range next.Restarts {
		next.Restarts[i].TimeNs += whole.WindowNs
	}
	if first {
		next.Held = laterHeld(nil, next.Held, 0)
		return next
	}
	whole.Held = laterHeld(whole.Held, next.Held, whole.WindowNs)
	whole.Gaps = append(whole.Gaps, next.Gaps...)
	whole.Thinned = append(whole.Thinned, next.Thinned...)
	whole.Restarts = append(whole.Restarts, next.Restarts...)
	whole.Watched = joinWatched(whole, next)
	whole.WindowNs += next.WindowNs
	whole.Losses = addLosses(whole.Losses, next.Losses)
	whole.Estimated = addEstimates(whole.Estimated, next.Estimated)
	whole.Probes = laterStatus(whole.Probes, next.Probes)
	whole.Cost = addCost(whole.Cost, next.Cost)
	whole.BlindSpots = AddBlindSpots(whole.BlindSpots, next.BlindSpots...)
	return whole
}

func addLosses(losses, more []Loss) []Loss {
	for _, loss := range more {
		at := slices.IndexFunc(losses, func(l Loss) bool { return l.What == loss.What })
		switch {
		case loss.Count <= 0:
		case at >= 0:
			losses[at].Count += loss.Count
		default:
			losses = append(losses, loss)
		}
	}
	return losses
}

func addEstimates(estimates, more []Estimate) []Estimate {
	for _, estimate := range more {
		at := slices.IndexFunc(estimates, func(e Estimate) bool { return e.What == estimate.What })
		if at < 0 {
			estimates = append(estimates, estimate)
			continue
		}
		estimates[at].Count += estimate.Count
		estimates[at].Of += estimate.Of
	}
	return estimates
}

// laterStatus has a probe on that was on in all parts: one that saw some of them would make the
// whole look less.
func laterStatus(statuses, later []ProbeStatus) []ProbeStatus {
	for _, status := range later {
		at := slices.IndexFunc(statuses, func(s ProbeStatus) bool { return s.Name == status.Name })
		switch {
		case at < 0:
			statuses = append(statuses, status)
		case statuses[at].On && !status.On:
			statuses[at] = status
		}
	}
	return statuses
}

func addCost(cost, more Cost) Cost {
	cost.RecorderCPUNs += more.RecorderCPUNs
	cost.RecorderNs += more.RecorderNs
	cost.Looks += more.Looks
	cost.BPFSampledNs += more.BPFSampledNs
	for name, ns := range more.BPFNs {
		if cost.BPFNs == nil {
			cost.BPFNs = map[string]int64{}
		}
		cost.BPFNs[name] += ns
	}
	return cost
}

// wholeSpots has the losses of the whole, and how its requests were watched, in place of those of
// its parts.
func wholeSpots(manifest Manifest) []BlindSpot {
	spots := slices.DeleteFunc(slices.Clone(manifest.BlindSpots), func(spot BlindSpot) bool {
		return spot.Kind == BlindLost || spot.Kind == BlindSliced
	})
	if manifest.Watched != nil {
		spots = append(spots, BlindSpot{Kind: BlindSliced, What: manifest.Watched.String()})
	}
	return append(withRestarts(spots, manifest.Restarts), Lost(manifest.Losses)...)
}

// SelfCheck is the effect of recording on a rate of the target, from blocks with the recorder
// attached and blocks with it detached, in random order.
type SelfCheck struct {
	// Rate is what was counted: "system calls that write per second".
	Rate string `json:"rate"`
	// Rejected is what was counted as well, and why it was not used.
	Rejected []string `json:"rejected"`
	Outcome  string   `json:"outcome"` // "slower", "faster", "same" or "undecided"
	// Ratio is the rate while recorded by the rate while not; 0: not known.
	Ratio      float64 `json:"ratio,omitempty"`
	Low        float64 `json:"low,omitempty"`  // of the interval
	High       float64 `json:"high,omitempty"` // of the interval
	Confidence float64 `json:"confidence"`     // of the interval, over all looks
	Pairs      int     `json:"pairs"`          // of blocks
	BlockNs    int64   `json:"block_ns"`       // length of a block
	// MoreNs is about how much longer an undecided check would take; 0: not known.
	MoreNs int64  `json:"more_ns,omitempty"`
	Why    string `json:"why,omitempty"` // undecided without a ratio: what was missing
}

// String says in one line what a recording did to its target.
func (c *SelfCheck) String() string {
	effect := fmt.Sprintf("%s × %.3f while recorded (%.0f %% between %.3f and %.3f, %d pairs of blocks of %v)", c.Rate,
		c.Ratio, 100*c.Confidence, c.Low, c.High, c.Pairs, time.Duration(c.BlockNs).Round(10*time.Millisecond))
	if c.Ratio == 0 {
		effect = c.Why
	}
	text := c.Outcome + ": " + effect
	if c.MoreNs > 0 {
		text += fmt.Sprintf("; about %v more might decide", time.Duration(c.MoreNs).Round(time.Second))
	}
	return text
}

// Programs lists the names of a cost's programs, the dearest first.
func (c Cost) Programs() []string {
	return slices.SortedFunc(maps.Keys(c.BPFNs), func(a, b string) int {
		if c.BPFNs[a] != c.BPFNs[b] {
			return int(max(-1, min(1, c.BPFNs[b]-c.BPFNs[a])))
		}
		return strings.Compare(a, b)
	})
}
