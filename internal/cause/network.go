package cause

import (
	"math"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/tcp"
	"culprit/recording"
)

// Kernel functions that wait for a socket, or send again, and the calls of connections.
var (
	retransmitNames = []string{"tcp_retransmit_timer", "tcp_write_timer", "tcp_retransmit_skb", "tcp_enter_loss"}
	socketWaitNames = []string{"tcp_recvmsg", "sk_wait_data", "inet_recvmsg", "sk_stream_wait", "ep_poll", "do_epoll_wait",
		"do_poll", "do_sys_poll", "do_select", "inet_csk_accept", "inet_stream_connect"}
	connectCalls = map[string]bool{"connect": true, "accept": true, "accept4": true, "socket": true, "bind": true,
		"listen": true, "shutdown": true, "getpeername": true, "getsockname": true}
	// setupCalls are made for each new connection as well; they count as its cost when they grew
	// with them.
	setupCalls = map[string]bool{"setsockopt": true, "getsockopt": true, "epoll_ctl": true, "close": true, "fcntl": true,
		"ioctl": true}
)

const (
	// So many waits a run are those of a delayed acknowledgement. Chosen.
	fewestDelayed = 3
	// New connections that are worth a suspicion.
	fewestConnects = 20
	// setupPart is how many calls more there must be for each connection more, for a call to belong
	// to it. Chosen: not every connection needs each of them.
	setupPart = 0.5
	// A retransmission time-out is at least 200 ms (TCP_RTO_MIN).
	fewestRetransmits = 1
)

// waitKey tells one way of waiting from others.
func waitKey(path *compare.Path) string {
	return path.Process + "\x00" + path.WakerKind + prefix(path.Frames)
}

// meanWaits is the mean length in seconds of each way to wait on the dearer side.
func (s *scene) meanWaits() map[string]float64 {
	seconds, counts := map[string]float64{}, map[string]float64{}
	for i := range s.waits {
		if s.waits[i].Kind == compare.Blocked {
			key := waitKey(&s.waits[i].Path)
			seconds[key] += mean(s.waits[i].B)
			counts[key] += mean(s.waits[i].CountB)
		}
	}
	for key := range seconds {
		seconds[key] /= max(counts[key], 1)
	}
	return seconds
}

// findLoss claims waits for a socket that a retransmission ended, when more segments were sent
// again.
func findLoss(s *scene) []finding {
	if s.metric != compare.MetricWall {
		return nil
	}
	again, lengths := s.retransmits(), s.meanWaits()
	return []finding{{cause: NetLoss, tell: s.tellLoss,
		match: func(i int) bool {
			path := &s.paths[i]
			if path.Kind != compare.Blocked {
				return false
			}
			if code.InKernel(path.WakerStack, retransmitNames...) {
				return true
			}
			return again && path.WakerKind != recording.WakerTimer && code.InKernel(path.Frames, socketWaitNames...) &&
				lengths[waitKey(path)] >= tcp.DelayedMostS
		}}}
}

// retransmits reports whether more segments were sent again.
func (s *scene) retransmits() bool { return s.lost(counts.Network + recording.NetRetransmit) }

// lost reports whether there was more of what is counted when something is lost: in each run, or in
// some, and those were the runs that took longest. One time-out makes a run a second longer, and
// the mean of many runs may have less than one.
func (s *scene) lost(name string) bool {
	return s.countOf(name).grew(manyTimes, fewestRetransmits) || s.inSlowRuns(name)
}

// fewestLossy is how many runs must have lost something, where others have not. Chosen: one that
// did is the slowest run by chance in one of a few.
const fewestLossy = 2

// inSlowRuns reports whether each run of the dearer side that has some of what is counted took
// longer than each that has none, and no run of the other side has any.
func (s *scene) inSlowRuns(name string) bool {
	lossy, quickest, slowest := 0, math.Inf(1), math.Inf(-1)
	for i := range s.counts {
		one := &s.counts[i]
		if one.Name != name || one.Key != "" {
			continue
		}
		if positive(one.A) > 0 || len(one.B) != len(s.metricB) {
			return false
		}
		for run, took := range s.metricB {
			if one.B[run] > 0 {
				lossy, quickest = lossy+1, min(quickest, took)
			} else {
				slowest = max(slowest, took)
			}
		}
	}
	return lossy >= fewestLossy && quickest > slowest
}

func (s *scene) tellLoss(c *claim) {
	s.locateWait(c)
	s.atKeys(c, InPeer, counts.Network+recording.NetRetransmit)
	if again := s.countOf(counts.Network + recording.NetRetransmit); again != (sides{}) {
		c.add("network", "segments sent again", again, "segments/run")
	} else {
		c.doubt(DoubtUnconfirmed, "retransmits were not counted: the timer that sent again is seen on the waker's stack")
	}
	s.fullQueue(c)
}

// findReconnect claims what opening and closing connections takes when there are many more of them.
func findReconnect(s *scene) []finding {
	connects := s.connects()
	if !connects.grew(manyTimes, fewestConnects) {
		return nil
	}
	setup := map[string]bool{}
	for call := range setupCalls {
		setup[call] = s.callCount(call).more() >= setupPart*connects.more()
	}
	return []finding{{cause: NetReconnect, tell: s.tellReconnect,
		match: func(i int) bool {
			if call := s.traits[i].call; connectCalls[call] || setup[call] {
				return true
			}
			// Above the program's own code it is what the program does for a connection.
			return slices.ContainsFunc(s.paths[i].Frames[s.traits[i].place+1:], code.Connects)
		},
		stands: func(c *claim) string {
			if s.nothingBut(c, func(i int) bool { return code.LooksUpName(s.paths[i].Frames) }) {
				return "names are looked up more often, and no more connections are opened for them"
			}
			return ""
		}}}
}

func (s *scene) tellReconnect(c *claim) {
	c.absorbs = s.absorbing(c)
	s.locateOpener(c)
	for _, call := range []string{"connect", "accept", "accept4"} {
		if calls := s.callCount(call); calls.more() > 0 {
			c.add("syscalls", call+" calls", calls, "calls/run")
			c.at(Place{Kind: InCall, Name: call})
		}
	}
	if opened := s.countOf(counts.Network + recording.NetConnect); opened.more() > 0 {
		c.add("network", "connections opened", opened, "connections/run")
	}
}

// locateOpener puts first who opens the connections: there they can be kept. Where a run time opens
// them on a stack of its own (Go's net/http), it is the outermost of its functions that run once
// for each.
func (s *scene) locateOpener(c *claim) {
	opener := longest(s.tally(c.members, func(i int) string {
		frames := s.paths[i].Frames
		at := s.code.Innermost(frames)
		if at < 0 {
			at = slices.IndexFunc(frames, func(frame recording.Frame) bool {
				return frame.Kind != recording.KindKernel && code.Connects(frame) && !code.LooksUpName([]recording.Frame{frame})
			})
		}
		if at < 0 || s.traits[i].call != "connect" {
			return ""
		}
		return route(frames[:at+1]) + ";connect"
	}))
	if opener == "" {
		s.locateWait(c)
		return
	}
	c.at(inCode(opener))
	places := c.places
	if s.locateWait(c); code.Innermost(c.place) < 0 { // a function of the run time that all its sockets go through
		c.places = places
	}
}

// connects is the number of connections a run: opened, or accepted where the client is outside.
func (s *scene) connects() sides {
	opened, accepted := s.callCount("connect"), s.callCount("accept").plus(s.callCount("accept4"))
	return sides{max(opened.a, accepted.a), max(opened.b, accepted.b)}
}
