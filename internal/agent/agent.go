// Package agent records a host for ever, in windows, at a cost that it keeps to a budget: every
// minute a light one, every so often a full one. They are kept on disk under a bound (package
// spool), each with a manifest that says which services ran in it (package service), so that any
// two times can be compared later; and a hub gets them where there is one.
//
//	err := agent.Run(ctx, agent.Options{Folder: "/var/lib/culprit/agent", Keep: 2 << 30, Cost: 0.005})
//
// It ends when its context does, with the window that is open written. What goes wrong meanwhile,
// a recorder that is killed, a disk that is full, a hub that is away, is told, counted, and tried
// again. It refuses to begin where nothing can be recorded or the folder is another agent's.
package agent

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"time"

	"culprit/internal/agent/service"
	"culprit/internal/agent/spool"
	"culprit/internal/fleet/window"
	"culprit/internal/record"
	"culprit/recording"
)

// Options are what an agent is asked for.
type Options struct {
	Folder string        // where windows are kept
	Keep   int64         // bytes
	Every  time.Duration // length of a light window
	// Full is how often there is a full window, FullFor how long it is; 0: never.
	Full, FullFor time.Duration
	Cost          float64 // share of the host's CPU time; 0: no limit
	Requests      bool    // count requests of services
	Host          string  // name of the host; "": its own
	Labels        map[string]string
	LabelFile     string // read for each window; "": none
	Hub           string // address; "": none
	TokenFile     string
	Program       string // name and version
	// Ready is told once, before the first window; from then on the folder has a status.
	Ready func()
	// Log is where is told what goes wrong and what goes well again, a line each.
	Log io.Writer

	start      starter       // of recorders; nil: of real ones
	firstPause time.Duration // after a failure at the hub; 0: a second
}

// starter starts a recorder.
type starter func(context.Context, record.Options) (recorder, error)

// recorder is what an agent needs of a recorder.
type recorder interface {
	Begin(context.Context, record.Target) error
	End(context.Context, record.Finish) (*record.Summary, error)
	Pid() int
	Gone() <-chan struct{}
	Close()
}

// Agent is one that runs.
type Agent struct {
	options Options
	spool   *spool.Spool
	namer   *service.Namer
	log     *log
	budget  *budget
	meter   *meter
	labels  labels
	host    string
	boot    string

	recorder recorder             // of light windows; nil: none is loaded
	mapBytes int64                // of its BPF maps
	deaths   int64                // recorders that ended by themselves
	skipped  int64                // windows that were left out to keep to the budget
	untold   int64                // those of them that no window has told of
	thinned  []recording.Thinning // what the next window is to tell of
	last     moment               // when the cost was booked last
	fullAt   time.Duration        // by the timers, when the next full window is due
	asks     chan window.Ask
	bands    *bands
	left     string        // which service left its band; "": none
	kick     chan struct{} // a window is there to be shipped
	status   *status
	shipper  *shipper // nil: no hub
}

// Run records until its context ends.
func Run(ctx context.Context, options Options) error {
	if err := options.check(); err != nil {
		return err
	}
	kept, err := spool.Open(options.Folder, options.Keep)
	if err != nil {
		return err
	}
	a := &Agent{options: options, spool: kept, namer: service.NewNamer("/"), log: newLog(options.Log),
		budget: newBudget(options.Cost, cpus()), meter: newMeter(), boot: bootID(),
		bands: newBands(), asks: make(chan window.Ask, 8), kick: make(chan struct{}, 1)}
	if a.options.start == nil {
		a.options.start = startRecorder
	}
	err = a.run(ctx)
	if closed := kept.Close(); err == nil && closed != nil {
		err = fmt.Errorf("end agent: %w", closed)
	}
	return err
}

