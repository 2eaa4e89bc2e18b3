package tail

import (
	"cmp"
	"fmt"
	"sort"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

const (
	// answerNs is how long at most before or after an answer came the thread that waited for it was
	// woken by who sent it: in the same call, so that a switch lies between. Chosen.
	answerNs = 1e5
	// knownLeast is the part of the time waited for answers of which it is known at least who sent
	// these: an event loop that is awake is not woken, and sleeps of less than a millisecond are
	// not kept. Chosen.
	knownLeast = 0.1
)

// sender is a process of this host that sent answers.
type sender struct {
	pid  int32
	comm string
}

// tellPeer names who answers, where that is a process of this host: whoever sends over the loopback
// or a unix socket wakes the thread that waits, in its own call. An event loop is woken by others
// meanwhile, so that the last wait of each request tells. Of a pool's processes it is the one that
// was waited for longest.
func (c *claim) tellPeer(s *cause.Suspect) {
	byName, byPid, known, all := map[string]int64{}, map[string]map[int32]int64{}, int64(0), int64(0)
	for _, waited := range c.byRequest() {
		all += waited.ns
		from, told := waited.last.sent()
		if !told {
			continue
		}
		known += waited.ns
		byName[from.comm] += waited.ns
		if byPid[from.comm] == nil {
			byPid[from.comm] = map[int32]int64{}
		}
		byPid[from.comm][from.pid] += waited.ns
	}
	name, most := perrun.Largest(byName)
	pid, _ := perrun.Largest(byPid[name])
	if pid == 0 || 2*most <= known || float64(known) < knownLeast*float64(all) {
		return
	}
	s.Places = append(s.Places, cause.Place{Kind: cause.InProcess, Role: cause.AnsweredBy,
		Name: fmt.Sprintf("%s, pid %d", name, pid)})
	s.Remedy = fmt.Sprintf("look at the peer: culprit tail -p %d", pid)
}

// waited is how long a request waited for one cause, and the last stretch of it.
type waited struct {
	ns   int64
	last held
}

func (c *claim) byRequest() map[*asked]*waited {
	found := map[*asked]*waited{}
	for _, part := range c.parts {
		one := found[part.of]
		if one == nil {
			one = &waited{last: part}
			found[part.of] = one
		}
		if one.ns += part.LengthNs; part.TimeNs > one.last.TimeNs {
			one.last = part
		}
	}
	return found
}

// sent is who woke the thread that waited for an answer; told is false where that is not known.
// Nobody is told where it was an interrupt, a thread of the kernel, or one of the target.
func (h *held) sent() (from sender, told bool) {
	kind, from := h.WakerKind, sender{h.WakerPid, h.WakerComm}
	if kind == "" {
		wait := h.reader.endedAbout(cmp.Or(h.Tid, h.of.row.Tid), h.TimeNs+h.LengthNs)
		if wait == nil {
			return sender{}, false
		}
		kind, from = wait.WakerKind, sender{wait.WakerPid, wait.WakerComm}
	}
	if kind != recording.WakerThread || h.reader.own[from.pid] || strings.HasPrefix(from.comm, "ksoftirqd/") {
		return sender{}, true
	}
	return from, true
}

// endedAbout is the wait of a thread that ended next to a moment.
func (r *reader) endedAbout(tid int32, at int64) *recording.Wait {
	waits := r.waitsOf(tid)
	i := sort.Search(len(waits), func(i int) bool { return waits[i].WokenNs() >= at-answerNs })
	if i == len(waits) || waits[i].WokenNs() > at+answerNs {
		return nil
	}
	return waits[i]
}
