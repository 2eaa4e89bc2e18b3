package cause

import (
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/tcp"
	"culprit/recording"
)

// corkRemedy is what helps where it is not Nagle's algorithm that keeps data back.
const corkRemedy = "end each message: take TCP_CORK off, or send its last part without MSG_MORE"

// findCorked claims waits for a peer on this host that kept data back until a timer sent it. The
// timer is that of a lost segment as well: where more were sent again, it was that.
func findCorked(s *scene) []finding {
	if s.metric != compare.MetricWall {
		return nil
	}
	a, b := s.count(counts.Corked, "")
	sentA, sentB := s.count(counts.Network+recording.NetRetransmit, "")
	if !more(a, b, timesConnects, fewestDelayed) || more(sentA, sentB, timesConnects, fewestRetransmits) {
		return nil
	}
	_, seconds := s.count(counts.Corked+".seconds", "")
	return []finding{{cause: NetDelayed,
		match: func(i int) bool {
			path := &s.paths[i]
			return path.Kind == compare.Blocked && tcp.SentByNobody(path.WakerKind, path.WakerStack, path.Frames)
		},
		stands: func(c *claim) string {
			if _, all := s.seconds(c); seconds < majority*mean(all) {
				return "most of what ended so took another time than a cork: something else is waited for"
			}
			return ""
		},
		tell: func(c *claim) {
			s.locateWait(c)
			s.locateSender(c)
			c.add("offcpu", "waits of about 200 ms until a timer sent what the sender's kernel kept back", a, b,
				"waits/run")
			c.add("offcpu", "mean length of these waits", 0, seconds/b*1e3, "ms")
			c.remedy = corkRemedy
		}}}
}
