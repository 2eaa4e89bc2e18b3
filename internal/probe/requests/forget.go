package requests

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"culprit/internal/probe/bpf"
)

// forget empties the maps: the next window may have another target.
func (s *Session) forget() error {
	s.carried = nil
	kinds := s.collection.Maps["kinds"] // a service is written whole when it is made
	var used uint32
	cpus, err := ebpf.PossibleCPU()
	if err = errors.Join(err, s.collection.Variables["kinds_used"].Get(&used)); err != nil {
		return fmt.Errorf("forget requests: %w", err)
	}
	for at := uint32(0); at < min(used, kinds.MaxEntries()); at++ {
		err := errors.Join(kinds.Update(at, requestsKind{}, ebpf.UpdateExist),
			s.collection.Maps["limits"].Update(at, requestsLimit{}, ebpf.UpdateExist),
			s.collection.Maps["sums"].Update(at, make([]requestsKindSums, cpus), ebpf.UpdateExist))
		if err != nil {
			return fmt.Errorf("forget requests: %w", err)
		}
	}
	for _, name := range []string{"kinds_used", "services_used"} {
		if err := s.collection.Variables[name].Set(uint32(firstOfKinds)); err != nil {
			return fmt.Errorf("forget requests: %w", err)
		}
	}
	return errors.Join(
		bpf.Drain(s.collection.Maps["kind_ids"], func(requestsKindKey, *uint32) {}),
		bpf.Drain(s.collection.Maps["service_ids"], func(requestsServiceKey, *uint32) {}),
		bpf.Drain(s.collection.Maps["listeners"], func(requestsListenerKey, *uint32) {}))
}
