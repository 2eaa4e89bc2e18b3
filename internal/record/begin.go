package record

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"culprit/internal/probe"
	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// knowLimit bounds how long a window waits for the unwinder to look at processes that run already.
const knowLimit = 2 * time.Second

// Begin opens a window on a target.
func (s *Session) Begin(target Target) error {
	if s.window != nil {
		return fmt.Errorf("begin a window: one is open")
	}
	roots, err := s.roots(target)
	if err != nil {
		return err
	}
	if target.Kind == "host" && !s.options.WholeHost {
		return fmt.Errorf("record the host: the recorder was started for single targets")
	}
	if s.unwinder != nil {
		s.unwinder.Take()
		s.unwinder.Reset()
	}
	if target.Resume {
		releaseImage()
		debug.FreeOSMemory() // a long recording is to stay as small as its first part
	}
	if s.unwinder != nil && target.Kind != "command" { // a command is not there yet
		s.unwinder.Know(roots, knowLimit)
	}
	window := &openWindow{target: target, startedAt: time.Now(), cpuNs: ownCPU()}
	pids, err := s.attach(window)
	if err != nil {
		s.detach()
		s.discard()
		return err
	}
	window.meter = meterHost(pids, window.startNs, s.options.slowly(meterEvery))
	if !target.Resume { // a part goes on at the pace of the one before
		s.heldWait = 0
	}
	window.held = watchHeld(window.startNs, s.options.slowly(heldEvery), s.heldWait, s.changing(target))
	window.watch, window.clock = watchTarget(pids, window.held), watchClock(s.options.clockPause(), window.held)
	window.costs = meterCost(s.shared.Programs, s.options.slowly(costEvery), s.slicesOf(target))
	letGo(s.parts)
	s.parts = nil
	if target.Salvage != "" {
		s.hold(target.Salvage)
	}
	s.window = window
	return nil
}

// attach starts the probes, makes the target, and begins the window.
func (s *Session) attach(window *openWindow) (pids []int, err error) {
	var maker probe.Tree
	s.shared.EndsCalled = s.endsCalled && !slices.Contains(window.target.Without, "offcpu")
	for _, session := range s.sessions {
		if slices.Contains(window.target.Without, session.Name()) {
			session.Detach() // it may have gone on since the last window
			continue
		}
		if sampler, ok := session.(rated); ok && window.target.Hz > 0 {
			if err := sampler.SetRate(window.target.Hz); err != nil {
				return nil, fmt.Errorf("start %s: %w", session.Name(), err)
			}
		}
		if parted, ok := session.(parted); ok {
			parted.SetShare(window.target.Share)
		}
		if tree, ok := session.(probe.Tree); ok {
			maker = tree
			if err := tree.Forget(); err != nil {
				return nil, fmt.Errorf("start %s: %w", session.Name(), err)
			}
		}
		if err := session.Attach(); err != nil {
			return nil, fmt.Errorf("start %s: %w", session.Name(), err)
		}
	}
	if pids, err = s.followAll(maker, window.target); err != nil {
		return nil, err
	}
	window.startNs = bpf.Now()
	s.shared.StartNs, s.shared.Roots = window.startNs, pids
	for _, session := range s.sessions {
		if slices.Contains(window.target.Without, session.Name()) {
			continue
		}
		if edge, ok := session.(probe.Edge); ok {
			if err := edge.Begins(); err != nil {
				return nil, fmt.Errorf("start %s: %w", session.Name(), err)
			}
		}
	}
	return pids, nil
}

// rated is a probe whose rate can be set between two windows.
type rated interface{ SetRate(hz int) error }

// parted is a probe that can be attached in slices of time, for a share of it that is set between
// two windows; 0: all.
type parted interface {
	SetShare(share float64)
	Watching() (slice int64, watched time.Duration)
}

// slicesOf is the probe that this window attaches in slices of time; nil: none.
func (s *Session) slicesOf(target Target) *slicesOf {
	if target.Share <= 0 || target.Share >= 1 {
		return nil
	}
	for _, session := range s.sessions {
		if parted, ok := session.(parted); ok {
			return &slicesOf{probe: session.Name(), share: target.Share, watching: parted.Watching, rates: s.rates}
		}
	}
	return nil
}

// roots are the processes that a window begins with. One that goes on with another keeps to what
// was followed in that: a child whose parent has ended, a process that has left the cgroup.
func (s *Session) roots(target Target) ([]int, error) {
	pids, err := targetPids(target)
	if !target.Resume || target.Kind == "host" { // of which everybody is followed
		return pids, err
	}
	known := map[int]bool{}
	for _, pid := range pids {
		known[pid] = true
	}
	for _, survivor := range s.survivors {
		for _, pid := range tree(survivor) {
			if !known[pid] {
				known[pid] = true
				pids = append(pids, pid)
			}
		}
	}
	switch {
	case len(pids) > 0: // the cgroup is empty or gone, its processes are not
		return pids, nil
	case err != nil:
		return nil, fmt.Errorf("record %s: %w", target, ErrGone)
	}
	return pids, nil
}

// maxRounds bounds the search for processes that were started while it went on.
const maxRounds = 8

// followAll follows the target's processes until no new one is found: those
// that a followed one starts are followed by themselves.
func (s *Session) followAll(tree probe.Tree, target Target) ([]int, error) {
	known := map[int]bool{}
	var all []int
	threads := 0
	for round := 0; round < maxRounds; round++ {
		pids, err := s.roots(target)
		if err != nil {
			return nil, err
		}
		fresh := slices.DeleteFunc(pids, func(pid int) bool { return known[pid] })
		if len(fresh) == 0 && round > 0 {
			break
		}
		found, err := tree.Follow(fresh)
		if err != nil {
			return nil, err
		}
		threads += found
		for _, pid := range fresh {
			known[pid] = true
		}
		all = append(all, fresh...)
	}
	if threads == 0 {
		return nil, fmt.Errorf("record %s: %w", target, ErrGone)
	}
	return all, nil
}

// discard empties what probes collected in a window that could not begin.
func (s *Session) discard() {
	open := &openWindow{startNs: bpf.Now()}
	// What fails here fails again, and is told, at the next end.
	_ = s.collect(&recording.Recording{}, open, open.startNs, true)
}

// stop ends what the probes of a window do; where the next window follows at once, one that can
// goes on until then.
func (s *Session) stop(open *openWindow, finish Finish) {
	for i := len(s.sessions) - 1; i >= 0; i-- {
		if edge, ok := s.sessions[i].(probe.Edge); ok && !open.without(edge) && !carried(edge, finish) {
			edge.Ends()
		}
	}
	for _, session := range s.sessions {
		if carried(session, finish) && !open.without(session) {
			session.(probe.Carrier).Carry()
			continue
		}
		session.Detach()
	}
}

// carried tells whether a probe goes on until the next window begins.
func carried(session probe.Session, finish Finish) bool {
	_, ok := session.(probe.Carrier)
	return ok && finish.GoesOn
}

// remember notes what a window that goes on with this one has to know.
func (s *Session) remember(rec *recording.Recording, endNs int64) {
	s.survivors, s.lastNs = nil, endNs
	for _, process := range rec.Processes {
		if process.EndNs == 0 {
			s.survivors = append(s.survivors, int(process.Pid))
		}
	}
}
