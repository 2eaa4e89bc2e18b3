package cause

// Causes of the network, and what recognises them.
const (
	NetDelayed   ID = "net.delayed"
	NetReconnect ID = "net.reconnect"
	NetLoss      ID = "net.loss"

	ruleReconnect Rule = "reconnecting"
	ruleDelayed   Rule = "delayed acknowledgement"
	ruleCork      Rule = "cork"
	ruleLoss      Rule = "lost segments"
)

func netDelayed() Cause {
	return Cause{ID: NetDelayed,
		Claim: "requests wait on small packets that the sender's kernel keeps back: Nagle's algorithm " +
			"with delayed acknowledgement (about 40 ms), or a cork (200 ms)",
		Example: "some answers are sent as two small packets without TCP_NODELAY: 2.2 times the wall " +
			"time, waits of 40 ms in read below receive_all (delayed-header-c)",
		Evidence: "waits near 40 ms in socket reads; the timers of late acknowledgements and corks on " +
			"the waker's stack",
		Proof: "TCP_NODELAY or quick acknowledgement where settable",
		Remedy: "set TCP_NODELAY, or write each message at once; take TCP_CORK off, and MSG_MORE out, " +
			"at a message's end",
		Gain:       "the socket's option stays set, or each message is written at once",
		MistakenAs: "sleep.deliberate; net.loss, whose timer is the cork's as well",
		Recognise: []recogniser{
			{ruleDelayed, findDelayed, []deference{
				watched,
				{[]Rule{ruleLoss}, "a segment that is sent again is late as well"},
			}},
			{ruleCork, findCorked, []deference{
				watched,
				{[]Rule{ruleLoss, ruleDelayed}, "the timer of a cork is that of a lost segment as well"},
			}},
		},
	}
}

func netReconnect() Cause {
	return Cause{ID: NetReconnect, Nature: ofCode,
		Claim: "a new connection for each request",
		Example: "a client opens a new connection for every fifth request: 2.7 times the CPU time, " +
			"half of the growth below connect (reconnect-lookup-go)",
		Evidence:   "connect and accept calls per unit of work",
		Proof:      attributionOnly,
		Remedy:     "keep connections open",
		Gain:       "connections stay open: see which end closes idle ones, and when",
		MistakenAs: "syscall.chatty",
		Recognise: []recogniser{
			{ruleReconnect, findReconnect, []deference{
				noCPU, watched, child,
				{[]Rule{ruleFaults, ruleCold, ruleCollector, ruleLock, ruleTicker, ruleClock},
					"memory, locks and clocks are told by themselves, also within a connection"},
			}},
		},
	}
}

func netLoss() Cause {
	return Cause{ID: NetLoss,
		Claim: "segments are lost and sent again",
		Example: "on the way to a replica one segment in 900 is lost: 4 times the wall time, waits for " +
			"sockets, and retransmits (loss-replica-go)",
		Evidence: "retransmits per second, by peer",
		Proof:    attributionOnly,
		Remedy:   "find the link that loses them",
		Gain:     "the link stays that good, so look again at another time",
		MistakenAs: "a slow peer; a server on this host whose listening socket has a full queue: that " +
			"is said in the claim",
		Recognise: []recogniser{{ruleLoss, findLoss, []deference{watched}}},
	}
}
