package record

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/dependency"
	"culprit/internal/host"
	"culprit/internal/probe"
	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
	"culprit/internal/symbol"
	"culprit/recording"
)

const loadingGCPercent = 800

// Session is the loaded recorder inside its own process.
type Session struct {
	options    Options
	shared     *bpf.Shared
	unwinder   *unwind.Unwinder
	sessions   []probe.Session
	statuses   []recording.ProbeStatus
	kernel     *symbol.Kernel // nil until it is needed
	noKernel   bool           // it could not be read
	startCPUNs int64
	window     *openWindow
	endsCalled bool  // offcpu tells processes of the ends of threads, while it runs
	survivors  []int // processes that were followed when the last window ended
	counting   counting
	heldWait   time.Duration // between the looks of the last window at facts that may change
	lastNs     int64         // when it ended
	parts      *os.File      // the folder to which it writes parts, held
	closed     chan struct{}

	dependencies *dependency.Reader

	rates map[string]float64 // of programs that are attached in slices of time: see slicesOf
}

// openWindow is a window that has begun.
type openWindow struct {
	target    Target
	startedAt time.Time
	startNs   int64
	cpuNs     int64
	watch     *watch
	clock     *clockWatch
	held      *heldFacts
	meter     *meter
	costs     *costMeter
}

// without tells whether a probe is left off in this window.
func (w *openWindow) without(session probe.Session) bool {
	return slices.Contains(w.target.Without, session.Name())
}

// Open loads every probe. A probe that this host cannot run is left out and
// named in the recording; an error means that nothing can be recorded.
func Open(ctx context.Context, options Options) (*Session, error) {
	options, err := options.Normal()
	if err != nil {
		return nil, err
	}
	// Most of what loading allocates lives until it is done: collecting in between saves little.
	defer debug.SetGCPercent(debug.SetGCPercent(loadingGCPercent))
	s := &Session{options: options, shared: &bpf.Shared{Options: bpf.Options{
		Hz: options.Hz, Wait: options.Wait, Unwind: options.Unwind, WholeHost: options.WholeHost, Patient: options.Forever,
		Over: options.Over, Worst: options.Worst, ByCalls: options.ByCalls, WalkFiles: options.WalkFiles,
		MemoryBy: options.MemoryBy, Counters: options.Counters, Confirm: options.Confirm}},
		closed: make(chan struct{}), dependencies: dependency.NewReader(), rates: map[string]float64{}}
	go boundMemory(s.closed)
	s.loadUnwinder(ctx)
	if err := s.loadProbes(); err != nil {
		s.Close()
		return nil, err
	}
	s.shared.Loaded()
	s.endsCalled = s.shared.EndsCalled
	s.startCPUNs = ownCPU() // of the whole process: its runtime's start is part of the price
	return s, nil
}

func (s *Session) loadUnwinder(ctx context.Context) {
	status := recording.ProbeStatus{Name: "unwinder"}
	unwinder, err := unwind.Start(ctx, unwind.Options{RunTimes: s.options.RunTimes,
		Poll: s.options.Poll, WholeHost: s.options.WholeHost, Patient: s.options.Forever})
	if err != nil {
		status.Why = err.Error()
	} else {
		status.On = true
		s.unwinder = unwinder
		s.shared.Unwinder = unwinder.Program()
		if s.shared.Queue, err = unwinder.Queue(); err != nil {
			status.Why = err.Error() // it works without: it learns of a process by its first sample
		}
	}
	s.statuses = append(s.statuses, status)
}

func (s *Session) loadProbes() error {
	for _, candidate := range probe.All() {
		if candidate.Asked && !s.options.asks(candidate.Name) {
			continue
		}
		status := recording.ProbeStatus{Name: candidate.Name}
		if why := s.options.leavesOut(candidate.Name); why != "" {
			status.Why = why
			s.statuses = append(s.statuses, status)
			continue
		}
		s.shared.Loading = candidate.Name
		session, err := candidate.Start(s.shared)
		if err != nil {
			if candidate.Essential {
				return err
			}
			status.Why = err.Error()
		} else {
			status.On = true
			s.sessions = append(s.sessions, session)
		}
		s.statuses = append(s.statuses, status)
	}
	return nil
}

// detach stops the probes.
func (s *Session) detach() {
	for _, session := range s.sessions {
		session.Detach()
	}
}

// End closes the window and returns what was seen in it.
func (s *Session) End(finish Finish) (*recording.Recording, error) {
	if s.window == nil {
		return nil, fmt.Errorf("end a window: none is open")
	}
	open := s.window
	s.window = nil
	endNs := bpf.Now()
	bpfNs, sampled := open.costs.stop(time.Duration(endNs - open.startNs))
	s.stop(open, finish)
	numbers := open.meter.stop(endNs)
	facts, sources := open.watch.stop(), open.clock.stop()
	open.held.stopLooking()
	s.heldWait = open.held.wait
	if s.unwinder != nil {
		s.unwinder.Settle(s.options.Poll)
	}
	s.loadKernel() // before the manifest, which names what is off
	rec := &recording.Recording{Manifest: s.manifest(open, endNs, finish.Metrics)}
	rec.Metrics = numbers
	if !open.target.Resume { // a later part: those of the host are in the first
		rec.Facts = append(rec.Facts, host.Facts("/")...)
	}
	watched := s.counting.facts(open.target)
	open.held.note(watched...)
	rec.Facts = withClock(append(append(rec.Facts, watched...), facts...), sources)
	open.held.tellHeld(rec, endNs, finish.Part)
	if err := s.collect(rec, open, endNs, finish.Part); err != nil {
		return nil, err
	}
	nameHolders(rec.Frames, &s.counting.own, s.counting.tracers)
	cost := &rec.Manifest.Cost
	cost.RecorderCPUNs, cost.RecorderNs = ownCPU()-open.cpuNs, int64(time.Since(open.startedAt))
	s.remember(rec, endNs)
	cost.BPFNs, cost.BPFSampledNs, cost.Looks = bpfNs, int64(sampled), s.looks()
	rec.Manifest.BlindSpots = append(blindSpots(rec, s.unwinder, s.options.Forever), s.counting.unseen()...)
	if watched := rec.Manifest.Watched; watched != nil {
		rec.Manifest.BlindSpots = append(rec.Manifest.BlindSpots,
			recording.BlindSpot{Kind: recording.BlindSliced, What: watched.String()})
	}
	return rec, nil
}

