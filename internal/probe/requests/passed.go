package requests

import (
	"culprit/internal/code"
	"culprit/recording"
)

// forEvents tells a system call that waits until one of several things is ready.
func forEvents(call string) bool { return code.Polls(call) || call == "io_uring_enter" }

// passedOn finds the waits on a futex that were for an answer which another thread reads and passes
// on, as clients with a selector of their own do: an answer came meanwhile, and who ended the wait
// had slept for events until then. Nobody who holds a lock sleeps so. It gives how long they were.
func (m *maker) passedOn(r *recording.SlowRequest, parts []recording.RequestPart) (length int64) {
	for i := range parts {
		part := &parts[i]
		from, to := part.TimeNs, part.TimeNs+part.LengthNs
		if part.Class != recording.PartLock || part.LengthNs < workLeast || !m.sleptForEvents(part.WakerTid, from, to) {
			continue
		}
		answer := m.answerBeside(r, from, to, int64(besideLeast*float64(part.LengthNs)))
		if answer == nil {
			continue
		}
		part.Class, part.Where = recording.PartDownstream, answer.service
		length += part.LengthNs
	}
	return length
}

// sleptForEvents tells a thread that waited for events for most of a time.
func (m *maker) sleptForEvents(tid int32, from, to int64) bool {
	slept := int64(0)
	for _, wait := range m.waitsWithin(tid, from, to) {
		if forEvents(wait.Syscall) {
			slept += min(to, wait.WokenNs()) - max(from, wait.TimeNs)
		}
	}
	return 2*slept >= to-from
}
