package explain

import (
	"fmt"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/internal/tail"
	"culprit/recording"
)

// HoldRequests reports whether all recordings hold requests of what they are of.
func (e *Evidence) HoldRequests() bool {
	return !slices.ContainsFunc(e.both(), func(rec *recording.Recording) bool {
		_, told := units.OfRequests(rec, units.Latency)
		return !told
	})
}

// slower says why the slow requests of one side take longer; nil where no percentile was tested.
func (e *Evidence) slower(c Context) *tail.Difference {
	if c.Percentile == "" {
		return nil
	}
	return e.between(c, c.Percentile)
}

// awaited says what the requests of one side wait for, where their latency or rate was tested and
// that waiting is most of what they take longer: at other services, or for what no thread is busy
// with. It is nil where it is not.
func (e *Evidence) awaited(c Context) *tail.Difference {
	if !c.OfRequests {
		return nil
	}
	which := tail.All
	if c.Delivery {
		which = tail.Delivered
	}
	found := e.between(c, which)
	switch {
	case found == nil:
		return nil
	case found.OfPeers():
		return e.ofPeers(c, found)
	case e.busyTells(c) >= busyLeast:
		return nil
	}
	told := e.behindOthers(c, found)
	if told.OfWaits() || len(told.Suspects) > 0 && (e.worksNoMore(c) || e.isNoQueue(c, &told.Suspects[0])) {
		return told
	}
	return nil
}

// busyLeast is the part of what requests take longer that the busy time of threads accounts for at
// least where it explains them: the larger part. Of a pool that hands work from thread to thread
// none may be busy, and each request waits.
const busyLeast = 0.5

// busyTells is the part of what requests take longer that the busy time of threads accounts for; 1
// where they take no longer, or it is not known.
func (e *Evidence) busyTells(c Context) float64 {
	busier, known := e.busier(c)
	if !known || e.Work.Name != units.PerRequest {
		return 1
	}
	usual, dear := e.sides(c)
	longer := meanLatency(c, dear) - meanLatency(c, usual)
	if longer <= 0 {
		return 1
	}
	return e.Work.Unit().Amount(busier) / longer
}

// busier is by how much longer threads were busy on the dearer side, in seconds of a recording.
func (e *Evidence) busier(c Context) (seconds float64, known bool) {
	explained, err := e.Of(c.Metric)
	if err != nil || explained == nil {
		return 0, false
	}
	seconds = mean(explained.B) - mean(explained.A)
	if c.Outcome == stat.Better {
		seconds = -seconds
	}
	return seconds, true
}

// meanLatency is that of all recordings of a side, in seconds, as it was tested.
func meanLatency(c Context, group []*recording.Recording) float64 {
	metric := units.Latency
	if c.Delivery {
		metric = units.Delivery
	}
	var all []float64
	for _, rec := range group {
		if value, known := units.OfRequests(rec, metric); known {
			all = append(all, value)
		}
	}
	return mean(all)
}

// ofPeers has the difference of requests that wait for other services; nil where they only ask more
// often.
func (e *Evidence) ofPeers(c Context, found *tail.Difference) *tail.Difference {
	usual, dear := e.sides(c)
	a, b := asksOf(usual), asksOf(dear)
	if b.oftenerThan(a) {
		return nil // the others are as quick as before: the code that asks is the cause
	}
	told := *found
	told.Suspects = slices.Clone(found.Suspects)
	told.Suspects[0].Evidence = append(slices.Clone(found.Suspects[0].Evidence), a.beside(b)...)
	return &told
}

// sides are the recordings of the side that was shown to be cheaper, and of the other.
func (e *Evidence) sides(c Context) (usual, dear []*recording.Recording) {
	if c.Outcome == stat.Better {
		return e.B, e.A
	}
	return e.A, e.B
}

// between compares the requests of the two sides, at a percentile or all; nil where nothing was
// shown to differ.
func (e *Evidence) between(c Context, which string) *tail.Difference {
	if !c.Judged() || e.OneSided() {
		return nil
	}
	if e.slow == nil {
		e.slow = map[string]*tail.Difference{}
	}
	key := fmt.Sprintf("%s %s", which, c.Outcome)
	if e.slow[key] == nil {
		usual, dear := e.sides(c)
		e.slow[key] = tail.Between(usual, dear, which)
	}
	return e.slow[key]
}

// knowsSlow reports whether the requests themselves have suspects.
func (e *Evidence) knowsSlow(c Context) bool {
	found := e.slower(c)
	return found != nil && len(found.Suspects) > 0 || e.awaited(c) != nil
}

// ofSide tells suspects of the side that is the dearer one.
func ofSide(suspects []cause.Suspect, outcome stat.Outcome) []cause.Suspect {
	told := make([]cause.Suspect, len(suspects))
	for i, suspect := range suspects {
		suspect.Evidence = append([]cause.Evidence{}, suspect.Evidence...)
		if outcome == stat.Better {
			suspect.OfGain()
		}
		told[i] = suspect
	}
	return told
}

// judgeSlow has a judgement name the suspects of the slow requests, or say why it does not; and
// those of all requests, where these wait for other services.
func (j *Judgement) judgeSlow(e *Evidence, c Context) {
	if found := e.awaited(c); found != nil {
		j.Suspects, j.Why = ofSide(found.Suspects, c.Outcome), nil
		what := "they wait for other services, which no thread of this one is busy with"
		if !found.OfPeers() {
			what = fmt.Sprintf("what its threads were busy with accounts for %.0f %% of what they take longer",
				100*max(0, e.busyTells(c)))
		}
		j.warn("suspects are those of the requests themselves: " + what + "; shares are of what a request takes more")
		return
	}
	found := e.slower(c)
	switch {
	case e.busyOtherwise(c) && !e.knowsSlow(c):
		j.Suspects, j.Why = nil, nil
		j.warn(noBusier)
	case found == nil:
		if told := e.busyTells(c); c.OfRequests && c.Judged() && len(j.Suspects) > 0 && told < busyLeast {
			j.warn(fmt.Sprintf("suspects are of what threads were busy with, which accounts for %.0f %% of what requests take "+
				"longer: shares are of that part", 100*max(0, told)))
		}
	case len(found.Suspects) == 0:
		j.warn(fmt.Sprintf("suspects are those of the mean request, not of the %s: %s", c.Percentile, found.Why))
	case found.OfAll && len(j.Suspects) > 0:
		j.warn("slow requests run for longer as all requests do: suspects are those of the mean request")
	default:
		j.Suspects, j.Why = ofSide(found.Suspects, c.Outcome), nil
		j.warn(fmt.Sprintf("suspects are those of the slow requests, from the %s up: shares are of what they take more",
			c.Percentile))
		if found.Kind != "" {
			j.warn(fmt.Sprintf("slow requests of the two sides are not of the same kinds: those of the slower one are "+
				"mostly %s", found.Kind))
		}
	}
}
