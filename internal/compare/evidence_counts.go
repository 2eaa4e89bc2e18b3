package compare

import (
	"maps"
	"slices"
	"strings"

	"culprit/recording"
)

// Counts out of the tables that came with schema 2. A recording without a table
// adds nothing: a matcher must not take that for a zero that was measured.
//
//	block.requests, block.seconds, block.queued   by device: requests, seconds in the device, seconds before it;
//	                     of the devices that the target uses
//	block.requests.OPERATION, block.seconds.OPERATION   the same by operation: read, write, flush … (tree only)
//	block.throttled      pieces of the target's I/O that a cgroup's limit held back, by cgroup (last part of its path);
//	                     .seconds: how long its threads slept for them
//	net.connect, net.accept, net.retransmit, net.reset   by peer
//	faults.minor, faults.major                    page faults (tree only)
//	cpus.used            number of CPUs that the CPU time was spread over (tree only)
//	wait.delayed         waits for a socket as long as a delayed acknowledgement; .seconds, by process
//	wait.corked          waits for a peer on this host that kept data back; .seconds, by process
const (
	CountBlock        = "block.requests"
	CountBlockSeconds = "block.seconds"
	CountBlockQueued  = "block.queued"
	CountHeldBack     = "block.throttled"
	CountHeldSeconds  = "block.throttled.seconds"
	CountFaultsMinor  = "faults.minor"
	CountFaultsMajor  = "faults.major"
	CountCPUsUsed     = "cpus.used"
	CountDelayed      = "wait.delayed"
	CountCorked       = "wait.corked"
	CountNetwork      = "net." // and one of recording.Net…
)

// evidence adds the counts of the newer tables.
func (c *counter) evidence(side Side, at int, r *run) {
	c.heldBack(side, at, r)
	own := ownDevices(r.rec)
	for i := range r.rec.Block {
		block := &r.rec.Block[i]
		if !plausible(block.TotalNs) || !plausible(block.QueueNs) || !plausible(block.Count) || !own(block.Device) {
			continue
		}
		c.tree(side, at, CountBlock, block.Device, "requests/run", float64(block.Count))
		c.tree(side, at, CountBlockSeconds, block.Device, "s/run", float64(block.TotalNs)/1e9)
		c.plus(side, at, CountBlock+"."+block.Operation, "", "requests/run", float64(block.Count))
		c.plus(side, at, CountBlockSeconds+"."+block.Operation, "", "s/run", float64(block.TotalNs)/1e9)
		c.tree(side, at, CountBlockQueued, block.Device, "s/run", float64(block.QueueNs)/1e9)
	}
	for i := range r.rec.Network {
		network := &r.rec.Network[i]
		if network.Target || network.Pid == 0 {
			c.tree(side, at, CountNetwork+network.Event, network.Peer, "events/run", float64(network.Count))
		}
	}
	c.faults(side, at, r)
	c.ownReads(side, at, r)
	c.strangers(side, at, r)
	for _, t := range r.threads() {
		for _, wait := range t.waits {
			name := ""
			waker, sleeper := r.pool.framesOf(r.stackOf(wait.WakerStack)), r.pool.framesOf(r.stackOf(wait.Stack))
			if Delayed(wait.WakerKind, float64(wait.BlockedNs)/1e9, waker, sleeper) {
				name = CountDelayed
			} else if r.corked(wait) {
				name = CountCorked
			} else {
				continue
			}
			c.tree(side, at, name, r.processName(t.pid), "waits/run", 1)
			c.tree(side, at, name+".seconds", r.processName(t.pid), "s/run", float64(wait.BlockedNs)/1e9)
		}
	}
}

// heldBack adds what limits of I/O did to the target: to its processes, and to what is written for its cgroups.
func (c *counter) heldBack(side Side, at int, r *run) {
	groups := r.rec.Cgroups()
	for i := range r.rec.Block {
		block := &r.rec.Block[i]
		if block.Throttled <= 0 || !plausible(block.Throttled) || !plausible(block.ThrottledNs) ||
			!block.Target && !groups[block.ThrottledBy] {
			continue
		}
		c.tree(side, at, CountHeldBack, block.ThrottledBy, "pieces/run", float64(block.Throttled))
		c.tree(side, at, CountHeldSeconds, block.ThrottledBy, "s/run", float64(block.ThrottledNs)/1e9)
	}
}

