package explain

import (
	"cmp"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/names"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/internal/tail"
	"culprit/recording"
)

// ofWork are the causes of what one thread does for a request at a time. Who waits for it sees what
// it does for others as well.
var ofWork = []cause.ID{cause.CodeGrew, cause.SleepDeliberate, cause.FileSync}

// seenLeast is the part of a suspect's time that all threads are seen at its place for at least,
// per request: waits of less than a millisecond are not kept. Chosen: a queue of twenty.
const seenLeast = 0.05

// behindOthers has what requests of the dearer side see done for longer told as a queue, where all
// threads together do as much of it per request as on the other side: then most of it is done for
// others, which they wait behind.
func (e *Evidence) behindOthers(c Context, found *tail.Difference) *tail.Difference {
	at := slices.IndexFunc(found.Suspects, func(s cause.Suspect) bool {
		return slices.Contains(ofWork, s.Cause) && e.doesNoMore(c, &s)
	})
	if at < 0 {
		return found
	}
	told := *found
	behind, rest := asQueue(found.Suspects[at]), []cause.Suspect{}
	for i, suspect := range found.Suspects {
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
	slices.SortStableFunc(told.Suspects, func(a, b cause.Suspect) int {
		return cmp.Compare(b.Share.Value, a.Share.Value)
	})
	return &told
}

// asQueue tells a suspect as the queue for what it is.
func asQueue(suspect cause.Suspect) cause.Suspect {
	known, _ := cause.Lookup(cause.RequestQueued)
	suspect.Cause, suspect.Claim, suspect.Remedy = known.ID, known.Claim, known.Remedy
	suspect.Evidence = append(slices.Clone(suspect.Evidence), cause.Evidence{Signal: "requests",
		Text: "all threads do as much of it for each request as before: what is done meanwhile is for others"})
	return suspect
}

// both adds what two suspects account for, the ends of their intervals as well: they may rise and
// fall together.
func both(a, b compare.Interval) compare.Interval {
	return compare.Interval{Value: a.Value + b.Value, Low: a.Low + b.Low, High: a.High + b.High}
}

// doesNoMore reports whether all threads are not seen to do more at a suspect's place for each
// request, by the spread between recordings, and at most less than half of what requests take
// longer for it. It is false where they are hardly seen there.
func (e *Evidence) doesNoMore(c Context, suspect *cause.Suspect) bool {
	place := namesOf(suspect.Places)
	more, dear, known := e.more(c, aloneVaries, func(result *compare.Result, add func(*compare.Path)) {
		at := func(path *compare.Path) {
			if passes(path.Frames, place) {
				add(path)
			}
		}
		if suspect.Cause == cause.CodeGrew {
			for i := range result.Paths {
				at(&result.Paths[i])
			}
			return
		}
		for i := range result.Waits {
			at(&result.Waits[i].Path)
		}
	})
	return known && more.Low <= 0 && more.High < busyLeast*suspect.Seconds.Value && dear >= seenLeast*suspect.Seconds.Value
}

// worksNoMore reports whether a request of the dearer side is not seen to take more CPU time, by
// the spread between recordings; false where that is not known. A queue grows by more than what it
// is for, but not by what did not grow.
func (e *Evidence) worksNoMore(c Context) bool {
	more, _, known := e.more(c, 0, func(result *compare.Result, add func(*compare.Path)) {
		add(&compare.Path{A: result.A, B: result.B})
	})
	return known && more.Low <= 0
}

const (
	// queueTimes is how many times as much as a queue would grow a wait must have grown that no
	// queue explains: what is in use, and for how long, is only known in the mean. Chosen.
	queueTimes = 2
	// keptWhole is how long a wait is at least of which is known what it was for, in seconds.
	keptWhole = 1e-3
	// saturated is the part of the time from which on what is in use may make a queue of any
	// length. Chosen.
	saturated = 0.9
)

// isNoQueue reports whether requests wait for longer for a suspect than for a queue that gets
// longer with the work of each. Who waits for what takes S each time, and is in use for a part u of
// the time, waits for S·g(u): the wait grows as S does, and as u/(1−u) at most (M/M/1). In bursts
// of requests it grows as S does. False where it is not known how busy the sides were.
func (e *Evidence) isNoQueue(c Context, suspect *cause.Suspect) bool {
	a, b, known := e.inMean(c, cpuOfRequest)
	ownA, ownB, knownOwn := e.inMean(c, ofOneCPU)
	hostA, hostB, knownHost := e.inMean(c, units.HostBusy)
	if !known || !knownOwn || !knownHost || max(ownB, hostB) >= saturated {
		return false
	}
	odds := func(part float64) float64 { return part / max(0, 1-part) }
	grows := b / a * max(1, odds(ownB)/odds(ownA), odds(hostB)/odds(hostA))
	at := slices.IndexFunc(suspect.Evidence, func(seen cause.Evidence) bool { return seen.Unit == "s/request" })
	return at >= 0 && suspect.Evidence[at].B > queueTimes*grows*max(suspect.Evidence[at].A, keptWhole)
}

// ofOneCPU is the part of the time for which a target would have used one CPU: an event loop, or
// whoever has a lock, uses no more.
func ofOneCPU(rec *recording.Recording) (part float64, told bool) {
	used, told := units.CPUsBusy(rec)
	return min(1, used), told
}

// inMean is a value of the recordings of the cheaper side, and of the other; known is false where
// one of them does not tell it.
func (e *Evidence) inMean(c Context, of func(*recording.Recording) (float64, bool)) (usual, dear float64, known bool) {
	told := e.each(of)
	switch {
	case told == nil:
		return 0, 0, false
	case c.Outcome == stat.Better:
		return mean(told.B), mean(told.A), true
	}
	return mean(told.A), mean(told.B), true
}

// passes reports whether a stack goes through a function of one of some names; without any go all.
func passes(frames []recording.Frame, function []string) bool {
	return len(function) == 0 || slices.ContainsFunc(frames, func(f recording.Frame) bool {
		return slices.Contains(function, f.Name)
	})
}

// namesOf are the names that a function of a recording may have in a comparison; none without one.
func namesOf(place []cause.Place) []string {
	if len(place) == 0 || place[0].Name == "" {
		return nil
	}
	name := recording.Frame{Name: place[0].Name, Kind: recording.KindNative}
	method := recording.Frame{Name: place[0].Name, Kind: recording.KindJVM}
	return []string{name.Name, names.Normal(name).Name, names.Normal(method).Name}
}

// aloneVaries is the part by which what threads do for each request is held to vary from one
// recording to the next, where each side has one. Chosen: a queue is a multiple of what it is for.
const aloneVaries = 0.1

// more is by how much that what is added up takes longer per request of the dearer side, in
// seconds, and how long it takes there; known is false where the spread between recordings does not
// tell. Where each side has one recording only, they are held to vary by such a part; 0: not known.
func (e *Evidence) more(c Context, alone float64, addUp func(*compare.Result, func(*compare.Path))) (
	more stat.Interval, dear float64, known bool) {
	result := e.Results.CPU
	if result == nil || min(len(result.A), len(result.B)) < 2 && alone == 0 {
		return more, 0, false
	}
	a, b := make([]float64, len(result.A)), make([]float64, len(result.B))
	addUp(result, func(path *compare.Path) {
		for i := range a {
			a[i] += path.A[i]
		}
		for i := range b {
			b[i] += path.B[i]
		}
	})
	if c.Outcome == stat.Better {
		a, b = b, a
	}
	unit := e.Work.Unit()
	if min(len(a), len(b)) < 2 {
		value, varies := mean(b)-mean(a), alone*max(mean(a), mean(b))
		return unit.Interval(stat.Interval{Value: value, Low: value - varies, High: value + varies}),
			unit.Amount(mean(b)), true
	}
	return unit.Interval(perrun.Change(a, b, Confidence)), unit.Amount(mean(b)), true
}
