package cause

// Causes of slow requests. They are raised from the requests themselves, by culprit tail and where
// two services are told apart by theirs (package tail). What threads do shows one of them: waiting
// for the answers of another program, or for files that it serves.
const (
	RequestQueued  ID = "request.queued"
	LoopBlocked    ID = "loop.blocked"
	DownstreamSlow ID = "downstream.slow"

	ruleFileServer Rule = "file server"
	ruleAnswer     Rule = "answers of others"
)

// byTail ends the evidence of a cause that only culprit tail raises.
const byTail = "; raised by culprit tail"

func requestQueued() Cause {
	return Cause{ID: RequestQueued,
		Claim: "requests wait until a worker is free to read them or to take them up",
		Example: "a server with four threads, of which one in a thousand requests holds one for 20 ms: the " +
			"requests behind it wait as long, read by nobody",
		Evidence: "data is ready on a socket, or a request is read, long before a thread takes it up; the threads " +
			"were at other requests" + byTail + "; between two services also where requests see what a worker " +
			"does for longer, and all threads do as much of it for each of them as before",
		Proof:      attributionOnly,
		Remedy:     "more workers, or make what holds them shorter",
		Gain:       "as many workers stay free under the load of production",
		MistakenAs: "loop.blocked, where one thread serves all; cpu.starved, where the worker had been woken",
	}
}

func loopBlocked() Cause {
	return Cause{ID: LoopBlocked,
		Claim: "requests of an event loop wait while it runs something long for another, or sleeps in a call",
		Example: "a Node server that computes for 20 ms at one of 1,000 requests: 736 requests of 16 connections " +
			"took longer than 10 ms, 690 of them because they waited to be read",
		Evidence:   "the loop's thread on a CPU or in a blocking call between data ready and read" + byTail,
		Proof:      attributionOnly,
		Remedy:     "do the long work in pieces, in a worker thread, or in another process",
		Gain:       "nothing long comes back into the loop",
		MistakenAs: "request.queued, where several threads serve; runtime.gc, where the loop collects garbage",
	}
}

func downstreamSlow() Cause {
	return Cause{ID: DownstreamSlow,
		Claim: "the time is spent waiting for another service",
		Example: "a front end whose back end takes 30 ms for one of 100 answers: its own slow requests sleep " +
			"between their question and that answer",
		Evidence: "the time between this service's own request to a peer and its answer, by peer; waits at a " +
			"pipe whose other end another process has" + byTail + "; between two services also by the latency of " +
			"their requests, where such waiting is most of what they take longer; waits in, and ended by, the " +
			"kernel's functions of file systems that a process serves (FUSE, NFS, 9P, SMB); a command's waits in " +
			"reads, writes and polls that a thread of another program on this host ended, each longer than before",
		Proof:      attributionOnly,
		Remedy:     "look at the peer: run culprit tail there",
		Gain:       "the peer stays as quick",
		MistakenAs: "net.delayed, net.loss: the answer was under way; memory.page-in, where the kernel reads the disk itself",
		Recognise: []recogniser{
			{ruleFileServer, findFileServer, []deference{noCPU, watched}},
			{ruleAnswer, findAnswer, []deference{
				noCPU, watched,
				{[]Rule{ruleLoss, ruleDelayed, ruleCork}, "the answer was under way"},
				{[]Rule{ruleFileServer}, "the answer is a file"},
				{[]Rule{ruleForeign}, "a lock that is given up is no answer"},
			}},
		},
		Before: []deference{
			{[]Rule{rulePageIn, ruleWriteback, ruleInode}, "the page, or the lock, is had when the files' server has answered"},
		},
	}
}
