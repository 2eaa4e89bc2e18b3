package cause

import (
	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// answerCalls are the calls in which a thread waits for what another one sends.
var answerCalls = map[string]bool{"read": true, "readv": true, "recvfrom": true, "recvmsg": true, "recvmmsg": true,
	"poll": true, "ppoll": true, "select": true, "pselect6": true, "epoll_wait": true, "epoll_pwait": true,
	"epoll_pwait2": true}

// awaitClaim stands where it is not the sleep that changed but who waits for it.
const awaitClaim = "the program waits, one after the other, for what sleeps on purpose on both sides"

const (
	// Waits are new in a function that made less than newlyAwaited of them on the other side.
	newlyAwaited = 0.02
	// Sleeps are as before when the other side made sleptBefore of them at least, and each became
	// no longer than so many times. That of a loop on the other side ends early for what comes
	// meanwhile: half of it is left on average.
	sleptBefore = 0.1
	longerSleep = 1.5
	// awaitedPart is the part of what sleeps grew by that must have been waited for in one place,
	// for the place to be who waits. Chosen: of two clients each may have half.
	awaitedPart  = 0.5
	longerInLoop = 2
)

// tellAwaiting says in which code of the program the answer of a sleeper was waited for, where that
// grew by as much as the sleeps: a service that is slow on purpose on both sides is waited for one
// request after the other where an event loop had waited for many at once. Of a smaller pool
// (turns) all threads together wait as long as before. In both it is who waits that changed, which
// goes first; and so it is where fewer connections bring as many requests.
func (s *scene) tellAwaiting(c *claim, turns bool) {
	place, waited := s.awaited(c, turns)
	if place != "" {
		c.add("offcpu", "waited for it in "+place+", all threads", waited.a, waited.b, "s/run")
	}
	var first Place
	switch {
	case place != "" && (turns || waited.a <= newlyAwaited*waited.b && s.sleepsAsBefore(c)):
		c.claim, first = awaitClaim, inCode(place)
	case !turns && s.sleepsAsBefore(c) && s.fewerAtOnce(c):
		c.claim = fewerClaim
		if holder := s.holdsBack(c); holder != "" {
			first = Place{Kind: InProcess, Name: holder}
		} else if first = inCode(place); place == "" {
			return // nobody else to name: the place stays, with what is said of it
		}
	case place != "":
		c.at(inCode(place).as(WaitedForIn))
		return
	default:
		return
	}
	asleep := c.places
	c.places = nil
	c.at(first)
	if first != inCode(place) {
		c.at(inCode(place).as(WaitedForIn))
	}
	for _, one := range asleep {
		if one.Role == "" {
			one.Role = SleepsIn
		}
		c.at(one)
	}
	c.remedy = byTurnsRemedy
	c.clear(DoubtTasks)
}

// awaited is where in the program most was waited for what sleeps, and how long; "" where that grew
// by less than half of what the sleeps did.
func (s *scene) awaited(c *claim, turns bool) (place string, total sides) {
	waited, grown := map[string]sides{}, map[string]float64{}
	for i := range s.waits {
		wait := &s.waits[i]
		at := s.code.Innermost(wait.Frames)
		if at < 0 || wait.WakerKind != recording.WakerThread || !wait.WakerOwn || wait.Lock ||
			!answerCalls[wait.Syscall] || code.IsEntry(wait.Frames[at]) {
			continue
		}
		place := route(wait.Frames[:at+1]) + ";" + wait.Syscall
		waited[place] = waited[place].plus(mean(wait.A), mean(wait.B))
		grown[place] += mean(wait.B)
		if !turns {
			grown[place] -= mean(wait.A)
		}
	}
	places := byValue(grown)
	a, b := s.seconds(c)
	if more := mean(b) - mean(a); len(places) == 0 || more <= 0 || grown[places[0]] < awaitedPart*more {
		return "", total
	}
	return places[0], waited[places[0]]
}

// sleepsAsBefore reports whether the sleeps of a claim were made on side A too, and each was as
// long: what made more of them, or waits for each, is the change.
func (s *scene) sleepsAsBefore(c *claim) bool {
	asleep := map[string]bool{}
	for _, i := range c.members {
		asleep[sleepKey(&s.paths[i])] = true
	}
	seconds, times := s.overWaits(func(wait *compare.Wait) bool {
		return wait.WakerKind == recording.WakerTimer && asleep[sleepKey(&wait.Path)]
	})
	longer := longerSleep
	if s.mostly(c, s.inLoop) {
		longer = longerInLoop
	}
	return seconds.a > 0 && seconds.a >= sleptBefore*seconds.b && seconds.b*times.a <= longer*seconds.a*times.b
}
