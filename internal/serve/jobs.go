package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"culprit/internal/report"
)

// The states of a job.
const (
	stateQueued  = "queued"
	stateRunning = "running"
	stateDone    = "done"
	stateFailed  = "failed"
	stateStopped = "stopped"
)

// Limits of jobs.
const (
	jobsMax   = 100 // that are remembered
	queuedMax = 16  // that wait or run
	eventsMax = 500 // of one job; the middle is left out
)

var (
	errManyJobs = errors.New("too many jobs wait already; stop one, or try again when one has ended")
	errStopped  = errors.New("stopped")
)

// Job is what can be told of one job.
type Job struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"` // record, tail, investigate, compare, upload
	Title   string    `json:"title"`
	State   string    `json:"state"`
	Error   string    `json:"error,omitempty"` // one line
	Href    string    `json:"href,omitempty"`  // its page, once there is one
	Name    string    `json:"name,omitempty"`  // of what it makes in the directory
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"` // since then, until it ended
	// Expected is how long it takes in all, as far as that is known.
	Expected float64 `json:"expected,omitempty"`
	// Progress is the latest of each kind of news.
	Progress News `json:"progress"`
}

// News is one piece of news: what is told is set.
type News struct {
	At       float64           `json:"at"` // seconds since the job began
	State    string            `json:"state,omitempty"`
	Stage    string            `json:"stage,omitempty"`
	Budget   float64           `json:"budget_s,omitempty"`
	Estimate *ProgressEffect   `json:"estimate,omitempty"`
	Suspects []ProgressSuspect `json:"suspects,omitempty"`
}

// ProgressEffect is how B compares with A by what was measured so far.
type ProgressEffect struct {
	Metric  string  `json:"metric"`
	Outcome string  `json:"outcome"`
	Ratio   float64 `json:"ratio"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Pairs   int     `json:"pairs"`
}

// ProgressSuspect is one suspect as it stands.
type ProgressSuspect struct {
	Cause string  `json:"cause"`
	Level string  `json:"level"`
	Share float64 `json:"share"`
}

// job is one with its news.
type job struct {
	stop context.CancelCauseFunc

	mutex   sync.Mutex
	shown   Job
	events  []News
	first   int           // number of the first event that is kept
	changed chan struct{} // closed with each piece of news
}

// tell adds a piece of news.
func (j *job) tell(e News) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if e.State == stateRunning {
		j.shown.State, j.shown.Started = stateRunning, time.Now() // waiting is not work
	}
	e.At = time.Since(j.shown.Started).Seconds()
	j.keep(e)
	latest := &j.shown.Progress
	latest.At = e.At
	if e.Stage != "" {
		latest.Stage = e.Stage
	}
	if e.Budget > 0 {
		latest.Budget, j.shown.Expected = e.Budget, e.Budget
	}
	if e.Estimate != nil {
		latest.Estimate = e.Estimate
	}
	if e.Suspects != nil {
		latest.Suspects = e.Suspects
	}
}

// keep appends an event, and wakes who waits for it. The caller holds the mutex.
func (j *job) keep(e News) {
	j.events = append(j.events, e)
	if over := len(j.events) - eventsMax; over > 0 {
		j.events = slices.Clone(j.events[over:])
		j.first += over
	}
	close(j.changed)
	j.changed = make(chan struct{})
}

// finish is the last piece of news.
func (j *job) finish(state, href string, err error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.shown.State, j.shown.Href = state, href
	if err != nil {
		j.shown.Error = report.Line(err)
	}
	j.shown.Seconds = time.Since(j.shown.Started).Seconds()
	j.keep(News{At: j.shown.Seconds, State: state})
}

func (j *job) ended() bool {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return over(j.shown.State)
}

func over(state string) bool {
	return state == stateDone || state == stateFailed || state == stateStopped
}

// now is the job as it stands.
func (j *job) now() Job {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	shown := j.shown
	if shown.State == stateRunning {
		shown.Seconds = time.Since(shown.Started).Seconds()
	}
	return shown
}

// since returns the events from a number on, the number behind them, and what is closed by the
// next.
func (j *job) since(from int) (events []News, next int, changed <-chan struct{}) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	from = min(max(from, j.first), j.first+len(j.events))
	return slices.Clone(j.events[from-j.first:]), j.first + len(j.events), j.changed
}
