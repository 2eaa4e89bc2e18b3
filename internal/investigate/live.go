package investigate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/record"
	"culprit/internal/trial"
	"culprit/recording"
)

// liveSide is a side that runs already, as it was last seen.
type liveSide struct {
	target   record.Target
	is       record.Process // that began first
	restarts int
	as       string // what it is called in messages: ", as A"
}

// The windows of two live sides: how many of a usual budget they share, and how often a service may
// be restarted meanwhile.
const (
	liveShares = 24 // twelve windows without the recorder, six pairs with it
	// liveBudget is what a budget that may grow is for them. Measured on sixteen pairs of services:
	// 75 s left three of them undecided, which 150 and 180 s told.
	liveBudget   = 150 * time.Second
	mostRestarts = 3
	comeBack     = 10 * time.Second
)

// errRestarted says that a window holds the end of one process and the beginning of another.
var errRestarted = errors.New("it was restarted")

func newLiveSide(target record.Target, as string) *liveSide {
	return &liveSide{target: target, is: target.Eldest(), as: as}
}

// bothLive reports whether two services that run already are compared.
func (o Options) bothLive() bool { return o.Target.Kind != "" && o.TargetB.Kind != "" }

// livePair reports whether two sides are compared of which one at least runs already.
func (o Options) livePair() bool { return o.bothLive() || o.Target.Kind != "" && o.Earlier != nil }

// watchTwo compares two services that run already. Their CPU time is measured in windows without
// the recorder, at the same time on both sides; windows of each in turn are recorded, and tell what
// their threads wait for.
func (inv *investigation) watchTwo(ctx context.Context) error {
	inv.live = map[string]*liveSide{sideA: newLiveSide(inv.options.Target, ", as A"),
		sideB: newLiveSide(inv.options.TargetB, ", as B")}
	inv.c.Per, inv.calls = units.PerSecond, map[*recording.Recording]float64{}
	inv.growTo(liveBudget, "two services that run are told apart by a dozen windows of their traffic")
	inv.window = min(max((inv.left()-recorderStart-reasoningTime)/liveShares, leastWindow), mostWindow)
	inv.took[sideA], inv.took[sideB] = inv.window/2, inv.window/2
	if err := inv.appraise(); err != nil || inv.scarce != ample {
		return errors.Join(err, inv.tooShort())
	}
	inv.tellBlind()
	if _, err := inv.measure(ctx); err != nil {
		return err
	}
	if inv.cannot != nil {
		inv.summarise()
		return nil
	}
	found, err := inv.recordLive(ctx)
	if err != nil {
		return err
	}
	if err := inv.testWaiting(found); err != nil {
		return err
	}
	inv.summarise()
	return inv.reason(ctx, found)
}

func (inv *investigation) tooShort() error {
	if inv.scarce == ample {
		return nil
	}
	return fmt.Errorf("budget %v is too short for windows of %v of two services; give --budget %v or more", inv.budget(),
		leastWindow, (liveShares/2*leastWindow + recorderStart + 2*reasoningTime).Round(time.Second))
}

// pids lists the processes of a live side; errRestarted where they are others than before.
func (inv *investigation) pids(label string) ([]int, error) {
	side := inv.live[label]
	if side.target.Eldest() != side.is {
		return nil, errRestarted
	}
	return side.target.Pids()
}

// findAgain looks for sides that were restarted, and waits a while for them to come back.
func (inv *investigation) findAgain(ctx context.Context) error {
	for _, label := range inv.plan.Sides {
		if err := inv.findSide(ctx, inv.live[label]); err != nil {
			return err
		}
	}
	return nil
}

// findSide looks for a side that may have been restarted, and waits a while for it to come back.
func (inv *investigation) findSide(ctx context.Context, side *liveSide) error {
	was, none := side.is, record.Process{}
	for until := time.Now().Add(comeBack); side.is == was || side.is == none; {
		target, err := side.target.Find()
		if now := target.Eldest(); err == nil && now == was {
			return nil // it is as it was
		} else if err == nil && now != none {
			side.target, side.is = target, now
			continue
		}
		if time.Now().After(until) || side.target.Kind == "pid" && sameProcess(side.target) {
			return fmt.Errorf("%s ended while it was watched%s%s", side.target, side.as, side.waited())
		}
		select {
		case <-ctx.Done():
			return errors.New("interrupted; nothing was kept")
		case <-time.After(50 * time.Millisecond):
		}
	}
	if side.restarts++; side.restarts > mostRestarts {
		return fmt.Errorf("%s was restarted %d times while it was watched%s: nothing can be said of it", side.target,
			side.restarts, side.as)
	}
	inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf("%s was restarted while it was watched%s (process %d, then %d): "+
		"windows are those of both of its processes, and a new one may be cold", side.target, side.as, was.Pid, side.is.Pid))
	return nil
}

