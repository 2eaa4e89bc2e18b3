// Package network counts what happens to TCP connections: opened and how long
// that took, refused or given up, accepted, segments sent again, connections
// reset by the other end; by owner and peer, for the whole host. Nothing of it
// runs per packet.
//
// Accepting happens in an interrupt: it is booked on a process that listens at
// that port, of several that share it on one of them.
package network

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

//go:generate ../bpf/generate.sh network -type total_key -type total -type owner -type listener_key

// Session is the loaded probe.
type Session struct {
	misses     bpf.Misses
	collection *ebpf.Collection
	links      []link.Link
	failed     error // the window could not be ended
}

// Start loads the probe.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadNetwork()
	if err != nil {
		return nil, fmt.Errorf("read program of network: %w", err)
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		return nil, fmt.Errorf("load network: %w", err)
	}
	return &Session{collection: collection}, nil
}

// Name of the probe.
func (s *Session) Name() string { return "network" }

// Attach begins to learn whose connections are.
func (s *Session) Attach() error {
	links, err := bpf.AttachTracing(s.collection, "state_changed", "sent_again", "was_reset")
	s.links = links
	return err
}

// Begins lets it count, and learns whose the sockets are that are there.
func (s *Session) Begins() error {
	_, err := bpf.Walk[byte](s.collection, "window_begins")
	return errors.Join(err, bpf.Begins(s.collection))
}

// Ends lets it count no more.
func (s *Session) Ends() { s.failed = bpf.Ends(s.collection) }

// Detach ends the counting.
func (s *Session) Detach() {
	bpf.CloseLinks(s.links)
	s.links = nil
}

// Collect moves the counts into the window's table of connections.
func (s *Session) Collect(window *bpf.Window) error {
	if s.failed != nil {
		return s.failed
	}
	var rows []recording.Network
	err := bpf.Drain(s.collection.Maps["totals"], func(key networkTotalKey, total *networkTotal) {
		rows = append(rows, recording.Network{Event: events[key.What], Pid: int32(key.Tgid),
			Comm: bpf.Text(total.Comm[:]), Peer: peer(&key), Target: total.Target != 0, Count: int64(total.Count),
			TotalNs: int64(total.TotalNs)})
	})
	if err != nil {
		return fmt.Errorf("read totals: %w", err)
	}
	for _, name := range []string{"owners", "listeners"} {
		if err := s.forget(name); err != nil {
			return err
		}
	}
	slices.SortFunc(rows, func(a, b recording.Network) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Pid, b.Pid),
			cmp.Compare(a.Peer, b.Peer))
	})
	window.Recording.Network = append(window.Recording.Network, rows...)
	s.misses.Take(window, "network", s.collection)
	return window.TakeLosses(s.collection.Maps["losses"], "network: totals that did not fit",
		"network: connections whose owner did not fit")
}

// forget empties a map of owners: what happens to them until the next window is not seen.
func (s *Session) forget(name string) (err error) {
	if name == "listeners" {
		err = bpf.Drain(s.collection.Maps[name], func(networkListenerKey, *networkOwner) {})
	} else {
		err = bpf.Drain(s.collection.Maps[name], func(uint64, *networkOwner) {})
	}
	if err != nil {
		return fmt.Errorf("forget %s: %w", name, err)
	}
	return nil
}

// events are the names of the kinds of network.bpf.c.
var events = map[uint32]string{1: recording.NetConnect, 2: recording.NetFailed, 3: recording.NetAccept,
	4: recording.NetRetransmit, 5: recording.NetReset}

// familyIPv4 is AF_INET.
const familyIPv4 = 2

// peer writes an address, with its port where that says something.
func peer(key *networkTotalKey) string {
	address := netip.AddrFrom16(key.Address).Unmap()
	if key.Family == familyIPv4 {
		address = netip.AddrFrom4([4]byte(key.Address[:4]))
	}
	if key.Port == 0 {
		return address.String()
	}
	return netip.AddrPortFrom(address, uint16(key.Port)).String()
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	s.collection.Close()
	return nil
}
