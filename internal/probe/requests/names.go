package requests

import (
	"fmt"
	"net/netip"
	"slices"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/goroutine"
	"culprit/recording"
)

// nameAll reads which services and kinds there were.
func (s *Session) nameAll(c *collection) error {
	var used uint32
	if err := s.collection.Variables["services_used"].Get(&used); err != nil {
		return fmt.Errorf("read services: %w", err)
	}
	var service requestsService
	for at := uint32(firstOfKinds); at < min(used, s.collection.Maps["services"].MaxEntries()); at++ {
		if err := s.collection.Maps["services"].Lookup(at, &service); err != nil {
			return fmt.Errorf("read services: %w", err)
		}
		var before aside
		if s.carried != nil {
			before = s.carried.aside[at]
		}
		c.aside[at] = aside{service.Pushes, service.Pipelined, service.Multiplexed}
		row := &recording.Service{Side: recording.SideServer, Service: serviceName(&service), Pid: int32(service.Tgid),
			Comm: c.window.Comm[int32(service.Tgid)], Pushes: int64(service.Pushes - before.pushes),
			Pipelined:   int64(service.Pipelined - before.pipelined),
			Multiplexed: int64(service.Multiplexed - before.multiplexed)}
		if service.Key.Role == roleClient {
			row.Side = recording.SideClient
		}
		if c.estimate != nil { // the rest of an answer that began before a slice looks like a push
			row.Pushes, row.Pipelined = 0, scaled(row.Pipelined, c.estimate.plain)
			row.Multiplexed = scaled(row.Multiplexed, c.estimate.plain)
		}
		c.services[at] = row
	}
	if err := s.collection.Variables["kinds_used"].Get(&used); err != nil {
		return fmt.Errorf("read requests: %w", err)
	}
	var kind requestsKind
	moves := map[int32]bool{}
	for at := uint32(firstOfKinds); at < min(used, s.collection.Maps["kinds"].MaxEntries()); at++ {
		if err := s.collection.Maps["kinds"].Lookup(at, &kind); err != nil {
			return fmt.Errorf("read requests: %w", err)
		}
		of := c.services[kind.Service]
		if of == nil {
			continue
		}
		if _, known := moves[of.Pid]; !known {
			moves[of.Pid] = !timed(c.window.Recording) || goroutine.Is(of.Pid)
		}
		text := kindText(kind.Protocol, headOf(&kind))
		c.kinds[at] = kindName{side: of.Side, service: of.Service, protocol: protocolNames[kind.Protocol], kind: text,
			pid: of.Pid, comm: of.Comm, moves: moves[of.Pid]}
	}
	return nil
}

// headOf is what of a kind's first request is known: its first bytes; of HTTP/2 path and method, or
// nothing.
func headOf(kind *requestsKind) []byte {
	length := min(int(kind.HeadLength), len(kind.Head))
	if length > 0 && (kind.Protocol == http2 || kind.Protocol == grpc) {
		length = len(kind.Head)
	}
	return kind.Head[:length]
}

// timed tells that what threads waited for was summed up, which offcpu does.
func timed(rec *recording.Recording) bool {
	return slices.ContainsFunc(rec.Manifest.Probes, func(status recording.ProbeStatus) bool {
		return status.Name == "offcpu" && status.On
	})
}

// datagrams marks the port of a peer that is asked by datagrams, as in service.h.
const datagrams = 1 << 16

// serviceName is "tcp port 8080" of who listens, "tcp 10.0.0.1:5432" or "udp 10.0.0.2:53" of who is
// asked, "unix /run/x" of both.
func serviceName(service *requestsService) string {
	key := &service.Key
	if key.Family == familyUnix {
		name := bpf.Text(service.Name[:])
		if service.Name[0] == 0 { // of the abstract namespace
			name = "@" + bpf.Text(service.Name[1:])
		}
		return "unix " + name
	}
	if key.Role != roleClient {
		return fmt.Sprintf("tcp port %d", key.Port)
	}
	address := netip.AddrFrom16(key.Address).Unmap()
	if key.Family == familyIPv4 {
		address = netip.AddrFrom4([4]byte(key.Address[:4]))
	}
	peer := netip.AddrPortFrom(address, uint16(key.Port)).String()
	if key.Port&datagrams != 0 {
		return "udp " + peer
	}
	return "tcp " + peer
}
