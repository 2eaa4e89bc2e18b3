package counters

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/counters/event"
	"culprit/internal/stat"
	"culprit/recording"
)

// Session is the meter as a probe of the recorder: counts of the target's processes.
type Session struct {
	meter  *Meter
	direct bool    // no event takes turns at a counter
	turn   float64 // ns of a turn

	mutex   sync.Mutex // the meter is read from time to time
	windows map[Key][][]stat.Observed
	last    map[Key][]Count
	rows    map[Key]Row
	looks   int
	failed  error
	stop    chan struct{}
	stopped chan struct{}
}

// lookEvery is how often events that take turns are read: the windows whose variation says how far
// to trust them.
const lookEvery = 100 * time.Millisecond

// Start loads the probe for the events of the options.
func Start(shared *bpf.Shared) (*Session, error) {
	list, err := event.Parse(shared.Options.Counters, event.Host)
	if err != nil {
		return nil, err
	}
	if err := list.Try(event.Host); err != nil {
		return nil, fmt.Errorf("%w: %v", bpf.ErrNotSupported, err)
	}
	meter, err := Open(Options{By: ByProcess, Events: list, Some: !shared.Options.WholeHost, Shared: shared})
	if err != nil {
		return nil, err
	}
	direct := !slices.ContainsFunc(list, func(e event.Event) bool { return e.Multiplexed() })
	return &Session{meter: meter, direct: direct, turn: float64(event.Host.Turn())}, nil
}

// Name of the probe.
func (s *Session) Name() string { return "counters" }

// Attach attaches the program, which counts nothing yet.
func (s *Session) Attach() error {
	s.windows, s.last, s.rows = map[Key][][]stat.Observed{}, map[Key][]Count{}, map[Key]Row{}
	s.looks, s.failed = 0, nil
	return s.meter.attach()
}

// Begins lets it count.
func (s *Session) Begins() error {
	if err := s.meter.book(); err != nil {
		return err
	}
	s.stop, s.stopped = make(chan struct{}), make(chan struct{})
	go s.watch()
	return nil
}

// watch looks at the counters where they take turns.
func (s *Session) watch() {
	defer close(s.stopped)
	if s.direct {
		<-s.stop
		return
	}
	for {
		select {
		case <-s.stop:
			return
		case <-time.After(Pause(lookEvery)):
			s.look()
		}
	}
}

// Pause is a random time around one, to wait before the next reading of events that take turns:
// what the reading itself does to the load then is not in step with the turns, so that no event
// always sees it and none never does.
func Pause(around time.Duration) time.Duration {
	return around/2 + time.Duration(rand.Int64N(int64(around)))
}

// look adds a window to each process.
func (s *Session) look() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	rows, err := s.meter.Read()
	if err != nil {
		s.failed = err
		return
	}
	for who, row := range rows {
		if s.last[who] == nil {
			s.last[who], s.windows[who] = make([]Count, len(row.Counts)), make([][]stat.Observed, len(row.Counts))
		}
		for i, now := range row.Counts {
			for len(s.windows[who][i]) <= s.looks {
				s.windows[who][i] = append(s.windows[who][i], stat.Observed{})
			}
			before := s.last[who][i]
			enabled := float64(now.Enabled - before.Enabled)
			s.windows[who][i][s.looks] = stat.Observed{Value: float64(now.Value - before.Value), Enabled: enabled,
				Running: min(float64(now.Running-before.Running), enabled)}
			s.last[who][i] = now
		}
		s.rows[who] = *row
	}
	s.looks++
}

// Ends lets it count no more.
func (s *Session) Ends() {
	if s.stop == nil {
		return
	}
	close(s.stop)
	<-s.stopped
	s.stop = nil
	s.look()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.meter.control(commandStop); err != nil && s.failed == nil {
		s.failed = err
	}
}

// Detach takes the program away and forgets what was counted.
func (s *Session) Detach() {
	s.Ends() // where the window did not come to its end
	bpf.CloseLinks(s.meter.links)
	s.meter.links = nil
	for who := range s.meter.rows {
		if err := s.meter.Forget(who); err != nil && s.failed == nil {
			s.failed = err
		}
	}
}

// ofTarget leaves out what is nobody's, and the recorder.
func (s *Session) ofTarget(who Key) bool {
	return who.ID != Idle && who.ID != Others && who.ID != Rest && s.rows[who].Comm != recording.RecorderComm
}

// confidence of the intervals in the table.
const confidence = 0.95

// Collect moves the counts into the window: a row for each event of the whole target, and of each
// process.
func (s *Session) Collect(window *bpf.Window) error {
	if s.failed != nil {
		return s.failed
	}
	events := s.meter.options.Events
	all := make([][]stat.Observed, len(events))
	var processes []recording.Counter
	for who, windows := range s.windows {
		if !s.ofTarget(who) {
			continue
		}
		row := s.rows[who]
		for i := range events {
			all[i] = added(all[i], windows[i])
			counter := counterOf(&events[i], windows[i], s.turn)
			counter.Scope, counter.Pid, counter.Comm = recording.ScopeProcess, int32(who.ID), row.Comm
			if counter.Value > 0 {
				processes = append(processes, counter)
			}
		}
	}
	for i := range events {
		counter := counterOf(&events[i], all[i], s.turn)
		counter.Scope = recording.ScopeTarget
		window.Recording.Counters = append(window.Recording.Counters, counter)
	}
	slices.SortFunc(processes, func(a, b recording.Counter) int {
		return cmp.Or(cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Name, b.Name))
	})
	window.Recording.Counters = append(window.Recording.Counters, processes...)
	return window.TakeLosses(s.meter.collection.Maps["losses"], lossesInWindow()...)
}

// lossesInWindow names the losses with the probe.
func lossesInWindow() []string {
	names := slices.Clone(lossNames)
	for i := range names {
		names[i] = "counters: " + names[i]
	}
	return names
}

// added adds windows reading by reading.
func added(sum, more []stat.Observed) []stat.Observed {
	for len(sum) < len(more) {
		sum = append(sum, stat.Observed{})
	}
	for at := range more {
		sum[at].Value += more[at].Value
		sum[at].Enabled += more[at].Enabled
		sum[at].Running += more[at].Running
	}
	return sum
}

// counterOf makes the row of an event. One that had no counter at all has a running time of zero.
func counterOf(e *event.Event, windows []stat.Observed, turn float64) recording.Counter {
	counter := recording.Counter{Name: e.Name, Group: int32(e.Group + 1), Unit: e.Unit}
	for _, window := range windows {
		counter.Value += int64(window.Value)
		counter.EnabledNs += int64(window.Enabled)
		counter.RunningNs += int64(window.Running)
	}
	interval, err := stat.Extrapolate(windows, turn, confidence)
	if err != nil {
		return counter
	}
	counter.Low, counter.High = rounded(interval.Low), rounded(interval.High)
	return counter
}

func rounded(value float64) int64 { return int64(min(math.Round(value), math.MaxInt64/2)) }

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	s.meter.Close()
	return nil
}
