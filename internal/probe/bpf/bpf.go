// Package bpf is what culprit's own BPF programs share: the set of target
// tasks, loading and attaching, ring buffers read in batches, and the window
// that the probes fill. The C headers beside it are included by each probe's
// program; generate.sh compiles one.
//
//	shared := &bpf.Shared{Options: options}
//	collection, err := shared.Load(spec, nil)
//
// It refuses to load where BPF or its permissions are missing: errors wrap
// ErrNotSupported and say what is missing.
package bpf

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// ErrNotSupported is wrapped by the error of a probe that this host cannot run.
var ErrNotSupported = errors.New("not supported here")

// Options are the settings of all probes of one recorder.
type Options struct {
	Hz        int           // on-CPU samples per second and CPU
	Wait      time.Duration // keep a stay off the CPU whole from here on
	Unwind    time.Duration // off-CPU: at most about one user stack in this time per thread
	WholeHost bool          // every process is the target
	Patient   bool          // a process is looked at once a stack of it was taken, not when it begins
	Counters  string        // events to count, as event.Parse reads them; "": none
	Confirm   bool          // have debug registers watch cache lines that threads seem to share
	// MemoryBy is an event that stands for a processor's samples of memory: for tests.
	MemoryBy string
	// Of requests those that took Over are slow; where it is 0, the Worst share of their kind.
	Over  time.Duration
	Worst float64
	// ByCalls has requests followed by system calls also where the kernel has hooks on sockets: for
	// tests.
	ByCalls bool
	// WalkFiles has sockets found by the target's open files also where the kernel lets programs
	// walk over maps: for tests.
	WalkFiles bool
}

// Shared is what the probes of one recorder have in common.
type Shared struct {
	Options  Options
	Tasks    *ebpf.Map     // task storage: being in it makes a task a target
	Unwinder *ebpf.Program // to tail-call from perf_event programs; nil: no user stacks
	// Ends is to run when a thread of the target leaves the CPU for ever, nil when nobody wants to
	// know. Who has a program at every switch anyhow calls it from there and sets EndsCalled: a
	// second program costs every switch of the host some 30 ns.
	Ends       *ebpf.Program
	EndsCalled bool
	// Roots are the processes that the window begins with, which is open.
	Roots []int
	// StartNs is when the window began that is open, for what a probe does at its begin, which
	// takes its time.
	StartNs int64
	// Queue are the maps of the unwinder's queue of processes to look at, by name; nil without it.
	Queue map[string]*ebpf.Map

	// Loading is the probe that is being loaded, for the account of what each costs; Programs are
	// those loaded so far.
	Loading  string
	Programs []OwnProgram

	entries *ebpf.Map // marks of targets at system calls

	types *btf.Cache // the kernel's type information, decoded once for all probes
}

// OwnProgram is a loaded program and the probe it belongs to, which closes it.
type OwnProgram struct {
	Probe, Name string
	Program     *ebpf.Program
}

// memberSize is that of the values of tasks in a program that only asks who is a target (member.h).
const memberSize = 1

// Load makes the spec's objects with the shared map of tasks in place of its own,
// and any further replacements.
func (s *Shared) Load(spec *ebpf.CollectionSpec, replace map[string]*ebpf.Map) (*ebpf.Collection, error) {
	if err := set(spec, "own_pid", uint32(os.Getpid())); err != nil {
		return nil, err
	}
	if s.Options.WholeHost {
		if err := set(spec, "whole_host", uint32(1)); err != nil {
			return nil, err
		}
	}
	if replace == nil {
		replace = map[string]*ebpf.Map{}
	}
	if s.Tasks != nil {
		replace["tasks"] = s.Tasks
		if own := spec.Maps["tasks"]; own != nil && own.ValueSize == memberSize {
			own.ValueSize = s.Tasks.ValueSize()
		}
	}
	if s.entries != nil && spec.Maps["entries"] != nil {
		replace["entries"] = s.entries
	}
	if s.types == nil {
		s.types = btf.NewCache()
	}
	if err := s.adapt(spec); err != nil {
		return nil, err
	}
	options := ebpf.CollectionOptions{MapReplacements: replace, Cache: s.types}
	collection, err := ebpf.NewCollectionWithOptions(spec, options)
	if err != nil {
		return nil, explain(err)
	}
	for name, program := range collection.Programs {
		s.Programs = append(s.Programs, OwnProgram{Probe: s.Loading, Name: name, Program: program})
	}
	if s.Tasks == nil {
		if s.Tasks, err = collection.Maps["tasks"].Clone(); err != nil {
			collection.Close()
			return nil, fmt.Errorf("keep the map of tasks: %w", err)
		}
	}
	if own := collection.Maps["entries"]; own != nil && s.entries == nil {
		if s.entries, err = own.Clone(); err != nil {
			collection.Close()
			return nil, fmt.Errorf("keep the map of entries: %w", err)
		}
	}
	return collection, nil
}

