package compare

import "culprit/recording"

// What TCP_CORK or MSG_MORE keeps back is sent by the timer of the least retransmission time-out when nothing is under
// way that could be acknowledged (tcp_check_probe_timer, include/net/tcp.h): 200 ms and up to a variation of the round
// trip, which is next to nothing within a host.
const (
	corkLeastNs = 198e6
	corkMostNs  = 220e6
)

// WokenWithin reports whether a segment from this host ended a wait for a socket, and no thread sent it just then: a
// timer did. What a thread sends wakes the receiver below its system call; what a timer sends waits in the backlog of
// the CPU. Where the peer is another host, an answer that takes 200 ms looks the same, and is not told.
func WokenWithin(wakerKind string, waker, sleeper []recording.Frame) bool {
	if wakerKind != recording.WakerInterrupt && wakerKind != recording.WakerKernel || !delivers(waker) {
		return false
	}
	for i := range waker {
		if waker[i].Name == "process_backlog" {
			return isSocketWait(sleeper)
		}
	}
	return false
}

// corked reports whether a wait is for data that a peer on this host kept back.
func (r *run) corked(wait *recording.Wait) bool {
	return wait.BlockedNs >= corkLeastNs && wait.BlockedNs <= corkMostNs &&
		WokenWithin(wait.WakerKind, r.pool.framesOf(r.stackOf(wait.WakerStack)), r.pool.framesOf(r.stackOf(wait.Stack)))
}
