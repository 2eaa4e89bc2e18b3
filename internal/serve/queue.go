package serve

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// jobs are those that wait, run, or ended lately. What measures runs alone, in the order in which
// it was asked for: two at a time would disturb each other.
type jobs struct {
	mutex  sync.Mutex
	number int
	all    []*job
	names  map[string]bool // that running jobs will make
	free   chan struct{}   // closed when all that measures and was asked for has ended
}

func newJobs() *jobs {
	nothing := make(chan struct{})
	close(nothing)
	return &jobs{names: map[string]bool{}, free: nothing}
}

// work is what a job does; it returns the page of what it made.
type work func(ctx context.Context, j *job) (href string, err error)

// begin starts a job. A name is one that it makes in the directory: no other job makes it
// meanwhile.
func (s *server) begin(shown Job, measures bool, do work) (*job, error) {
	all := s.jobs
	all.mutex.Lock()
	defer all.mutex.Unlock()
	active := 0
	for _, other := range all.all {
		if !other.ended() {
			active++
		}
	}
	switch {
	case s.context.Err() != nil:
		return nil, errShutdown
	case active >= queuedMax:
		return nil, errManyJobs
	case shown.Name != "" && all.names[shown.Name]:
		return nil, fmt.Errorf("%s is being made by another job; give another name", shown.Name)
	}
	all.number++
	shown.ID, shown.State, shown.Started = fmt.Sprint(all.number), stateQueued, time.Now()
	ctx, stop := context.WithCancelCause(s.context)
	j := &job{stop: stop, shown: shown, changed: make(chan struct{})}
	all.all = append(all.all, j)
	for at := 0; len(all.all) > jobsMax && at < len(all.all); at++ {
		if all.all[at].ended() {
			all.all = slices.Delete(all.all, at, at+1)
			break
		}
	}
	if shown.Name != "" {
		all.names[shown.Name] = true
	}
	mine, ended := turn(nil), func() {}
	if measures {
		mine, ended = all.line()
	}
	s.working.Go(func() {
		s.carryOut(ctx, j, mine, do)
		ended()
		stop(nil)
		all.mutex.Lock()
		delete(all.names, shown.Name)
		all.mutex.Unlock()
	})
	return j, nil
}

// turn is closed when it is a job's turn; nil: at once.
type turn <-chan struct{}

// line puts a job behind all that measures. The caller holds the mutex, and calls ended when the
// job has ended or was given up.
func (a *jobs) line() (before turn, ended func()) {
	first, next := a.free, make(chan struct{})
	a.free = next
	return first, func() {
		go func() { // a job that was given up has others before it still
			<-first
			close(next)
		}()
	}
}

// carryOut waits for the job's turn and runs it.
func (s *server) carryOut(ctx context.Context, j *job, turn turn, do work) {
	if turn != nil {
		select {
		case <-turn:
		case <-ctx.Done():
			j.finish(stateStopped, "", context.Cause(ctx))
			return
		}
	}
	j.tell(News{State: stateRunning})
	href, err := do(ctx, j)
	state := stateDone
	switch {
	case ctx.Err() != nil:
		state = stateStopped
	case err != nil:
		state = stateFailed
	}
	s.library.forget()
	j.finish(state, href, err)
}

// find returns a job by its number.
func (a *jobs) find(id string) *job {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, j := range a.all {
		if j.shown.ID == id {
			return j
		}
	}
	return nil
}

// list returns all jobs, the latest first.
func (a *jobs) list() []Job {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	shown := []Job{}
	for _, j := range slices.Backward(a.all) {
		shown = append(shown, j.now())
	}
	return shown
}

// states counts jobs by state; all states are there.
func (a *jobs) states() map[string]int64 {
	counts := map[string]int64{stateQueued: 0, stateRunning: 0, stateDone: 0, stateFailed: 0, stateStopped: 0}
	for _, shown := range a.list() {
		counts[shown.State]++
	}
	return counts
}
