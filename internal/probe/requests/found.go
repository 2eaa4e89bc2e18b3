package requests

import "culprit/recording"

// foundBeside says of a time of which nothing else is known what was found beside it; the rest
// stays unknown.
func (m *maker) foundBeside(r *recording.SlowRequest, from, to int64) {
	rest := func(from, to int64) { m.unknown(r, from, to) }
	if from >= to || m.answered(r, from, to, rest) || m.worked(r, from, to, rest) {
		return
	}
	at := from
	// Who answered was without a CPU: so was the request, whoever had it before.
	for _, wait := range m.waitsWithin(r.WriterTid, from, to) {
		woken := max(at, wait.WokenNs())
		if ends := min(to, wait.EndNs()); ends-woken >= workLeast {
			m.unknown(r, at, woken)
			part := stretch(recording.PartQueued, woken, ends-woken, r.WriterTid)
			part.RunnerComm = wait.Runner()
			m.add(r, part)
			at = ends
		}
	}
	m.unknown(r, at, to)
}

// answered says that another service's answer was waited for, where one was; rest is given what is
// left.
func (m *maker) answered(r *recording.SlowRequest, from, to int64, rest func(from, to int64)) bool {
	answer := m.answerBeside(r, from, to, int64(besideLeast*float64(to-from)))
	if answer == nil {
		return false
	}
	rest(from, answer.fromNs)
	part := stretch(recording.PartDownstream, max(from, answer.fromNs), 0, r.WriterTid)
	part.LengthNs, part.Where = min(to, answer.toNs)-part.TimeNs, answer.service
	m.add(r, part)
	rest(min(to, answer.toNs), to)
	return true
}

// worked says what other threads were at, where they were; rest is given what is left.
func (m *maker) worked(r *recording.SlowRequest, from, to int64, rest func(from, to int64)) bool {
	works := m.workBeside(r, 0, from, to)
	at := from
	for _, w := range works {
		rest(at, w.fromNs)
		m.atWork(r, w, max(at, w.fromNs), min(to, w.toNs))
		at = min(to, w.toNs)
	}
	if works == nil {
		return false
	}
	rest(at, to)
	return true
}
