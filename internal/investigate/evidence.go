package investigate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"culprit/internal/cause"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/record"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// Evidence recordings are not those that decide the metric, so they may look
// closer than a recording of a service: each side gets about this many samples.
const wantedSamples = 2000

// rates that evidence may be sampled at. None is round: a sampler in step with a timer of the
// target is blind to it. The highest ones are for programs that hardly run: a sample takes the
// kernel about 18 µs, and of a program that uses a tenth of a second they are few in any case.
var rates = []struct {
	hz      int
	mostCPU float64 // seconds per run; 0: any
}{{99, 0}, {199, 0}, {499, 0}, {997, 0}, {1999, 0.3}, {4999, 0.1}}

// evidenceWait is the shortest stay off the CPU that is kept whole for the critical path.
const evidenceWait = 50 * time.Microsecond

// evidenceSlice is the resolution of samples in time.
const evidenceSlice = time.Millisecond

// evidence is what was recorded, in the order of the pairs.
type evidence struct {
	a, b  []*recording.Recording
	files map[*recording.Recording]string // their names in the case's folder
	// unshown tells that none of them shows the change: nothing may be named by them.
	unshown bool
}

// add keeps a recording of one side under the name of its file.
func (e *evidence) add(side, path string, rec *recording.Recording) {
	if e.files == nil {
		e.files = map[*recording.Recording]string{}
	}
	e.files[rec] = filepath.Base(path)
	if side == sideA {
		e.a = append(e.a, rec)
	} else {
		e.b = append(e.b, rec)
	}
}

func (e *evidence) namesOf(group []*recording.Recording) []string {
	names := make([]string, len(group))
	for i, rec := range group {
		names[i] = e.files[rec]
	}
	return names
}

// gather records pairs of runs.
func (inv *investigation) gather(ctx context.Context) (*evidence, error) {
	// What the reserve holds for the recorder's start and the reasoning may be used up in part:
	// runs vary.
	if least := inv.pairTime(); inv.scarce != noPair && inv.left() < least {
		inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf(
			"no time was left to record evidence, so no suspect is named; give --budget %v or more",
			max(inv.suggest(len(inv.runs)/2), (inv.elapsed()+least).Round(time.Second)+time.Second)))
		return nil, nil
	}
	inv.options.Progress("loading the recorder")
	if err := os.Mkdir(filepath.Join(inv.dir, explain.Recordings), 0o755); err != nil {
		return nil, fmt.Errorf("make folder for recordings: %w", err)
	}
	recorder, err := inv.startRecorder(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { recorder.Close() }()
	if again, err := inv.rehearse(ctx, recorder); err != nil {
		return nil, err
	} else if again {
		another, err := inv.startRecorder(ctx)
		if err != nil {
			return nil, err // the first one is closed on the way out
		}
		recorder.Close()
		recorder = another
	}
	found := &evidence{}
	wants := func(pair int) bool {
		usual := func() *evidence {
			return &evidence{a: inv.withoutUnusual(sideA, found.a), b: inv.withoutUnusual(sideB, found.b)}
		}
		return inv.wantsPair(pair, func() bool { return inv.settled(ctx, usual()) }, func() bool { return inv.shows(found) })
	}
	for pair := 0; wants(pair); pair++ {
		inv.options.Progress(fmt.Sprintf("recording: pair %d", pair+1))
		if err := inv.recordPair(ctx, recorder, pair, found); err != nil {
			return nil, err
		}
	}
	found.a = inv.dropUnusual(sideA, found.a)
	found.b = inv.dropUnusual(sideB, found.b)
	return found, nil
}

// affordsEvidence keeps half of what is left beyond the usual number for a proof.
func (inv *investigation) affordsEvidence(done int) bool {
	next := inv.recordedTime(1) + reasoningTime
	if done < usualEvidence {
		return inv.left() > next
	}
	return inv.left()/2 > next
}

func (inv *investigation) recordPair(ctx context.Context, recorder *record.Recorder, pair int, found *evidence) error {
	for _, slot := range inv.plan.Pair(trial.KindEvidence, pair) {
		path := filepath.Join(inv.dir, explain.Recordings, fmt.Sprintf("%s-%d.culprit", slot.Side, pair+1))
		if _, err := inv.recorded(ctx, recorder, slot, path); err != nil {
			return err
		}
		rec, err := recording.Open(path)
		if err != nil {
			return fmt.Errorf("read recording: %w", err)
		}
		found.add(slot.Side, path, rec)
	}
	return nil
}

