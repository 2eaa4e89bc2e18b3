package tail

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/code"
	"culprit/recording"
)

// withinTarget finds the services on whose both ends the target is. Of TCP these are ports of this
// host's loopback: the same port of another address may be another host's.
func withinTarget(rec *recording.Recording) map[string]bool {
	serves, within := map[string]bool{}, map[string]bool{}
	for i := range rec.Services {
		if rec.Services[i].Side == recording.SideServer {
			serves[rec.Services[i].Service] = true
		}
	}
	for i := range rec.Services {
		asked := rec.Services[i].Service
		if rec.Services[i].Side != recording.SideClient {
			continue
		}
		at, err := netip.ParseAddrPort(strings.TrimPrefix(asked, "tcp "))
		loop := err == nil && at.Addr().IsLoopback()
		within[asked] = serves[asked] || loop && serves[fmt.Sprintf("tcp port %d", at.Port())]
	}
	return within
}

// fileLocks are the calls that sleep until a lock on a file, or a semaphore, is free.
var fileLocks = map[string]bool{"flock": true, "fcntl": true, "semop": true, "semtimedop": true}

// network: on a socket that is no request to another service, or in another call.
func (r *reader) network(part *recording.RequestPart, frames []recording.Frame, b bucket) bucket {
	switch {
	case part.Syscall == "connect":
		return bucket{cause: cause.NetReconnect, class: part.Class, kind: cause.InPeer, place: part.Where}
	case fileLocks[part.Syscall]:
		b.cause = cause.LockContended
	case code.AtDatabaseLock(frames):
		return atDatabaseLock(frames, b)
	case part.Class == recording.PartNet && code.LooksUpName(frames):
		return downstream(part, r.nameServer)
	case part.Class == recording.PartNet && slices.ContainsFunc(frames, connects):
		b.cause = cause.NetReconnect
	case part.Class == recording.PartNet && code.AwaitsPipe(frames):
		return r.pipe(part, frames, b)
	case part.Where != "" && part.Class == recording.PartNet:
		return downstream(part, part.Where)
	case part.Syscall == "wait4" || part.Syscall == "waitid":
		b.cause = cause.ProcessShortLived
	}
	return b
}

// pipe: full or empty, until whoever is at its other end reads or writes. Of the target itself that
// is a queue between its threads. Who writes to a pipe that others wait to write to wakes the next
// of them.
func (r *reader) pipe(part *recording.RequestPart, frames []recording.Frame, b bucket) bucket {
	kind, pid, comm := part.WakerKind, part.WakerPid, part.WakerComm
	tid, from, to := part.WakerTid, part.TimeNs, part.TimeNs+part.LengthNs
	for range chainMost {
		if kind != recording.WakerThread || !r.own[pid] {
			break
		}
		longest := r.longest(tid, from, to)
		if longest == nil || !code.AwaitsPipe(r.stack(longest.Stack)) {
			break
		}
		kind, pid, comm, tid = longest.WakerKind, longest.WakerPid, longest.WakerComm, longest.WakerTid
	}
	switch {
	case kind != recording.WakerThread:
		return b
	case r.own[pid]:
		b.cause = cause.RequestQueued
		return b
	}
	does := "writes"
	if code.WritesPipe(frames) {
		does = "reads"
	}
	return downstream(part, fmt.Sprintf("%s, which %s the pipe", comm, does))
}

// nameServerOf is who is waited for where the name of a host is looked up: known by its port where
// it was asked and answered.
func nameServerOf(rec *recording.Recording) string {
	for i := range rec.Services {
		row := &rec.Services[i]
		if row.Side == recording.SideClient && strings.HasPrefix(row.Service, "udp ") &&
			strings.HasSuffix(row.Service, ":53") {
			return row.Service
		}
	}
	return "the name server"
}

// downstream: for the answer of another service.
func downstream(part *recording.RequestPart, peer string) bucket {
	return bucket{cause: cause.DownstreamSlow, class: part.Class, kind: cause.InPeer, place: peer}
}

// connects tells a function that makes a connection: who sleeps below it waits for the other end to
// take it up.
func connects(frame recording.Frame) bool {
	return frame.Kind != recording.KindKernel && code.Connects(frame)
}
