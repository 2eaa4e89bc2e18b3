package cause

import (
	"culprit/internal/compare"
	"culprit/recording"
)

// locateSender adds the functions that write to sockets: the remedy is on their side. Where their
// writes are too few to be sampled, it is who waits in a socket for as long, for the answer to what
// was kept back.
func (s *scene) locateSender(c *claim) {
	sender := callerOf(s.cpu, func(frame *recording.Frame) bool {
		return frame.Kind == recording.KindKernel && containsAny(frame.Name, []string{"tcp_sendmsg", "sock_write_iter"})
	})
	if sender != "" {
		c.at(inCode(sender))
		return
	}
	if other := s.otherEnd(c); other != "" {
		c.at(inCode(other).as(OtherEndIn))
	}
}

// otherEnd is the function of the program's own, beside the claim's place, whose waits in a socket
// grew most; "" where they grew by less than half of what the claim's did.
func (s *scene) otherEnd(c *claim) string {
	if len(c.place) == 0 {
		return ""
	}
	grown := s.tallyWaits(false, func(wait *compare.Wait) string {
		if wait.Kind != compare.Blocked || !kernelHas(wait.Frames, socketWaitNames) {
			return ""
		}
		return s.ownWay(wait.Frames)
	})
	delete(grown, route(c.place))
	if names := byValue(grown); len(names) > 0 && grown[names[0]] >= awaitedPart*s.grew(c) {
		return names[0]
	}
	return ""
}
