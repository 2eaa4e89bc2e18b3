package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/agent/spool"
	"culprit/internal/fleet/window"
	"culprit/internal/record"
	"culprit/recording"
)

func clockNow() time.Duration { return clock(unix.CLOCK_MONOTONIC) }

// startRecorder starts a real one.
func startRecorder(ctx context.Context, options record.Options) (recorder, error) {
	started, err := record.Start(ctx, options)
	if err != nil {
		return nil, err // not started: a nil pointer in an interface is not nil
	}
	return started, nil
}

// taken is a window while it is made.
type taken struct {
	entry    spool.Entry
	why      string
	began    moment
	recorder recorder
	maps     int64 // bytes of its BPF maps
}

// light records one light window.
func (a *Agent) light(ctx context.Context) {
	a.window(ctx, taken{recorder: a.recorder, maps: a.mapBytes}, window.Light,
		untilEdge(time.Now(), a.options.Every))
}

// window records one window on a recorder. What goes wrong is told and counted, and the next one is
// tried.
func (a *Agent) window(ctx context.Context, t taken, kind string, length time.Duration) {
	t.began = now()
	t.entry = a.spool.Next(t.began.wall, kind)
	a.namer.Look()
	target := record.Target{Kind: "host", Salvage: a.spool.Incoming(t.entry)}
	if kind == window.Light {
		target.Hz = a.budget.hz()
	}
	if err := t.recorder.Begin(ctx, target); err != nil {
		a.failed(ctx, t, fmt.Errorf("begin a window: %w", err))
		return
	}
	pause(ctx, length, t.recorder.Gone())
	if err := a.end(context.WithoutCancel(ctx), t); err != nil { // an interrupt ends the window, not its writing
		a.failed(ctx, t, err)
		return
	}
	a.log.better("window", "windows are written again")
	select {
	case a.kick <- struct{}{}:
	default: // it has been told
	}
}

// failed tells of a window that could not be made, and lets the recorder go where it ended.
func (a *Agent) failed(ctx context.Context, t taken, err error) {
	if ctx.Err() != nil {
		return
	}
	a.spool.NotRecorded(t.began.wall, err.Error())
	a.log.trouble("window", err.Error())
	select {
	case <-t.recorder.Gone():
		if t.recorder == a.recorder {
			a.lost()
		}
	default:
		if !errors.Is(err, recording.ErrNoSpace) { // whatever it is, a new recorder has not seen it
			a.closeRecorder()
		}
	}
	a.rest(ctx, min(a.options.Every, 5*time.Second))
}

// end ends a window, and keeps it.
func (a *Agent) end(ctx context.Context, t taken) error {
	if a.untold > 0 {
		a.thinned = append(a.thinned, recording.Thinning{Probe: "all", Did: fmt.Sprintf("%d windows left out", a.untold),
			Why: fmt.Sprintf("to keep to %.2f %% of the host", 100*a.budget.share)})
		a.untold = 0
	}
	finish := record.Finish{Path: a.spool.Incoming(t.entry), Part: true, Thinned: a.thinned}
	summary, err := t.recorder.End(ctx, finish)
	if err != nil {
		return fmt.Errorf("end a window: %w", err)
	}
	a.thinned = nil
	ended := now()
	manifest, err := a.manifest(t, ended)
	if err != nil {
		return err
	}
	manifest.LengthNs = summary.WindowNs
	took := a.meter.took(t.recorder.Pid(), a.lightPid()) + programs(summary)
	manifest.Cost.CPUNs = took.Nanoseconds()
	if err := a.spool.Add(t.entry, manifest); err != nil {
		return err
	}
	length, set, suspended := ended.since(a.last)
	a.last = ended
	a.tellClocks(set, suspended)
	if did, why := a.budget.spend(took, length); did != "" {
		a.thinned = []recording.Thinning{{Probe: "oncpu", Did: did, Why: why}}
		a.log.note(fmt.Sprintf("%s: %s", did, why))
	}
	if t.entry.Kind == window.Light {
		if left := a.bands.see(manifest, ended.monotonic); left != "" {
			a.left = left
		}
	}
	a.status.saw(manifest, took, length)
	record.Shrink()
	return nil
}

