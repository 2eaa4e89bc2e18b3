package cause

// Judgement is what is to be said of a change, and why.
type Judgement struct {
	Suspects []Suspect // the likeliest first
	Why      Why
	ranking  *ranking // what both are told from, nil where there is nothing to judge
}

// Judge names the causes that may explain the change of a metric, the likeliest first, in three
// steps: recognisers say what they see in the scene, the ledger gives each second of the change one
// owner, and the rank table orders what the claims became. Each second belongs to at most one
// suspect, so that shares add up to at most 1. There is none when nothing accounts for a fifth of
// the change with an interval above zero: no suspect is better than a wrong one. With one run a
// side no interval is known; suspects are then listed as observed and say so.
//
// One-sided, shares are parts of the metric itself, and code that merely costs is no cause.
func Judge(in Input) Judgement {
	if in.Result == nil || Opposed(in) {
		return Judgement{}
	}
	s := newScene(in)
	if !(s.growth > 0) {
		return Judgement{}
	}
	l := attribute(s)
	ranking := rankOf(l)
	if len(ranking.told) == 0 && !s.oneSided && l.inOnePlace() {
		ranking = rankOf(l)
	}
	return Judgement{ranking.suspects(), whyOf(ranking), ranking}
}

// Opposed reports whether the recorded runs changed the other way than those without the recorder
// surely did: on a busy host a few runs may. What they show explains nothing then.
func Opposed(in Input) bool {
	if in.Result == nil || in.Result.OneSided || !in.MeasuredChangeKnown {
		return false
	}
	grown := mean(in.Result.B) - mean(in.Result.A)
	return in.MeasuredChange.Low > 0 && grown < 0 || in.MeasuredChange.High < 0 && grown > 0
}
