package requests

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
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
	overFiles           bool // they walk over the target's open files instead
}

var byHooks = source{attached: []string{"state_changed", "ready", "received", "sent"}, sweep: "sweep",
	sweepStreams: "sweep_streams", turns: "turns", connections: "connections"}

var byCalls = source{attached: []string{"state_changed", "arrived", "call_returned"}, sweep: "sweep_by_address",
	sweepStreams: "sweep_streams_by_address", turns: "turns_by_address", connections: "connections_by_address",
	byCalls: true}

// walkingFiles is the source for a kernel that refuses walks over the elements of maps.
func (s source) walkingFiles() source {
	s.sweep, s.sweepStreams, s.overFiles = "sweep_files", "sweep_streams_of_files", true
	return s
}

// programs are those of the source.
func (s *source) programs() []string { return append([]string{s.sweep, s.sweepStreams}, s.attached...) }

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

// choose leaves only the programs of one source in the spec: the kernel may refuse the others'.
func (s *source) choose(spec *ebpf.CollectionSpec) error {
	if s.byCalls {
		if err := bpf.Set(spec, map[string]any{"by_calls": uint32(1)}); err != nil {
			return err
		}
	}
	own, files := s.programs(), byHooks.walkingFiles()
	for _, other := range []*source{&byHooks, &byCalls, &files} {
		for _, name := range other.programs() {
			if !slices.Contains(own, name) {
				delete(spec.Programs, name)
			}
		}
	}
	return nil
}

// walksMaps tells whether the kernel lets programs walk over the elements of the source's maps.
// Some refuse it, also to root, for what such a program is given of an element it may write.
func (s *source) walksMaps() bool {
	target := "bpf_sk_storage_map"
	if s.byCalls {
		target = "bpf_map_elem"
	}
	walk, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: ebpf.AttachTraceIter,
		AttachTo: target, License: "GPL", Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
	if err != nil {
		return false
	}
	walk.Close()
	return true
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

// forgetAfter is how long a unix socket is known by its address since it was last used: nothing
// tells when it is closed (FORGET_NS of requests.bpf.c).
const forgetAfter = 10 * time.Second

// forgetClosed drops unix sockets that seem to be closed: a walk over open files does not meet
// them. One that is there after all is adopted again.
func (s *source) forgetClosed(collection *ebpf.Collection) error {
	if !s.byCalls || !s.overFiles {
		return nil
	}
	var unused []requestsSocketKey
	var key requestsSocketKey
	var turn requestsTurn
	known := collection.Maps[s.turns]
	entries := known.Iterate()
	for entries.Next(&key, &turn) {
		ofUnix, unusedNs := key.Number != 0, bpf.Now()-int64(turn.LastRecv)
		if ofUnix && turn.Begin == 0 && turn.Protocol != http2 && unusedNs > int64(forgetAfter) {
			unused = append(unused, key)
		}
	}
	// Iterating ends early where sockets came and went meanwhile: the next sweep meets the rest.
	for _, key := range unused {
		for _, name := range []string{s.turns, s.connections} {
			if err := collection.Maps[name].Delete(&key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
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