// statusesOf are the probes' in this window.
func (s *Session) statusesOf(open *openWindow) []recording.ProbeStatus {
	statuses := slices.Clone(s.statuses)
	for i := range statuses {
		if slices.Contains(open.target.Without, statuses[i].Name) && statuses[i].On {
			statuses[i].On, statuses[i].Why = false, "detached to keep to --max-cost"
		}
	}
	return statuses
}

// gapBefore tells how long nothing was recorded before a window that goes on with another.
func (s *Session) gapBefore(open *openWindow) []recording.Gap {
	if !open.target.Resume || s.lastNs == 0 {
		return nil
	}
	return []recording.Gap{{LengthNs: open.startNs - s.lastNs, Why: open.target.Gap}}
}

func (s *Session) manifest(open *openWindow, endNs int64, metrics map[string]float64) recording.Manifest {
	if metrics == nil {
		metrics = map[string]float64{}
	}
	name, _ := os.Hostname() // empty when it cannot be read: a name only
	hz := s.options.Hz
	if open.target.Hz > 0 {
		hz = open.target.Hz
	}
	return recording.Manifest{
		Schema: recording.SchemaVersion, Program: s.options.Program, Host: name, Labels: s.options.Labels,
		Kernel:    kernelRelease(),
		StartedAt: open.startedAt, WindowNs: endNs - open.startNs,
		Target: recording.Target{Kind: open.target.Kind, Command: open.target.Command, Pid: open.target.Pid,
			Cgroup: open.target.Cgroup},
		Hz: hz, SliceNs: int64(s.options.Slice), Probes: s.statusesOf(open), Gaps: s.gapBefore(open),
		Losses: []recording.Loss{},
		Cost:   recording.Cost{StartCPUNs: s.startCPUNs}, BlindSpots: []recording.BlindSpot{}, Metrics: metrics,
	}
}

func (s *Session) collect(rec *recording.Recording, open *openWindow, endNs int64, part bool) error {
	window := &bpf.Window{Recording: rec, Builder: recording.NewBuilder(), StartNs: open.startNs, EndNs: endNs,
		SliceNs: int64(s.options.Slice), Unwinder: s.unwinder, Comm: map[int32]string{}}
	if s.kernel != nil {
		window.Kernel = func(address uint64) string {
			name, _, _ := s.kernel.Lookup(address)
			return name
		}
	}
	if s.unwinder != nil {
		window.Traces = within(s.unwinder.Take(), open.startNs)
		window.Lose("unwinder: stacks that did not fit", s.unwinder.Lost())
		window.Lose("unwinder: looks at processes with damaged files or memory", s.unwinder.Damaged())
		window.Lose("unwinder: program files whose file system did not answer in time", s.unwinder.Unanswered())
		left := s.unwinder.Prepare(window.Traces, part)
		window.Lose("unwinder: files left without lines to keep the cost down", left.Files)
		window.Lose("unwinder: frames left without lines to keep the cost down", left.Frames)
	}
	for _, session := range s.sessions {
		if open.without(session) {
			continue
		}
		if err := session.Collect(window); err != nil {
			return fmt.Errorf("collect %s: %w", session.Name(), err)
		}
	}
	if s.options.Light {
		addOffCPU(rec)
	}
	window.Builder.Into(rec)
	s.depend(window, open)
	if s.unwinder != nil {
		s.unwinder.Release()
	}
	return nil
}

// loadKernel reads the kernel's symbols when they are first needed: a tenth of
// what loading takes. Without them kernel frames have no names, which is told once.
func (s *Session) loadKernel() {
	if s.kernel == nil && !s.noKernel {
		var err error
		if s.kernel, err = symbol.LoadKernel("/"); err != nil {
			s.noKernel = true
			s.statuses = append(s.statuses, recording.ProbeStatus{Name: "kernel symbols", Why: err.Error()})
		}
	}
}

// within drops stacks that were taken before a window began and arrived in it.
func within(traces []unwind.Trace, startNs int64) []unwind.Trace {
	return slices.DeleteFunc(traces, func(trace unwind.Trace) bool { return trace.KtimeNs < startNs })
}

// Close detaches and unloads everything.
func (s *Session) Close() {
	close(s.closed)
	for i := len(s.sessions) - 1; i >= 0; i-- {
		_ = s.sessions[i].Close() // the kernel frees what a failed close leaves when the process ends
	}
	if s.unwinder != nil {
		s.unwinder.Close()
	}
	s.shared.Close()
	letGo(s.parts)
}

func kernelRelease() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}
