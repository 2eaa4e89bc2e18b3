package requests

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// source is where the programs learn what happens on sockets: from hooks of the kernel's on these,
// which came with Linux 6.3, or from system calls.
type source struct {
	attached []string // programs that follow sockets
	// The programs that walk over what is known of sockets, and the maps which that is in.
	sweep, sweepStreams string
	turns, connections  string
	byCalls             bool
}

var byHooks = source{attached: []string{"state_changed", "ready", "received", "sent"}, sweep: "sweep",
	sweepStreams: "sweep_streams", turns: "turns", connections: "connections"}

var byCalls = source{attached: []string{"state_changed", "arrived", "call_returned"}, sweep: "sweep_by_address",
	sweepStreams: "sweep_streams_by_address", turns: "turns_by_address", connections: "connections_by_address",
	byCalls: true}

// hooks are the tracepoints on sockets.
var hooks = []string{"sk_data_ready", "sock_recv_length", "sock_send_length"}

// missingHooks are those that this kernel lacks, by its type information.
func missingHooks() (missing []string, err error) {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("%w: read the kernel's type information: %v", bpf.ErrNotSupported, err)
	}
	for _, hook := range hooks {
		var traced *btf.Typedef
		err := kernel.TypeByName("btf_trace_"+hook, &traced)
		if errors.Is(err, btf.ErrNotFound) {
			missing = append(missing, hook)
		} else if err != nil {
			return nil, fmt.Errorf("look for tracepoint %s: %w", hook, err)
		}
	}
	return missing, nil
}

// choose leaves only the programs of one source in the spec: the kernel may refuse the other's.
func (s *source) choose(spec *ebpf.CollectionSpec) error {
	other := &byCalls
	if s.byCalls {
		other = &byHooks
		if err := bpf.Set(spec, map[string]any{"by_calls": uint32(1)}); err != nil {
			return err
		}
	}
	for _, name := range append([]string{other.sweep, other.sweepStreams}, other.attached...) {
		if name != "state_changed" { // both have it
			delete(spec.Programs, name)
		}
	}
	return nil
}

// empty drops what is known of sockets by their address. What lies with a socket is void in a later
// window, and goes with the socket.
func (s *source) empty(collection *ebpf.Collection) error {
	if !s.byCalls {
		return nil
	}
	for _, name := range []string{s.turns, s.connections} {
		var key requestsSocketKey
		for known := collection.Maps[name]; ; {
			err := known.NextKey(nil, &key)
			if errors.Is(err, ebpf.ErrKeyNotExist) {
				break
			}
			if err == nil {
				err = known.Delete(&key)
			}
			if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
				return fmt.Errorf("forget sockets: %w", err)
			}
		}
	}
	return nil
}

// between has calls of everybody looked at: the tasks of the target are not known at that time.
func (s *source) between(collection *ebpf.Collection, is bool) error {
	if !s.byCalls {
		return nil
	}
	value := uint32(0)
	if is {
		value = 1
	}
	if err := collection.Variables["nobody_is_known"].Set(value); err != nil {
		return fmt.Errorf("follow sockets between two windows: %w", err)
	}
	return nil
}

// tellUnseen says what system calls do not show.
func (s *Session) tellUnseen(rec *recording.Recording) {
	if !s.source.byCalls {
		return
	}
	why := "as it was asked for"
	if len(s.missing) > 0 {
		why = "this kernel lacks " + strings.Join(s.missing, ", ") + ", which came with Linux 6.3"
	}
	rec.Manifest.BlindSpots = append(rec.Manifest.BlindSpots, recording.BlindSpot{Kind: recording.BlindCalls, Why: why})
}
