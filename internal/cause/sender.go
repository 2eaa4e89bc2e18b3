package cause

import (
	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// locateSender adds the functions that write to sockets: the remedy is on their side. Where their writes are too few to
// be sampled, it is who waits in a socket for as long, for the answer to what was kept back.
func (s *scene) locateSender(c *claim) {
	sender := callerOf(s.cpu, func(frame *recording.Frame) bool {
		return frame.Kind == recording.KindKernel && containsAny(frame.Name, []string{"tcp_sendmsg", "sock_write_iter"})
	})
	if sender != "" {
		c.at(sender)
		return
	}
	if other := s.otherEnd(c); other != "" {
		c.at("the other end waits in " + other)
	}
}

// otherEnd is the function of the program's own, beside the claim's place, whose waits in a socket grew most; "" where
// they grew by less than half of what the claim's did.
func (s *scene) otherEnd(c *claim) string {
	if len(c.place.Frames) == 0 {
		return ""
	}
	here, grown := route(c.place.Frames), map[string]float64{}
	for i := range s.waits {
		wait := &s.waits[i]
		if wait.Kind != compare.Blocked || !kernelHas(wait.Frames, socketWaitNames) {
			continue
		}
		if at := code.Innermost(wait.Frames); at >= 0 {
			grown[route(wait.Frames[:at+1])] += mean(wait.B) - mean(wait.A)
		}
	}
	delete(grown, here)
	_, all := s.parted(c, func(int) bool { return true })
	if names := byValue(grown); len(names) > 0 && grown[names[0]] >= mostOf*all {
		return names[0]
	}
	return ""
}
