package cause

import (
	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/tcp"
	"culprit/recording"
)

// findDelayed claims waits for a socket that a delayed acknowledgement ended: its timer is seen on
// the waker's stack where the peer is on this host, or that a timer made the peer send; else the
// length of the waits tells.
func findDelayed(s *scene) []finding {
	if s.metric != compare.MetricWall {
		return nil
	}
	if !s.countOf(counts.Delayed).grew(manyTimes, fewestDelayed) {
		return nil
	}
	lengths := s.meanWaits()
	return []finding{{cause: NetDelayed, tell: s.tellDelayed,
		match: func(i int) bool {
			path := &s.paths[i]
			return path.Kind == compare.Blocked &&
				tcp.Delayed(path.WakerKind, lengths[waitKey(path)], path.WakerStack, path.Frames)
		}}}
}

func (s *scene) tellDelayed(c *claim) {
	times, seconds := s.countOf(counts.Delayed), s.countOf(counts.Delayed+".seconds")
	if seconds.b < tcp.DelayedLeastS*times.b {
		s.tellLate(c, counts.Delayed, "waits for a socket that ended by what a peer on this host sent on a timer")
		c.doubt(DoubtUnseen, sentLater)
	} else {
		s.tellLate(c, counts.Delayed, "waits for a socket as long as a delayed acknowledgement")
	}
}

// tellLate says who waited for what was sent late, who sent it, and how often.
func (s *scene) tellLate(c *claim, count, text string) {
	times := s.countOf(count)
	s.locateWait(c)
	s.locateSender(c)
	c.add("offcpu", text, times, "waits/run")
	c.add("offcpu", "mean length of these waits", sides{b: s.countOf(count+".seconds").b / times.b * 1e3}, "ms")
}

// sentLater is what waits leave open that are shorter than a delayed acknowledgement.
const sentLater = "the waits are shorter than the 40 ms of a delayed acknowledgement, as of a loop that serves " +
	"others meanwhile: what made the peer send so late is not seen, but for its timer (a queueing discipline that " +
	"delays looks the same)"

// corkRemedy is what helps where it is not Nagle's algorithm that keeps data back.
const corkRemedy = "end each message: take TCP_CORK off, or send its last part without MSG_MORE"

// findCorked claims waits for a peer on this host that kept data back until a timer sent it. The
// timer is that of a lost segment as well: where more were sent again, it was that.
func findCorked(s *scene) []finding {
	if s.metric != compare.MetricWall {
		return nil
	}
	if !s.countOf(counts.Corked).grew(manyTimes, fewestDelayed) || s.retransmits() {
		return nil
	}
	return []finding{{cause: NetDelayed,
		match: func(i int) bool {
			path := &s.paths[i]
			return path.Kind == compare.Blocked && tcp.SentByNobody(path.WakerKind, path.WakerStack, path.Frames)
		},
		stands: func(c *claim) string {
			if s.countOf(counts.Corked+".seconds").b < majority*s.total(c).b {
				return "most of what ended so took another time than a cork: something else is waited for"
			}
			return ""
		},
		tell: func(c *claim) {
			s.tellLate(c, counts.Corked,
				"waits of about 200 ms until a timer sent what the sender's kernel kept back")
			c.remedy = corkRemedy
		}}}
}

// locateSender adds the functions that write to sockets: the remedy is on their side. Where their
// writes are too few to be sampled, it is who waits in a socket for as long, for the answer to what
// was kept back.
func (s *scene) locateSender(c *claim) {
	if sender := callerInKernel(s.cpu, "tcp_sendmsg", "sock_write_iter"); sender != "" {
		c.at(inCode(sender))
	} else {
		c.at(inCode(s.otherEnd(c)).as(OtherEndIn))
	}
}

// otherEnd is the function of the program's own, beside the claim's place, whose waits in a socket
// grew most; "" where they grew by less than half of what the claim's did.
func (s *scene) otherEnd(c *claim) string {
	if len(c.place) == 0 {
		return ""
	}
	grown, _ := s.waitedAt(false, func(wait *compare.Wait) []recording.Frame {
		if wait.Kind != compare.Blocked || !code.InKernel(wait.Frames, socketWaitNames...) {
			return nil
		}
		return wait.Frames
	})
	delete(grown, route(c.place))
	if names := byValue(grown); len(names) > 0 && grown[names[0]] >= majority*s.grew(c) {
		return names[0]
	}
	return ""
}