// waited says that another process was waited for, where one could have come.
func (s *liveSide) waited() string {
	if !s.target.ComesBack() {
		return ""
	}
	return fmt.Sprintf(", and did not come back within %v", comeBack)
}

// sameProcess tells a target that was named by its process's number: no other one is meant.
func sameProcess(target record.Target) bool {
	return target.Named == "" || strings.HasPrefix(target.Named, "pid:")
}

// watchPair measures one window of both sides.
func (inv *investigation) watchPair(ctx context.Context, pair int) error {
	for {
		var watched []trial.Watched
		for _, label := range inv.plan.Sides {
			watched = append(watched, trial.Watched{Side: label, Cgroup: inv.live[label].target.Cgroup,
				Pids: func() ([]int, error) { return inv.pids(label) }})
		}
		runs, err := inv.runner.Watch(ctx, watched, pair, inv.order+1, inv.window)
		switch {
		case ctx.Err() != nil:
			return errors.New("interrupted; nothing was kept")
		case errors.Is(err, errRestarted), errors.Is(err, record.ErrGone):
			if err := inv.findAgain(ctx); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		inv.order += len(runs)
		for _, run := range runs {
			if !(run.Metrics[trial.MetricCPU] > 0) {
				return fmt.Errorf("%s used no CPU time in %v; is it the right one, as %s?", inv.live[run.Side].target,
					inv.window.Round(time.Millisecond), run.Side)
			}
			inv.runs = append(inv.runs, run)
			if err := inv.journal.Append(run); err != nil {
				return err
			}
		}
		return nil
	}
}

// recordLive records windows of both sides in turn, in random order within pairs.
func (inv *investigation) recordLive(ctx context.Context) (*evidence, error) {
	if err := os.Mkdir(filepath.Join(inv.dir, explain.Recordings), 0o755); err != nil {
		return nil, fmt.Errorf("make folder for recordings: %w", err)
	}
	inv.options.Progress("loading the recorder")
	for _, side := range inv.live {
		inv.runTimes = record.WithRunTimes(inv.runTimes, runTimesOf(side.target)...)
	}
	recorder, err := inv.startRecorder(ctx)
	if err != nil {
		return nil, err
	}
	defer recorder.Close()
	found := &evidence{}
	for pair := 0; pair < wantedEvidence || pair < mostEvidence && inv.left() > inv.recordedTime(1)+reasoningTime; pair++ {
		inv.options.Progress(fmt.Sprintf("recording: pair %d of windows", pair+1))
		for _, slot := range inv.plan.Pair(trial.KindEvidence, pair) {
			path := filepath.Join(inv.dir, explain.Recordings, fmt.Sprintf("%s-%d.culprit", slot.Side, pair+1))
			rec, err := inv.recordLiveWindow(ctx, recorder, slot.Side, path)
			if err != nil {
				return nil, err
			}
			found.add(slot.Side, path, rec)
		}
	}
	return found, nil
}

func (inv *investigation) recordLiveWindow(ctx context.Context, recorder *record.Recorder, label,
	path string) (*recording.Recording, error) {
	for {
		side, calls := inv.live[label], 0.0
		rec, err := inv.recordWindow(ctx, recorder, side.target, path, inv.window, func() func() map[string]float64 {
			usual, counted := inv.usualSeconds(label), inv.watchedSide(label).Calls()
			return func() map[string]float64 {
				calls = counted()
				return usual()
			}
		})
		if ctx.Err() == nil && (errors.Is(err, record.ErrGone) || side.target.Eldest() != side.is) {
			if err := inv.findAgain(ctx); err != nil {
				return nil, err
			}
			continue
		}
		inv.calls[rec] = calls
		return rec, err
	}
}

// runTimesOf are the run times of a target's processes.
func runTimesOf(target record.Target) (names []string) {
	pids, err := target.Pids()
	if err != nil {
		return nil // told where it is recorded
	}
	for _, pid := range pids[:min(len(pids), 16)] {
		names = record.WithRunTimes(names, record.RunTimesOf(pid)...)
	}
	return names
}