// ForgetEntries clears the marks of targets at system calls: see entry.h.
func (s *Shared) ForgetEntries() error {
	if s.entries == nil {
		return nil
	}
	if err := s.entries.Update(uint32(0), make([]byte, s.entries.ValueSize()), ebpf.UpdateAny); err != nil {
		return fmt.Errorf("forget the targets' entries: %w", err)
	}
	return nil
}

// Announce makes a program tell the unwinder of processes with new code, where
// there is an unwinder: the maps to load the program with.
func (s *Shared) Announce(spec *ebpf.CollectionSpec) (map[string]*ebpf.Map, error) {
	replace := map[string]*ebpf.Map{}
	if len(s.Queue) == 0 {
		return replace, nil
	}
	for name, other := range s.Queue {
		own := spec.Maps[name]
		if own == nil {
			return nil, fmt.Errorf("announce processes: the program has no map %s", name)
		}
		own.Type, own.KeySize, own.ValueSize = other.Type(), other.KeySize(), other.ValueSize()
		own.MaxEntries, own.Flags = other.MaxEntries(), other.Flags()
		replace[name] = other
	}
	values := map[string]any{"announce": uint32(1)}
	if s.Queue["known_code"] != nil {
		values["books"], values["page_bits"] = uint32(1), uint32(bits.TrailingZeros(uint(os.Getpagesize())))
	}
	if s.Options.Patient && s.Queue["pid_page_to_mapping_info"] != nil {
		values["patient"] = uint32(1)
	}
	return replace, Set(spec, values)
}

// set gives a constant of the program its value before it is loaded.
func set(spec *ebpf.CollectionSpec, name string, value any) error {
	variable, ok := spec.Variables[name]
	if !ok {
		return nil // the compiler dropped a constant that this program does not read
	}
	if err := variable.Set(value); err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

// Set gives constants of a program their values before it is loaded.
func Set(spec *ebpf.CollectionSpec, values map[string]any) error {
	for name, value := range values {
		if err := set(spec, name, value); err != nil {
			return err
		}
	}
	return nil
}

// explain adds the way out where errno misleads: EPERM at load is most often a missing capability,
// not the locked-memory limit that the library names. Where this process has the capability, the
// kernel's refusal is told as it is.
func explain(err error) error {
	switch {
	case !errors.Is(err, unix.EPERM):
		return err
	case mayLoad():
		return fmt.Errorf("%w: the kernel refused, though this process may load BPF programs (%v)", ErrNotSupported, err)
	}
	return fmt.Errorf("%w: loading BPF programs was refused; run as root or with CAP_BPF and CAP_PERFMON (%v)",
		ErrNotSupported, unix.EPERM)
}

// mayLoad tells whether this process has the capabilities that loading takes.
func mayLoad() bool {
	set, err := host.EffectiveCapabilities()
	return err == nil && host.MissingForBPF(set) == ""
}

// AttachTracing attaches tp_btf programs. On an error nothing stays attached.
func AttachTracing(collection *ebpf.Collection, names ...string) ([]link.Link, error) {
	var links []link.Link
	for _, name := range names {
		attached, err := link.AttachTracing(link.TracingOptions{Program: collection.Programs[name]})
		if err != nil {
			CloseLinks(links)
			return nil, fmt.Errorf("attach %s: %w", name, explain(err))
		}
		links = append(links, attached)
	}
	return links, nil
}

// CloseLinks detaches.
func CloseLinks(links []link.Link) {
	for _, attached := range links {
		attached.Close()
	}
}

// adapt sets what depends on the kernel's version, by its type information.
func (s *Shared) adapt(spec *ebpf.CollectionSpec) error {
	kernel, err := s.types.Kernel()
	if err != nil {
		return fmt.Errorf("%w: read the kernel's type information: %v", ErrNotSupported, err)
	}
	var traced *btf.Typedef
	if err := kernel.TypeByName("btf_trace_sched_switch", &traced); err != nil {
		return nil // it has no such tracepoint: attaching tells so
	}
	pointer, ok := traced.Type.(*btf.Pointer)
	if !ok {
		return nil
	}
	prototype, ok := pointer.Target.(*btf.FuncProto)
	if ok && len(prototype.Params) < switchParameters {
		return set(spec, "switch_shows_state", uint32(0))
	}
	return nil
}

// switchParameters are those of sched_switch since 5.18: context, preempt, who left, who came,
// state.
const switchParameters = 5

// Loaded frees what only loading needs.
func (s *Shared) Loaded() { s.types = nil }

// Close frees the map of tasks.
func (s *Shared) Close() {
	if s.Tasks != nil {
		s.Tasks.Close()
	}
	if s.entries != nil {
		s.entries.Close()
	}
}
