package requests

import (
	"slices"

	"culprit/recording"
)

// whileAsleep says what other threads of the process did while a request's loop slept for events,
// where elsewhere found nothing for the whole of its time: it may run for half of it. They have to
// be at work for besideLeast of these sleeps, and for besideRare times as much as in the whole
// window. It gives how much of the sleeps it took the place of.
func (m *maker) whileAsleep(r *recording.SlowRequest, tid int32, first int) (length int64) {
	asleep, worked := int64(0), int64(0)
	works := map[int64][]stint{} // by the begin of the sleep
	for _, part := range m.parts[first:] {
		if !sleepsForEvents(&part, tid) {
			continue
		}
		asleep += part.LengthNs
		during, covered := m.worksWithin(r, tid, part.TimeNs, part.TimeNs+part.LengthNs)
		works[part.TimeNs], worked = during, worked+covered
	}
	if asleep < workLeast || float64(worked) < m.leastWork(r.Pid)*float64(asleep) {
		return 0
	}
	parts := slices.Clone(m.parts[first:])
	m.parts = m.parts[:first]
	for _, part := range parts {
		if !sleepsForEvents(&part, tid) {
			m.parts = append(m.parts, part)
			continue
		}
		length += m.instead(r, part, works[part.TimeNs])
	}
	return length
}

// instead adds works in the place of what of a part they cover, and the rest of it. It gives how
// much they cover.
func (m *maker) instead(r *recording.SlowRequest, part recording.RequestPart, works []stint) (length int64) {
	m.without(r, part, works)
	at, to := part.TimeNs, part.TimeNs+part.LengthNs
	for _, w := range works {
		start, end := max(at, w.fromNs), min(to, w.toNs)
		m.atWork(r, w, start, end)
		length, at = length+end-start, end
	}
	return length
}

// sleepsForEvents tells a sleep of a loop that was long enough to be kept.
func sleepsForEvents(part *recording.RequestPart, tid int32) bool {
	return part.Class == recording.PartNet && part.Tid == tid && forEvents(part.Syscall)
}
