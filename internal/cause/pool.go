package cause

import "culprit/internal/shell"

// fewerClaim stands where as many requests come to a sleeper over fewer connections, and each sleep
// is as before.
const fewerClaim = "what sleeps as long as before is asked by fewer at a time: the other requests wait for their turn"

const (
	// A sleeper is asked by fewer at a time where so many times, and so many, fewer connections
	// come to it …
	timesFewer    = 1.5
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
		answers = answers.plus(s.count("syscall."+call+".bytes", process))
	}
	fewer := more(connections.b, connections.a, timesFewer, fewestDropped) && connections.b > 0
	if !fewer || answers.a <= 0 || answers.a > sameAnswers*answers.b || answers.b > sameAnswers*answers.a {
		return false
	}
	c.add("syscalls", "connections that "+process+" accepted", connections.a, connections.b, "connections/run")
	c.add("syscalls", "bytes that "+process+" sent", answers.a, answers.b, "bytes/run")
	return true
}

// accepted is the number of connections that came to a process; a loop calls once more to see that
// there is none.
func (s *scene) accepted(process string) (connections sides) {
	for _, call := range []string{"accept", "accept4"} {
		calls, failed := sides{}.plus(s.count("syscall."+call+".count", process)),
			sides{}.plus(s.count("syscall."+call+".errors", process))
		connections = connections.plus(calls.a-failed.a, calls.b-failed.b)
	}
	return connections
}

// holdsBack is the process that opens fewer connections by at least half of what comes to the
// sleeper less, "" where none is seen: its pool or its limit is the smaller one.
func (s *scene) holdsBack(c *claim) string {
	sleeper, dropped := s.busiestProcess(c.members), map[string]float64{}
	for _, process := range s.keys("syscall.connect.count") {
		if a, b := s.count("syscall.connect.count", process); process != sleeper && more(b, a, timesFewer, fewestDropped) {
			dropped[process] = a - b
		}
	}
	less, holders := s.accepted(sleeper), byValue(dropped)
	if len(holders) == 0 || dropped[holders[0]] < majority*(less.a-less.b) {
		return ""
	}
	a, b := s.count("syscall.connect.count", holders[0])
	c.add("syscalls", "connections that "+holders[0]+" opened", a, b, "connections/run")
	s.tellWord(c)
	return holders[0]
}

// longestWord is the length up to which a word of a command is told in evidence.
const longestWord = 80

// tellWord adds the one word in which the two commands differ, where it is one.
func (s *scene) tellWord(c *claim) {
	a, b, one := shell.DifferingWord(s.commandA, s.commandB)
	if one && len(a) <= longestWord && len(b) <= longestWord {
		c.add("facts", "the commands differ in one word: "+a+" against "+b, 0, 0, "")
	}
}