func (a *Agent) run(ctx context.Context) error {
	var err error
	if a.host = a.options.Host; a.host == "" {
		if a.host, err = os.Hostname(); err != nil || a.host == "" {
			return fmt.Errorf("find the name of this host: %w; give it with --host", err)
		}
	}
	if a.labels, err = readLabels(a.options.LabelFile); err != nil {
		return err
	}
	a.status = newStatus(a)
	a.adopt()
	shipped, err := a.startShipping(ctx)
	if err != nil {
		return err
	}
	defer shipped()
	defer a.closeRecorder()
	if err := a.load(ctx); err != nil { // later it is tried again; at the start somebody looks on
		return err
	}
	a.last, a.fullAt = now(), clockNow()+a.options.Full
	a.status.write(a, true) // who is told that it records may ask for its status at once
	if a.options.Ready != nil {
		a.options.Ready()
	}
	for ctx.Err() == nil {
		a.turn(ctx)
	}
	a.status.write(a, false)
	return nil
}

// turn is one window, or the pause where one is left out.
func (a *Agent) turn(ctx context.Context) {
	a.status.write(a, true)
	switch wait := a.ready(ctx); {
	case wait > 0:
		a.rest(ctx, wait)
	case a.fullDue():
		a.full(ctx)
	default:
		a.light(ctx)
	}
}

// leastRoom is what the disk is to have free before a window begins.
const leastRoom = 8 << 20

// ready makes everything ready for a window; above 0 is how long there is to be none.
func (a *Agent) ready(ctx context.Context) time.Duration {
	edge := untilEdge(time.Now(), a.options.Every)
	if !a.budget.affords() {
		a.skipped, a.untold = a.skipped+1, a.untold+1
		a.log.trouble("budget", fmt.Sprintf("no windows for now: %s", a.budget.text()))
		return edge
	}
	a.log.better("budget", "windows again")
	if !a.spool.MakeRoom(leastRoom) {
		a.spool.NotRecorded(time.Now(), "no space left on the disk of "+a.options.Folder)
		a.log.trouble("disk", fmt.Sprintf("no space left in %s: no windows for now (free some)", a.options.Folder))
		return edge
	}
	a.log.better("disk", "there is space again")
	if err := a.load(ctx); err != nil {
		a.spool.NotRecorded(time.Now(), err.Error())
		a.log.trouble("recorder", err.Error())
		return edge
	}
	a.log.better("recorder", "the recorder runs again")
	return 0
}

// rest lets time go by without a window, and books it.
func (a *Agent) rest(ctx context.Context, wait time.Duration) {
	pause(ctx, wait, nil)
	at := now()
	length, _, _ := at.since(a.last)
	a.last = at
	a.budget.rest(a.meter.took(a.pids()...), length)
}

// pause lets time go by; false when it was cut short.
func pause(ctx context.Context, wait time.Duration, gone <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-gone:
	}
	return false
}

// load starts the recorder of light windows where there is none.
func (a *Agent) load(ctx context.Context) error {
	if a.recorder != nil {
		select {
		case <-a.recorder.Gone():
			a.lost()
		default:
			return nil
		}
	}
	started, err := a.options.start(ctx, a.recording(true))
	if err != nil {
		return err
	}
	a.recorder = started
	a.mapBytes = mapsOf(started.Pid())
	return nil
}

// recording plans a recorder.
func (a *Agent) recording(light bool) record.Options {
	options := record.Options{WholeHost: true, Program: a.options.Program, Requests: a.options.Requests, Light: light}
	if light {
		options.Hz, options.Forever = rates[0], true
	}
	return options
}

// lost lets go of a recorder that ended by itself.
func (a *Agent) lost() {
	a.deaths++
	a.log.note("the recorder ended by itself; another one is started")
	a.closeRecorder()
}

func (a *Agent) closeRecorder() {
	if a.recorder != nil {
		a.recorder.Close()
		a.recorder = nil
	}
}

// pids are the processes that the agent has to answer for beside its own.
func (a *Agent) pids() []int {
	if a.recorder == nil {
		return nil
	}
	return []int{a.recorder.Pid()}
}

func cpus() int { return runtime.NumCPU() }

// hostLabels are those that hold for all of the host.
func (a *Agent) hostLabels() map[string]string {
	all := maps.Clone(a.labels.host)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, a.options.Labels)
	return all
}