func (inv *investigation) startRecorder(ctx context.Context) (*record.Recorder, error) {
	o := record.Options{Hz: inv.rate(), Wait: evidenceWait,
		Unwind: 2 * time.Millisecond, Slice: evidenceSlice, Poll: 10 * time.Millisecond,
		RunTimes: inv.runTimes, Program: inv.options.Program, Worst: inv.worst(),
		Requests: inv.options.Target.Kind != "" || inv.loadsRequests(),
		Confirm:  inv.options.Confirm, Allocations: inv.options.Allocations, Counters: inv.options.Counters,
		CPI: inv.options.CPI}
	inv.options.Earlier.recordedAs(&o)
	recorder, err := record.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	inv.runner.Spare(recorder.Pid())
	inv.c.Recorder.StartCPUS += recorder.StartCPU.Seconds()
	return recorder, nil
}

// loadsRequests reports whether what requests wait for explains the metric of a load: the one that
// was chosen, or that was asked for where the budget was too scarce to choose.
func (inv *investigation) loadsRequests() bool {
	return inv.options.Load != nil && isOfRequests(cmp.Or(inv.c.Metric.Name, inv.options.Metric.Name))
}

// The share of the requests that is kept in full where a percentile is asked for: a little more
// than lies above it, but no more than a recorder hands over without being felt. Chosen.
const (
	worstUsual  = 0.01
	worstAround = 1.5
	worstMost   = 0.1
)

func (inv *investigation) worst() float64 {
	percent := units.Percent(inv.options.Metric.Name)
	if percent == 0 {
		return worstUsual
	}
	return min(worstMost, max(worstUsual, worstAround*(1-percent/100)))
}

// rate is chosen so that the usual number of recordings holds enough samples.
func (inv *investigation) rate() int {
	least := math.Inf(1)
	for _, side := range inv.plan.Sides {
		for _, run := range inv.runs {
			if run.Side == side {
				least = min(least, inv.cpuSeconds(run))
			}
		}
	}
	hz := 0
	for _, rate := range rates {
		if rate.mostCPU > 0 && least > rate.mostCPU {
			break
		}
		hz = rate.hz
		if float64(hz)*least*usualEvidence >= wantedSamples {
			break
		}
	}
	return hz
}

// mostBroken is the part of a rehearsal's stacks that may break while the
// unwinder gets to know the executables. Beyond it, it has got one wrong.
const mostBroken = 0.6

// rehearse runs each side once under the recorder and throws the recording
// away: the unwinder learns the executables, and loads what their run times
// need. It asks for a new recorder when the stacks do not come out.
func (inv *investigation) rehearse(ctx context.Context, recorder *record.Recorder) (again bool, err error) {
	if inv.scarce != ample || inv.left() < inv.recordedTime(wantedEvidence+1)+reasoningTime {
		return false, nil
	}
	samples, broken := 0, 0
	for _, slot := range inv.plan.Pair(trial.KindWarmup, 1) {
		summary, err := inv.recorded(ctx, recorder, slot, "")
		if err != nil {
			return false, err
		}
		samples, broken = samples+summary.Samples, broken+summary.Broken
		inv.runTimes = record.WithRunTimes(inv.runTimes, summary.RunTimes...)
	}
	return float64(broken) > mostBroken*float64(samples), nil
}

// recordingCost compares the runs under the recorder with those without it, where there were such.
func (inv *investigation) recordingCost() error {
	if inv.scarce != ample { // it cannot be told from what the first runs did
		return nil
	}
	logs, err := trial.RecordingCost(inv.runs, inv.c.Metric.Name)
	if err != nil {
		return err
	}
	difference, err := stat.MeanDifference(logs.Without, logs.With, 0.95)
	if err != nil {
		if errors.Is(err, stat.ErrTooFew) {
			return nil // one recorded run: its cost cannot be told from noise
		}
		return err
	}
	ratio := difference.Exp()
	inv.c.RecordingCost = &cause.Effect{Ratio: ratio.Value, Low: ratio.Low, High: ratio.High, Confidence: 0.95}
	return nil
}
