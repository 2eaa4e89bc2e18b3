// Package tcp tells the waits for a socket that a timer of TCP ended: somebody kept data or an
// acknowledgement back, and nobody was busy meanwhile.
//
// It refuses to tell it of a peer on another host, whose timers leave no trace here, unless the
// length of the wait is that of the timer.
//
//	if tcp.Delayed(wait.WakerKind, 0.041, waker, sleeper) {
//		fmt.Println("the peer acknowledged late")
//	}
package tcp

import (
	"slices"

	"culprit/internal/code"
	"culprit/recording"
)

const (
	// The delayed acknowledgement of Linux waits 40 ms (TCP_DELACK_MIN, include/net/tcp.h) and is a
	// timer of 4 ms ticks or finer; what follows it takes a little more.
	DelayedLeastS = 0.036
	DelayedMostS  = 0.050
	// sentLaterS is the least wait for what a timer sent. Chosen: less is what pacing takes.
	sentLaterS = 0.001
	// What TCP_CORK or MSG_MORE keeps back is sent by the timer of the least retransmission
	// time-out when nothing is under way (tcp_check_probe_timer, include/net/tcp.h): after 200 ms
	// and a variation of the round trip, which is next to nothing within a host.
	corkLeastS = 0.198
	corkMostS  = 0.220
)

// Delayed reports whether a wait of so many seconds, or of so many in the mean, is for a socket and
// ended because a peer acknowledged late: the waker's stack shows its timer or that a timer made
// the peer send, or the length is the timer's.
func Delayed(wakerKind string, seconds float64, waker, sleeper []recording.Frame) bool {
	switch {
	case code.InKernel(waker, "tcp_delack_timer"):
		return true
	case seconds > DelayedMostS:
		return false
	case seconds >= sentLaterS && SentByTimer(wakerKind, waker):
		return true
	case seconds < DelayedLeastS || wakerKind == recording.WakerTimer:
		return false
	case code.InKernel(waker, "tcp_sendmsg"):
		return false // a thread of this host sent it just then, and its work took as long
	}
	return arrives(waker) || waitsForSocket(sleeper)
}

// Corked reports whether a wait is for data that a peer on this host kept back.
func Corked(wakerKind string, seconds float64, waker, sleeper []recording.Frame) bool {
	return seconds >= corkLeastS && seconds <= corkMostS && SentByNobody(wakerKind, waker, sleeper)
}

// SentByTimer reports whether a wait ended by a segment that came out of a CPU's backlog right
// after its clock's tick: no thread sent it. Nagle's algorithm had kept it back until a delayed
// acknowledgement came, as to an event loop that waits for a part of the 40 ms only. What a
// queueing discipline holds back looks the same.
func SentByTimer(wakerKind string, waker []recording.Frame) bool {
	return wakerKind == recording.WakerInterrupt && fromBacklog(waker) &&
		code.InKernel(waker, "timer_interrupt")
}

// SentByNobody reports whether a segment from this host ended a wait for a socket, and no thread
// sent it just then. What a thread sends wakes the receiver below its system call; what a timer
// sends waits in the CPU's backlog. Where the peer is another host it is not told.
func SentByNobody(wakerKind string, waker, sleeper []recording.Frame) bool {
	kinds := []string{recording.WakerInterrupt, recording.WakerKernel}
	return slices.Contains(kinds, wakerKind) && fromBacklog(waker) && waitsForSocket(sleeper)
}

// fromBacklog reports whether a waker's stack hands a segment of this host to its socket.
func fromBacklog(waker []recording.Frame) bool {
	return arrives(waker) && slices.ContainsFunc(waker, func(frame recording.Frame) bool {
		return frame.Name == "process_backlog"
	})
}

// arrives reports whether a waker's kernel stack hands a segment to its socket. The stacks of event
// loops themselves do not tell of what kind the descriptor was.
func arrives(waker []recording.Frame) bool {
	return code.InKernel(waker, "tcp_v4_rcv", "tcp_v6_rcv", "tcp_data_queue")
}

// waitsForSocket reports whether a stack waits for data of a TCP connection.
func waitsForSocket(sleeper []recording.Frame) bool {
	return code.InKernel(sleeper, "tcp_recvmsg", "sk_wait_data", "inet_recvmsg", "sk_stream_wait",
		"wait_woken")
}
