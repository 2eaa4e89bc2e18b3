package cause

import (
	"cmp"
	"slices"
	"strings"

	"culprit/internal/compare"
)

const (
	// A first suspect accounts for at least this part of the change: none is better than a wrong one.
	leastShare = 0.2
	// What accounts for less than this is not listed at all.
	listedShare = 0.05
)

// Judge names the causes that may explain the change of a metric, the likeliest
// first. Each second of the change belongs to at most one of them, so that
// shares add up to at most 1. It returns none when nothing accounts for a fifth
// of the change with an interval above zero: no suspect is better than a wrong
// one. With one run a side no interval is known; suspects are then listed as
// observed and say so.
//
// One-sided, shares are parts of the metric itself, and code that merely costs is no cause.
func Judge(in Input) []Suspect {
	if in.Result == nil || Opposed(in) {
		return nil
	}
	s := newScene(in)
	if !(s.growth > 0) {
		return nil
	}
	var claims []*claim
	for _, find := range finders() {
		for _, c := range find(s) {
			if c != nil {
				claims = append(claims, c)
			}
		}
	}
	s.adoptQueued()
	var lock *claim
	for _, c := range claims {
		s.absorb(c)
		if c.id == "memory.page-in" {
			s.adoptSlowed(c)
		}
		if c.id == "timer.ticker" {
			s.adoptInterrupted(c)
		}
		if c.id == "lock.contended" {
			lock = c
		}
	}
	if !s.oneSided {
		claims = s.compiledFor(append(claims, s.leftover(lock)...))
		s.followSettings(claims)
	}
	suspects := s.suspects(claims)
	if len(suspects) == 0 && !s.oneSided {
		if c := s.inOnePlace(claims); c != nil {
			suspects = s.suspects(append(claims, c))
		}
	}
	return suspects
}

// suspects tells of the claims what there is to tell, in order.
func (s *scene) suspects(claims []*claim) []Suspect {
	suspects := make([]Suspect, 0, len(claims))
	ranks := make([]rank, 0, len(claims))
	for _, c := range claims {
		suspect, known := s.suspect(c)
		if suspect.Share.Value < listedShare {
			continue
		}
		suspects = append(suspects, suspect)
		ranks = append(ranks, rank{known: known, consequence: c.consequence, ofSetting: c.ofSetting,
			library: isCode(c.id) && c.inLibrary()})
	}
	return s.ownFirst(s.choose(suspects, ranks), claims)
}

// Opposed reports whether the recorded runs changed the other way than those without the recorder surely did: on a busy
// host a few runs may. What they show explains nothing then.
func Opposed(in Input) bool {
	if in.Result == nil || in.Result.OneSided || !in.MeasuredChangeKnown {
		return false
	}
	grown := mean(in.Result.B) - mean(in.Result.A)
	return in.MeasuredChange.Low > 0 && grown < 0 || in.MeasuredChange.High < 0 && grown > 0
}

// finders are the matchers in order of precedence: the most specific first,
// because a path belongs to the first that takes it.
func finders() []func(*scene) []*claim {
	return []func(*scene) []*claim{
		findThrottled, findConfined, findStarved, findHelper, findTraced, findMonitor, findLoss, findDelayed, findCorked,
		findThrottledDisk, findSlowDisk, findStalls, findShared, findShortLived, findForks, findClock, findTicker, findAlarm,
		findSleep, findHerd, findLock, findSync, findCold, findCollector, findFaults, findReconnect, findChatty,
	}
}

// absorb gives a claim the rest of its place's own code when the claim makes up most of the place's growth.
func (s *scene) absorb(c *claim) {
	if c.absorbs == 0 || len(c.place.Frames) == 0 {
		return
	}
	at := c.place.Frames[len(c.place.Frames)-1]
	mine, all := 0.0, 0.0
	var rest []int
	for i := range s.paths {
		below := -1
		for depth, frame := range s.paths[i].Frames {
			if frame.Name == at.Name && frame.Kind == at.Kind {
				below = depth
			}
		}
		if below < 0 {
			continue
		}
		if s.owner[i] == nil || s.owner[i] == c {
			all += s.grown(i) // what other causes own says nothing about the place's own code
		}
		if s.owner[i] == c {
			mine += s.grown(i)
		}
		if s.owner[i] == nil && s.traits[i].place <= below {
			rest = append(rest, i)
		}
	}
	if all <= 0 || mine < c.absorbs*all {
		return
	}
	s.adopt(c, rest...)
}

