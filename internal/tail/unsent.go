package tail

import (
	"slices"

	"culprit/internal/cause"
	"culprit/internal/code"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// sendingCalls are the kernel functions by which data is put into a socket's queue.
var sendingCalls = []string{"tcp_sendmsg", "sock_write_iter", "__sys_sendto", "__sys_sendmsg"}

// partUnsent is the class of what is not in a recording's parts: it follows on the request.
const partUnsent = "unsent"

// addUnsent adds what the answer lay in the socket for, where that counts.
func (r *reader) addUnsent(a *asked) {
	if !r.delivered || a.row.UnsentNs <= 0 {
		return
	}
	a.parts = append(slices.Clone(a.parts), &recording.RequestPart{Request: a.row.ID, Class: partUnsent,
		TimeNs: a.row.TimeNs + a.row.LatencyNs, LengthNs: a.row.UnsentNs, Where: a.row.UnsentBy,
		Tid: a.row.WriterTid, Stack: recording.NoStack, WakerStack: recording.NoStack, HopStack: recording.NoStack})
}

// seconds is how long a request took, with what its answer lay in the socket for where that counts.
func (a *asked) seconds() float64 {
	ns := a.row.LatencyNs
	if a.reader.delivered {
		ns += a.row.UnsentNs
	}
	return float64(ns) / 1e9
}

// unsent: after the last call, in the socket.
func (r *reader) unsent(part *recording.RequestPart, pid int32) bucket {
	b := bucket{class: part.Class, kind: cause.InPeer, place: "the client"}
	switch part.Where {
	case recording.UnsentSmall:
		b.cause, b.kind, b.place = cause.NetDelayed, cause.InCode, r.sender(pid)
	case recording.UnsentResent:
		b.cause = cause.NetLoss
	}
	return b
}

// sender is where a process sends to sockets, by its samples there; "" where it has none.
func (r *reader) sender(pid int32) string {
	if name, known := r.senders[pid]; known {
		return name
	}
	times := map[string]int64{}
	for i := range r.rec.Samples {
		sample := &r.rec.Samples[i]
		if sample.Pid != pid || sample.Signal != recording.SignalCPU {
			continue
		}
		if frames := r.stack(sample.Stack); code.InKernel(frames, sendingCalls...) {
			times[placeOf(frames)] += sample.ValueNs
		}
	}
	delete(times, "")
	r.senders[pid], _ = perrun.Largest(times)
	return r.senders[pid]
}
