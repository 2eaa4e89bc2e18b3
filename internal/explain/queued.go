package explain

import (
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/perrun"
	"culprit/internal/stat"
	"culprit/internal/tail"
)

// queued has what the requests of the dearer side see run for longer told as the queue for it,
// where a request takes no more CPU time on that side: then it is done for others, which they wait
// behind. It is nil where a request may take more: a queue grows by more than what it is for.
func (e *Evidence) queued(c Context, found *tail.Difference) *tail.Difference {
	more, known := e.moreCPU(c)
	if !known || more.Low > 0 || len(found.Suspects) == 0 {
		return nil
	}
	at := slices.IndexFunc(found.Suspects, func(s cause.Suspect) bool {
		return s.Cause == cause.CodeGrew && more.High < busyLeast*s.Seconds.Value
	})
	if at < 0 {
		return found
	}
	told := *found
	told.Suspects = slices.Clone(found.Suspects)
	behind := asQueue(told.Suspects[at])
	rest := told.Suspects[:0]
	for i, suspect := range told.Suspects {
		switch {
		case i == at: // joined below
		case suspect.Cause == cause.RequestQueued:
			behind.Share, behind.Seconds = both(behind.Share, suspect.Share), both(behind.Seconds, suspect.Seconds)
			behind.Share = behind.Share.Over(max(1, behind.Share.Value)) // where other waits got shorter
			behind.Share.High = min(behind.Share.High, 1)
		default:
			rest = append(rest, suspect)
		}
	}
	told.Suspects = append([]cause.Suspect{behind}, rest...)
	return &told
}

// asQueue tells a suspect of code as the queue for it.
func asQueue(suspect cause.Suspect) cause.Suspect {
	known, _ := cause.Lookup(cause.RequestQueued)
	suspect.Cause, suspect.Claim, suspect.Remedy = known.ID, known.Claim, known.Remedy
	suspect.Evidence = append(slices.Clone(suspect.Evidence), cause.Evidence{Signal: "cpu",
		Text: "a request takes no more CPU time: what runs meanwhile is for others"})
	return suspect
}

// both adds what two suspects account for, the ends of their intervals as well: the surest that is
// known of two that may rise and fall together.
func both(a, b compare.Interval) compare.Interval {
	return compare.Interval{Value: a.Value + b.Value, Low: a.Low + b.Low, High: a.High + b.High}
}

// moreCPU is by how much a request of the dearer side takes more CPU time, in seconds; known is
// false where the spread between recordings does not tell.
func (e *Evidence) moreCPU(c Context) (more stat.Interval, known bool) {
	cpu := e.Results.CPU
	if cpu == nil || min(len(cpu.A), len(cpu.B)) < 2 {
		return more, false
	}
	a, b := cpu.A, cpu.B
	if c.Outcome == stat.Better {
		a, b = b, a
	}
	return e.Work.Unit().Interval(perrun.Change(a, b, Confidence)), true
}
