package cause

import (
	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// Functions of the kernel that wait for a connection, and those that tell who waits for it
// elsewhere that it is there: an event loop, or a socket that does not block, is woken by them out
// of epoll, poll or select.
var (
	connectNamesOfKernel = []string{"inet_stream_connect", "inet_wait_for_connect"}
	acceptNamesOfKernel  = []string{"inet_csk_accept", "inet_csk_wait_for_connect"}
	openedNames          = []string{"tcp_rcv_state_process"} // at the end that connects
	acceptedNames        = []string{"tcp_child_process"}     // at the end that listens
)

// queueClaim stands where it is no link that loses segments.
const queueClaim = "the queue of a listening socket is full: connections to it are dropped, and asked for again a " +
	"second later or more"

// queueRemedy is what helps where a listening socket drops connections.
const queueRemedy = "raise the backlog that the server gives to listen (and net.core.somaxconn), or have it accept " +
	"sooner"

// fullQueue tells where it was no link that lost segments but a listening socket whose queue was
// full: what waited is connect, or who waits for a connection in another call, and the kernel
// counts connections that it dropped, no fewer than half of what was sent again: each is asked for
// again at least once, so that with fewer most of it was lost elsewhere. Who connects goes first,
// and whose socket it is behind it.
func (s *scene) fullQueue(c *claim) {
	dropped, again := s.countOf(counts.ListenDrops), s.countOf(counts.Network+recording.NetRetransmit)
	waits := func(i int) bool { return waitsToConnect(&s.paths[i]) || waitsToAccept(&s.paths[i]) }
	if !s.lost(counts.ListenDrops) || dropped.more() < majority*again.more() || !s.mostly(c, waits) {
		return
	}
	c.add("network", "connections dropped by a listening socket whose queue was full, on the whole host", dropped,
		"connections/run")
	c.claim, c.remedy = queueClaim, queueRemedy
	clients, servers := map[Place]float64{}, map[Place]float64{}
	for i := range s.waits {
		wait := &s.waits[i]
		grown := mean(wait.B) - mean(wait.A)
		at := s.code.Innermost(wait.Frames)
		switch {
		case waitsToAccept(&wait.Path):
			servers[Place{Kind: InProcess, Name: wait.Process}] += grown
		case waitsToConnect(&wait.Path) && at >= 0 && wait.Syscall != "":
			clients[inCode(route(wait.Frames[:at+1])+";"+wait.Syscall)] += grown
		case waitsToConnect(&wait.Path): // a loop of a run time or a library, which waits for whatever comes
			clients[Place{Kind: InProcess, Name: wait.Process}] += grown
		}
	}
	c.atFirst(longestPlace(servers))
	c.atFirst(longestPlace(clients))
}

// waitsToConnect reports whether a path waits for a connection that it opens.
func waitsToConnect(path *compare.Path) bool {
	return path.Kind == compare.Blocked && (code.InKernel(path.Frames, connectNamesOfKernel...) ||
		code.InKernel(path.WakerStack, openedNames...) && !code.InKernel(path.WakerStack, acceptedNames...))
}

// waitsToAccept reports whether a path waits for a connection that somebody opens to it.
func waitsToAccept(path *compare.Path) bool {
	return path.Kind == compare.Blocked &&
		(code.InKernel(path.Frames, acceptNamesOfKernel...) || code.InKernel(path.WakerStack, acceptedNames...))
}

// longestPlace is the place with the most seconds, nameless where none has any; of equal ones the
// first by name.
func longestPlace(seconds map[Place]float64) (longest Place) {
	most := 0.0
	for place, value := range seconds {
		if value > most || value == most && value > 0 && place.Name < longest.Name {
			longest, most = place, value
		}
	}
	return longest
}
