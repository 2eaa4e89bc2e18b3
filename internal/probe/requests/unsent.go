package requests

import "culprit/recording"

// firstFlight is how many bytes leave before the client has acknowledged any: ten segments of an
// Ethernet (TCP_INIT_CWND, include/net/tcp.h). What is kept of more may wait for the network.
const firstFlight = 10 * 1460

// unsentBy says why an answer was kept back; "" where it was not.
func unsentBy(event *requestsRequestEvent) string {
	switch {
	case event.UnsentNs == 0:
		return ""
	case event.UnsentBy == unsentResent:
		return recording.UnsentResent
	case event.UnsentBy == unsentSmall && event.Out <= firstFlight:
		return recording.UnsentSmall
	}
	return recording.UnsentFull
}

// Why the kernel kept an answer back, as in unsent.h.
const (
	unsentSmall  = 1
	unsentResent = 2
)
