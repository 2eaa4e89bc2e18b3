package cause

import (
	"culprit/internal/code"
	"culprit/internal/compare/counts"
	"culprit/internal/shell"
	"culprit/recording"
)

// awaitsAnswer tells a call in which a thread waits for what another one sends.
func awaitsAnswer(call string) bool {
	switch call {
	case "read", "readv", "recvfrom", "recvmsg", "recvmmsg":
		return true
	}
	return code.Polls(call)
}

// awaitClaim stands where it is not the sleep that changed but who waits for it.
const awaitClaim = "the program waits, one after the other, for what sleeps on purpose on both sides"

const (
	// Waits are new in a function that made less than newlyAwaited of them on the other side.
	newlyAwaited = 0.02
	// Sleeps are as before when the other side made sleptBefore of them at least, and each became
	// no longer than so many times. That of a loop on the other side ends early for what comes
	// meanwhile: half of it is left on average.
	sleptBefore  = 0.1
	longerSleep  = 1.5
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
		c.add("offcpu", "waited for it in "+place+", all threads", waited, "s/run")
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
			!awaitsAnswer(wait.Syscall) || code.IsEntry(wait.Frames[at]) {
			continue
		}
		place := route(wait.Frames[:at+1]) + ";" + wait.Syscall
		waited[place] = waited[place].plus(means(wait.A, wait.B))
		grown[place] += mean(wait.B)
		if !turns {
			grown[place] -= mean(wait.A)
		}
	}
	places := byValue(grown)
	if more := s.grew(c); len(places) == 0 || more <= 0 || grown[places[0]] < majority*more {
		return "", total
	}
	return places[0], waited[places[0]]
}

// sleepsAsBefore reports whether the sleeps of a claim were made on side A too, and each was as
// long: what made more of them, or waits for each, is the change.
func (s *scene) sleepsAsBefore(c *claim) bool {
	seconds, times := s.sleepsOf(c)
	longer := longerSleep
	if s.mostly(c, s.inLoop) {
		longer = longerInLoop
	}
	return seconds.a > 0 && seconds.a >= sleptBefore*seconds.b && seconds.b*times.a <= longer*seconds.a*times.b
}

// fewerClaim stands where as many requests come to a sleeper over fewer connections, and each sleep
// is as before.
const fewerClaim = "what sleeps as long as before is asked by fewer at a time: the other requests wait for their turn"

const (
	// A sleeper is asked by fewer at a time where so many fewer connections come to it …
	fewestDropped = 3
	// … and what it sends stays within this factor: the same answers to the same requests.
	sameAnswers = 1.25
)

// sendCalls are the calls that a program answers with.
var sendCalls = []string{"write", "writev", "sendto", "sendmsg", "sendmmsg", "sendfile", "sendfile64", "splice"}

// fewerAtOnce reports whether the process that sleeps gives as many answers to fewer connections,
// and says so: a pool or a limit in front of it is smaller (a proxy's, a client's), which makes
// requests wait outside of it. Tasks of a loop, or of Go, have no stack while they sleep: that
// fewer do at a time is not to be seen by the sleeps.
func (s *scene) fewerAtOnce(c *claim) bool {
	process := s.busiestProcess(c.members)
	if s.oneSided || process == "" {
		return false
	}
	connections, answers := s.accepted(process), sides{}
	for _, call := range sendCalls {
		answers = answers.plus(s.count(counts.Call(call, "bytes"), process))
	}
	fewer := connections.swapped().grew(manyTimes, fewestDropped) && connections.b > 0
	if !fewer || answers.a <= 0 || answers.a > sameAnswers*answers.b || answers.b > sameAnswers*answers.a {
		return false
	}
	c.add("syscalls", "connections that "+process+" accepted", connections, "connections/run")
	c.add("syscalls", "bytes that "+process+" sent", answers, "bytes/run")
	return true
}

// accepted is the number of connections that came to a process; a loop calls once more to see that
// there is none.
func (s *scene) accepted(process string) (connections sides) {
	for _, call := range []string{"accept", "accept4"} {
		connections = connections.plus(s.count(counts.Call(call, "count"), process)).
			plus(s.count(counts.Call(call, "errors"), process).times(-1))
	}
	return connections
}

// holdsBack is the process that opens fewer connections by at least half of what comes to the
// sleeper less, "" where none is seen: its pool or its limit is the smaller one.
func (s *scene) holdsBack(c *claim) string {
	sleeper, dropped := s.busiestProcess(c.members), map[string]float64{}
	for _, process := range s.keys("syscall.connect.count") {
		opened := s.count("syscall.connect.count", process)
		if process != sleeper && opened.swapped().grew(manyTimes, fewestDropped) {
			dropped[process] = -opened.more()
		}
	}
	less, holders := s.accepted(sleeper), byValue(dropped)
	if len(holders) == 0 || dropped[holders[0]] < -majority*less.more() {
		return ""
	}
	c.add("syscalls", "connections that "+holders[0]+" opened", s.count("syscall.connect.count", holders[0]),
		"connections/run")
	s.tellWord(c)
	return holders[0]
}

// longestWord is the length up to which a word of a command is told in evidence.
const longestWord = 80

// tellWord adds the one word in which the two commands differ, where it is one.
func (s *scene) tellWord(c *claim) {
	a, b, one := shell.DifferingWord(s.commandA, s.commandB)
	if one && len(a) <= longestWord && len(b) <= longestWord {
		c.note("facts", "the commands differ in one word: "+a+" against "+b)
	}
}