// ownDevices tells the devices that the target asked for anything. The table is of the whole host: what others do on
// a disk of theirs says nothing about the target's. All requests to its own devices count, whoever submitted them:
// the journal and the flusher write on its behalf. Where it asked none itself, every device may be its own.
func ownDevices(rec *recording.Recording) func(device string) bool {
	own := map[string]bool{}
	for i := range rec.Block {
		if rec.Block[i].Target {
			own[rec.Block[i].Device] = true
		}
	}
	return func(device string) bool { return own[device] || len(own) == 0 }
}

func (c *counter) faults(side Side, at int, r *run) {
	byCPU := map[int32]int64{}
	for i := range r.rec.Samples {
		sample := &r.rec.Samples[i]
		if !sample.Target || !plausible(sample.Count) || !plausible(sample.ValueNs) || r.stray(sample.Pid) {
			continue
		}
		switch sample.Signal {
		case recording.SignalFault:
			c.plus(side, at, CountFaultsMinor, "", "faults/run", float64(sample.Count))
		case recording.SignalMajor:
			c.plus(side, at, CountFaultsMajor, "", "faults/run", float64(sample.Count))
		case recording.SignalCPU:
			byCPU[sample.CPU] += sample.ValueNs
		}
	}
	if used := spreadOver(byCPU); used > 0 {
		c.plus(side, at, CountCPUsUsed, "", "CPUs", used/c.scale) // no amount per unit of work
	}
}

// spreadOver is the inverse of Simpson's index: two CPUs used alike count as 2, a stray sample hardly at all.
func spreadOver(byCPU map[int32]int64) float64 {
	sum, squares := 0.0, 0.0
	for _, value := range slices.Sorted(maps.Values(byCPU)) {
		sum += float64(value)
		squares += float64(value) * float64(value)
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// The delayed acknowledgement of Linux waits 40 ms (TCP_DELACK_MIN, include/net/tcp.h) and
// is a timer of 4 ms ticks or finer; what follows it takes a little more.
const (
	DelayedLeastS = 0.036
	DelayedMostS  = 0.050
	// sentLaterS is how long at least somebody waited for what a timer sent: less is what pacing takes.
	sentLaterS = 0.001
)

// Delayed reports whether a wait of so many seconds, or of so many in the mean, is for a socket and ended because a
// peer acknowledged late: the waker's stack shows its timer, or that a timer made the peer send, or the length is what
// that timer makes of it.
func Delayed(wakerKind string, seconds float64, waker, sleeper []recording.Frame) bool {
	for i := range waker {
		if strings.Contains(waker[i].Name, "tcp_delack_timer") {
			return true
		}
	}
	switch {
	case seconds > DelayedMostS:
		return false
	case seconds >= sentLaterS && SentByTimer(wakerKind, waker):
		return true
	case seconds < DelayedLeastS || wakerKind == recording.WakerTimer:
		return false
	}
	return isSocketWait(sleeper) || delivers(waker)
}

// SentByTimer reports whether a wait ended by a segment that a peer on this host sent while no thread of it ran: out of
// the backlog of a CPU, right after the tick of its clock. It is what Nagle's algorithm had kept back until a delayed
// acknowledgement came, as of an event loop that is busy with others meanwhile and waits for a part of the 40 ms only.
// What a queueing discipline holds back looks the same.
func SentByTimer(wakerKind string, waker []recording.Frame) bool {
	tick, backlog := false, false
	for i := range waker {
		tick = tick || strings.Contains(waker[i].Name, "timer_interrupt")
		backlog = backlog || waker[i].Name == "process_backlog"
	}
	return wakerKind == recording.WakerInterrupt && tick && backlog && delivers(waker)
}

// delivers reports whether a waker's kernel stack hands a segment to its socket: what ends the waits of event loops,
// whose own stacks do not tell of what kind the descriptor was.
func delivers(waker []recording.Frame) bool {
	for i := range waker {
		if waker[i].Kind == recording.KindKernel && containsAny(waker[i].Name, tcpArrivals) {
			return true
		}
	}
	return false
}

// tcpArrivals are kernel functions that a segment comes in through.
var tcpArrivals = []string{"tcp_v4_rcv", "tcp_v6_rcv", "tcp_data_queue"}

// socketWaits are kernel functions that wait for data of a TCP connection.
var socketWaits = []string{"tcp_recvmsg", "sk_wait_data", "inet_recvmsg", "sk_stream_wait", "wait_woken"}

func isSocketWait(frames []recording.Frame) bool {
	for i := range frames {
		if frames[i].Kind == recording.KindKernel && containsAny(frames[i].Name, socketWaits) {
			return true
		}
	}
	return false
}