func (a *Agent) lightPid() int {
	if a.recorder == nil {
		return 0
	}
	return a.recorder.Pid()
}

// perSample is what taking a stack takes in the kernel, where its own account may not be asked: it
// needs CAP_SYS_ADMIN. Of light windows 13 to 20 µs a sample were seen, with what starts and ends
// of processes took.
const perSample = 20 * time.Microsecond

// programs is the run time of the BPF programs in a window.
func programs(summary *record.Summary) (total time.Duration) {
	if summary.Cost.BPFSampledNs == 0 {
		return time.Duration(summary.Samples) * perSample
	}
	for _, ns := range summary.Cost.BPFNs {
		total += time.Duration(ns)
	}
	return total
}

func (a *Agent) tellClocks(set, suspended time.Duration) {
	if set != 0 {
		a.log.note(fmt.Sprintf("the clock was set by %v; windows are numbered in the order in which they were recorded", set))
	}
	if suspended > 0 {
		a.log.note(fmt.Sprintf("the host was suspended for %v", suspended.Round(time.Second)))
	}
}

// manifest describes the recording that lies among the incoming ones.
func (a *Agent) manifest(t taken, ended moment) (*window.Window, error) {
	path := a.spool.Incoming(t.entry)
	rec, err := recording.Open(path)
	if err != nil {
		a.spool.Reject(t.entry)
		return nil, err
	}
	if again, err := readLabels(a.options.LabelFile); err == nil {
		a.labels = again
		a.log.better("labels", "the file of labels is read again")
	} else {
		a.log.trouble("labels", err.Error()+"; those of before hold")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read window: %w", err)
	}
	defer file.Close()
	id, size, err := window.ContentID(file)
	if err != nil {
		a.spool.Reject(t.entry)
		return nil, err
	}
	services := a.namer.Services(rec, a.labels.services)
	countRequests(services, rec)
	manifest := &window.Window{Schema: window.Schema, Content: id, Bytes: size, Kind: t.entry.Kind, Host: a.host,
		Boot: a.boot, Sequence: t.entry.Sequence, Labels: a.hostLabels(), Start: rec.Manifest.StartedAt.UTC(),
		End: ended.wall.UTC(), LengthNs: rec.Manifest.WindowNs, Why: t.why, Services: services,
		Cost: window.Cost{BudgetShare: a.options.Cost,
			MemoryBytes: residentOf(os.Getpid()) + residentOf(t.recorder.Pid()) + t.maps}}
	if err := manifest.Check(); err != nil {
		a.spool.Reject(t.entry)
		return nil, err
	}
	return manifest, nil
}

// countRequests books the requests that were seen on the services of whose processes they are.
func countRequests(services []window.Service, rec *recording.Recording) {
	if rec.Requests == nil {
		return
	}
	of := map[int32]int{}
	for i := range services {
		for _, pid := range services[i].Pids {
			of[pid] = i
		}
	}
	for i := range rec.Requests {
		request := &rec.Requests[i]
		at, known := of[request.Pid]
		if !known || request.Side != recording.SideServer || !recording.Plausible(request.TotalNs, request.Count) {
			continue
		}
		service := &services[at]
		if service.Requests == nil {
			service.Requests, service.LatencyNs = new(int64), new(int64)
		}
		*service.Requests += request.Count
		*service.LatencyNs += request.TotalNs
	}
}

// adopt makes windows of the recordings that a killed agent left: its recorder writes down what it
// had.
func (a *Agent) adopt() {
	orphans, err := a.spool.Orphans()
	if err != nil {
		a.log.trouble("adopt", err.Error())
		return
	}
	for _, entry := range orphans {
		t := taken{entry: entry, why: "its agent was killed", recorder: noRecorder{}}
		manifest, err := a.manifest(t, moment{wall: entry.Start})
		if err == nil {
			manifest.End = manifest.Start.Add(time.Duration(manifest.LengthNs))
			err = a.spool.Add(entry, manifest)
		}
		if err != nil {
			a.log.note(fmt.Sprintf("set aside %s: %v", entry.Name, err))
		}
	}
}

// noRecorder stands for one that is no more.
type noRecorder struct{ recorder }

func (noRecorder) Pid() int { return 0 }