// suspect turns a claim into what is told of it; known is false where its interval is not.
func (s *scene) suspect(c *claim) (suspect Suspect, known bool) {
	entry, _ := Lookup(c.id)
	entry.Claim = cmp.Or(c.claim, entry.Claim)
	a, b := s.seconds(c)
	if s.oneSided {
		suspect.Share, known = compare.Share(b, nil, s.metricB, nil, s.confidence)
		suspect.Seconds = compare.Change(b, nil, s.confidence)
	} else {
		suspect.Share, known = s.shareOf(c)
		suspect.Seconds = compare.Change(a, b, s.confidence)
	}
	if !known && !s.oneSided {
		if share, better := s.shareOfMeasured(suspect.Seconds); better {
			// Where two or three runs a side leave the interval open, but each run of B has it more than every run of A,
			// the suspect is told as observed: the trials have shown that there is a change to explain.
			suspect.Share, known = share, share.Low > 0 || !apart(a, b)
		}
	}
	suspect.Cause, suspect.Claim, suspect.Remedy = c.id, s.claimed(entry), entry.Remedy
	if c.remedy != "" {
		suspect.Remedy = c.remedy
	}
	if s.swapped {
		suspect.Gain, suspect.Remedy = true, gained+gains[c.id]
	}
	suspect.Where, suspect.Evidence, suspect.Against, suspect.Knob = c.where, c.evidence, c.against, c.knob
	suspect.Level = Observed
	if known && suspect.Share.Low > 0 {
		suspect.Level = Explains
	}
	if c.prediction != nil {
		suspect.Prediction = s.compareWith(*c.prediction, suspect, known)
		if suspect.Level == Explains && suspect.Prediction.Agrees && !suspect.Prediction.AtLeast {
			suspect.Level = Predicted
		}
	}
	if !known {
		suspect.Against = append(suspect.Against,
			"too few recordings, or too unequal ones, to say how far this share may be off")
	}
	signal := "cpu"
	if s.metric == compare.MetricWall {
		signal = "offcpu"
	}
	suspect.Evidence = slices.Concat([]Evidence{{Signal: signal, Text: "time that belongs to this cause",
		A: mean(a), B: mean(b), Unit: "s/run"}}, s.callEvidence(c), suspect.Evidence)
	if s.swapped || s.oneSided {
		for i := range suspect.Evidence {
			e := &suspect.Evidence[i]
			e.A, e.B = e.B, e.A
		}
	}
	if s.swapped {
		suspect.Seconds = negated(suspect.Seconds)
	}
	if len(suspect.Where) == 0 {
		suspect.Where = []string{}
	}
	return suspect, known
}

// withoutBaseline are the claims of causes that speak of another side, as they are told of one recording.
var withoutBaseline = map[string]string{
	"clock.read-often":    "the time is read very often",
	"syscall.chatty":      "the work takes many system calls (small reads or writes, repeated stat or open, polling)",
	"file.sync":           "the program forces data to disk (fsync, O_SYNC, msync) and waits for it",
	"process.short-lived": "many short-lived processes: what starting them takes, and what they do themselves",
	"memory.page-in":      "what is read is not in memory, and has to come from the disk",
	"memory.faults":       "page faults are many: memory is mapped, touched and returned again and again",
}

// claimed is the claim of an entry with its sides exchanged, or with the side that it is about, where A is the dearer
// one.
func (s *scene) claimed(entry Entry) string {
	if told := withoutBaseline[entry.ID]; s.oneSided && told != "" && entry.Claim != forkedClaim {
		return told
	}
	if !s.swapped || entry.ID == "config.differs" { // which side has which setting is told as evidence
		return entry.Claim
	}
	words, named := strings.Fields(entry.Claim), false
	for i, word := range words {
		switch word {
		case "A":
			words[i], named = "B", true
		case "B":
			words[i], named = "A", true
		}
	}
	if !named {
		return "in A, and less or not at all in B: " + entry.Claim
	}
	return strings.Join(words, " ")
}

// fewRuns is the number of recordings of a side up to which an interval is hardly more than its factor of Student's t.
const fewRuns = 3

// apart reports whether each of a few runs of B lies over every run of A, by half of what they differ in the mean.
func apart(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 || len(a) > fewRuns && len(b) > fewRuns {
		return false
	}
	return slices.Min(b)-slices.Max(a) >= (mean(b)-mean(a))/2 && mean(b) > mean(a)
}

// shareOfMeasured is a share of the change that the trials without the recorder
// saw: the way out where the few recorded runs scatter too much to tell their own change from zero.
func (s *scene) shareOfMeasured(seconds compare.Interval) (share compare.Interval, known bool) {
	change := s.in.MeasuredChange
	if s.swapped {
		change = compare.Interval{Value: -change.Value, Low: -change.High, High: -change.Low}
	}
	if !s.in.MeasuredChangeKnown || change.Low <= 0 {
		return share, false
	}
	quotients := []float64{seconds.Low / change.Low, seconds.Low / change.High, seconds.High / change.Low,
		seconds.High / change.High}
	return compare.Interval{Value: seconds.Value / change.Value, Low: slices.Min(quotients),
		High: slices.Max(quotients)}, true
}
