package counts

import (
	"maps"
	"math"
	"slices"

	"culprit/internal/compare/tcp"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// Counts out of the tables that came with schema 2. A recording without a table adds nothing.
//
//	block.requests.OPERATION, block.seconds.OPERATION   read, write, flush … (tree only)
//	net.connect, net.accept, net.retransmit, net.reset   by peer
//	wait.delayed.seconds, wait.corked.seconds, block.throttled.seconds   how long these took
const (
	// By device, of the devices that the target uses.
	Block        = "block.requests"
	BlockSeconds = "block.seconds" // in the device
	BlockQueued  = "block.queued"  // seconds before it
	// OwnReads are block requests by which the target's own threads read (tree only). Those of a
	// device are everybody's: on a busy host they hide that the target began to read.
	OwnReads = "block.reads.own"
	// HeldBack are pieces of the target's I/O that a cgroup's limit held back, by cgroup.
	HeldBack    = "block.throttled"
	HeldSeconds = "block.throttled.seconds" // how long its threads slept for them
	FaultsMinor = "faults.minor"            // page faults (tree only)
	FaultsMajor = "faults.major"
	CPUsUsed    = "cpus.used"    // number of CPUs that the CPU time was spread over (tree only)
	Delayed     = "wait.delayed" // waits for a socket as long as a delayed acknowledgement, by process
	Corked      = "wait.corked"  // waits for a peer on this host that kept data back, by process
	Network     = "net."         // and one of recording.Net…
	// StrangersCPU is the sampled CPU time of everybody on the host but the target (tree only).
	StrangersCPU = "strangers.cpu"
	// Throttled are the seconds that a CPU quota stopped one of the target's cgroups, by path: the
	// kernel's account (cpu.stat). A program that enters its cgroup after its start is seen there
	// up to a second late: a small number is no sign that nothing was stopped.
	Throttled = "cgroup.throttled"
	// ListenDrops are connections that the kernel dropped because the queue of a listening socket
	// was full (TcpExt ListenDrops), on the whole host: the client sends again after a second.
	ListenDrops = "tcp.listen_drops"
)

// throttledMetric is the counter of the table of metrics; threads on several CPUs stop at once.
const throttledMetric = "cgroup.cpu.throttled_s"

// block adds the requests to the target's own devices, and what limits of I/O did to its processes
// and to what is written for its cgroups.
func (t *Table) block(rec *recording.Recording) {
	groups, own := rec.Cgroups(), ownDevices(rec)
	for i := range rec.Block {
		block := &rec.Block[i]
		if block.Throttled > 0 && recording.Plausible(block.Throttled, block.ThrottledNs) &&
			(block.Target || groups[block.ThrottledBy]) {
			t.tree(HeldBack, block.ThrottledBy, "pieces/run", float64(block.Throttled))
			t.tree(HeldSeconds, block.ThrottledBy, "s/run", seconds(block.ThrottledNs))
		}
		if block.Target && block.Operation == "read" && recording.Plausible(block.Count) {
			t.plus(OwnReads, "", "requests/run", float64(block.Count))
		}
		if !recording.Plausible(block.TotalNs, block.QueueNs, block.Count) ||
			!own[block.Device] && len(own) > 0 {
			continue
		}
		t.tree(Block, block.Device, "requests/run", float64(block.Count))
		t.tree(BlockSeconds, block.Device, "s/run", seconds(block.TotalNs))
		t.plus(Block+"."+block.Operation, "", "requests/run", float64(block.Count))
		t.plus(BlockSeconds+"."+block.Operation, "", "s/run", seconds(block.TotalNs))
		t.tree(BlockQueued, block.Device, "s/run", seconds(block.QueueNs))
	}
}

// ownDevices are the devices that the target asked for anything: what others do on a disk of theirs
// says nothing about it. All requests to its own devices count, whoever submitted them: the journal
// and the flusher write on its behalf. Where it asked none, every device may be its own.
func ownDevices(rec *recording.Recording) map[string]bool {
	own := map[string]bool{}
	for i := range rec.Block {
		if rec.Block[i].Target {
			own[rec.Block[i].Device] = true
		}
	}
	return own
}

func (t *Table) network(rec *recording.Recording) {
	for i := range rec.Network {
		network := &rec.Network[i]
		if network.Target || network.Pid == 0 {
			t.tree(Network+network.Event, network.Peer, "events/run", float64(network.Count))
		}
	}
}

// sentLate adds the waits for what a timer of TCP kept back.
func (t *Table) sentLate(r *timeline.Run) {
	for _, thread := range r.Threads {
		for _, wait := range thread.Waits {
			name, waited := Delayed, seconds(wait.BlockedNs)
			waker, sleeper := r.Frames(wait.WakerStack), r.Frames(wait.Stack)
			if !tcp.Delayed(wait.WakerKind, waited, waker, sleeper) {
				if name = Corked; !tcp.Corked(wait.WakerKind, waited, waker, sleeper) {
					continue
				}
			}
			t.tree(name, r.ProcessName(thread.Pid), "waits/run", 1)
			t.tree(name+".seconds", r.ProcessName(thread.Pid), "s/run", waited)
		}
	}
}

// samples adds what samples count: page faults, CPUs, and what others took of the host's CPUs.
func (t *Table) samples(r *timeline.Run) {
	byCPU, strangers := map[int32]int64{}, 0.0
	for i := range r.Recording.Samples {
		sample := &r.Recording.Samples[i]
		if sample.Signal == recording.SignalCPU && !sample.Target && recording.Plausible(sample.ValueNs) {
			strangers += seconds(sample.ValueNs)
		}
		if !sample.Target || !recording.Plausible(sample.Count, sample.ValueNs) || r.Stray(sample.Pid) {
			continue
		}
		switch sample.Signal {
		case recording.SignalFault:
			t.plus(FaultsMinor, "", "faults/run", float64(sample.Count))
		case recording.SignalMajor:
			t.plus(FaultsMajor, "", "faults/run", float64(sample.Count))
		case recording.SignalCPU:
			byCPU[sample.CPU] += sample.ValueNs
		}
	}
	if strangers > 0 {
		t.plus(StrangersCPU, "", "s/run", strangers)
	}
	if used := spreadOver(byCPU); used > 0 {
		t.plus(CPUsUsed, "", "CPUs", used/t.scale) // no amount per unit of work
	}
}

// spreadOver is the inverse of Simpson's index: two CPUs used alike are 2, a stray sample none.
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

// grownBy tells by how much a counter grew within the window, for each scope in which it did.
func grownBy(rec *recording.Recording, name string, tell func(scope string, grown float64)) {
	type span struct{ low, high float64 }
	seen := map[string]span{}
	for i := range rec.Metrics {
		metric := &rec.Metrics[i]
		if metric.Name != name || !(math.Abs(metric.Value) <= recording.MaxSeconds) {
			continue // a damaged recording may hold any number
		}
		one, known := seen[metric.Scope]
		if !known {
			one = span{metric.Value, metric.Value}
		}
		seen[metric.Scope] = span{min(one.low, metric.Value), max(one.high, metric.Value)}
	}
	for _, scope := range slices.Sorted(maps.Keys(seen)) {
		if one := seen[scope]; one.high > one.low {
			tell(scope, one.high-one.low)
		}
	}
}
