// Package count answers what each cgroup, process, thread or CPU counted of some events, interval
// by interval, with how far each number can be trusted. The counters stay on
// (internal/probe/counters).
//
//	session, err := count.Open(count.Options{By: count.ByCgroup, Events: list, Interval: time.Second})
//	defer session.Close()
//	err = session.Run(ctx, func(interval *count.Interval) error { … })
//
// Numbers of two kinds are never mixed: those of --by cpu go on while the CPU idles, those booked
// to somebody stand still while they sleep. It refuses what would be a mixture, and events of a
// whole package for anybody but a CPU.
package count

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"culprit/internal/probe/counters"
	"culprit/internal/probe/counters/event"
)

// To whom counts are booked.
const (
	ByCgroup  = "cgroup"
	ByProcess = "process"
	ByThread  = "thread"
	ByCPU     = "cpu"
)

// Kinds are the values of Options.By.
var Kinds = []string{ByCgroup, ByProcess, ByThread, ByCPU}

// Options are the plan of a session.
type Options struct {
	By     string
	Events event.List
	// Interval between two rows of the same one; 0: one at the end.
	Interval time.Duration
	// Duration of it all; 0: until the context ends.
	Duration time.Duration
	// Pids, where there are any, are the only ones to be counted, with what they start.
	Pids []int
	// Cgroup is the only one to be counted, with those below: its path as in rows, "/web". "": all.
	Cgroup string
	// Own leaves each cgroup without what is below it.
	Own bool
}

// Check refuses a plan that makes no sense, in one line.
func (o *Options) Check() error {
	switch {
	case !slices.Contains(Kinds, o.By):
		return fmt.Errorf("--by %q: there are %s", o.By, strings.Join(Kinds, ", "))
	case o.Interval < 0 || o.Interval > 0 && o.Interval < leastInterval:
		return fmt.Errorf("an interval of %v is too short; give %v or more, such as -i 1s", o.Interval, leastInterval)
	case o.Duration < 0:
		return fmt.Errorf("duration %v is negative; give one such as -d 10s", o.Duration)
	case o.By == ByCPU && (len(o.Pids) > 0 || o.Cgroup != ""):
		return fmt.Errorf("--by cpu counts all that a CPU does, also its idling, and the target's own counts stand still " +
			"while it sleeps: the two cannot be mixed; count the target by cgroup, process or thread")
	case o.By == ByCgroup && len(o.Pids) > 0:
		return fmt.Errorf("a process is counted by process or thread: --by cgroup would leave out the others of its cgroup")
	case o.Own && o.By != ByCgroup:
		return fmt.Errorf("--own is for --by cgroup: nothing is below a %s", o.By)
	}
	return nil
}

// leastInterval keeps the reading itself small beside what is read.
const leastInterval = 10 * time.Millisecond

// Session counts.
type Session struct {
	options Options
	source  source
	tree    *tree // of cgroups; nil where nothing is booked to them
	tallies map[identity]*tally
	begun   time.Time
	turn    float64 // ns that an event keeps a counter that it shares
	looks   int     // readings since the interval began
	// left is what those had counted, by event, who are forgotten.
	left []float64
	// first are the counts of the CPUs at the begin, to hold the rows against.
	first map[int][]counters.Count
}

// source is where counts come from: a meter, or the CPUs alone.
type source interface {
	begin() error
	read() (map[identity]*counters.Row, error)
	cpus() (map[int][]counters.Count, error)
	lost() (map[string]int64, error)
	forget(identity) error
	close()
}

// identity tells rows apart: of a meter, or a CPU by its number.
type identity = counters.Key

// Open opens the events; nothing is counted yet.
func Open(options Options) (*Session, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	s := &Session{options: options, tallies: map[identity]*tally{},
		turn: float64(event.Host.Turn()), left: make([]float64, len(options.Events))}
	var err error
	if options.By == ByCPU {
		s.source, err = openCPUs(options.Events)
	} else {
		s.source, err = openMeter(options)
	}
	if err != nil {
		return nil, err
	}
	if options.By == ByCgroup {
		if s.tree, err = newTree(""); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Begin starts to count: Run does so where nobody has done so before.
func (s *Session) Begin() (err error) {
	if err := s.source.begin(); err != nil {
		return err
	}
	if s.first, err = s.source.cpus(); err != nil {
		return err
	}
	s.begun = time.Now()
	return s.look()
}

// Run counts until the duration is over, the context ends, or each fails, and gives each the
// intervals. The last one is shorter when it is cut off.
func (s *Session) Run(ctx context.Context, each func(*Interval) error) error {
	if s.begun.IsZero() {
		if err := s.Begin(); err != nil {
			return err
		}
	}
	var end <-chan time.Time
	if s.options.Duration > 0 {
		timer := time.NewTimer(time.Until(s.begun.Add(s.options.Duration)))
		defer timer.Stop()
		end = timer.C
	}
	looks := time.NewTimer(s.nextLook(s.begun.Add(s.options.Interval)))
	defer looks.Stop()
	begin, sequence := s.begun, 1
	for over := false; !over; {
		select {
		case <-ctx.Done():
			over = true
		case <-end:
			over = true
		case <-looks.C:
		}
		if err := s.look(); err != nil {
			return err
		}
		next := s.begun.Add(time.Duration(sequence) * s.options.Interval)
		now := time.Now()
		if s.options.Duration > 0 && !now.Before(s.begun.Add(s.options.Duration)) {
			over = true // the end and that of an interval fall together: there is nothing behind it
		}
		if !over && (s.options.Interval == 0 || now.Before(next)) {
			looks.Reset(s.nextLook(next))
			continue
		}
		interval, err := s.interval(begin, now)
		if err != nil {
			return err
		}
		if err := each(interval); err != nil {
			return err
		}
		begin = now
		if s.options.Interval > 0 { // those that were missed, on a host that had no time for us, are left out
			sequence = int(now.Sub(s.begun)/s.options.Interval) + 1
		}
		looks.Reset(s.nextLook(s.begun.Add(time.Duration(sequence) * s.options.Interval)))
	}
	return nil
}

// looksOfInterval are the windows whose variation says how far a number can be trusted that was
// counted for a part of the time.
const looksOfInterval = 10

// namesEvery is how often cgroups that are new are looked up: one that is removed before has no
// name.
const namesEvery = 250 * time.Millisecond

// nextLook is how long to wait for the next reading in an interval that ends at a time. Without
// multiplexing once for each interval will do.
func (s *Session) nextLook(end time.Time) time.Duration {
	every, left := s.options.Interval, time.Until(end)
	if every == 0 {
		every, left = time.Second, math.MaxInt64
	}
	pause := every
	if slices.ContainsFunc(s.options.Events, func(e event.Event) bool { return e.Multiplexed() }) {
		pause = counters.Pause(max(every/looksOfInterval, leastInterval))
	} else if s.tree != nil {
		pause = every / ((every + namesEvery - 1) / namesEvery)
	}
	if left < pause+pause/2 { // no reading that is near the one at the end
		pause = left
	}
	return max(pause, 0)
}

// Close ends the counting.
func (s *Session) Close() { s.source.close() }
