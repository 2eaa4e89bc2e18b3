package try

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"culprit/internal/record"
	"culprit/internal/trial"
	"culprit/recording"
)

// Recorded is what recording took where a metric comes out of recordings. The recorder ran in all
// trials, under each level alike: the other metrics of such an experiment include what it costs the
// command.
type Recorded struct {
	StartCPUS float64          `json:"start_cpu_s"`
	CPUS      float64          `json:"cpu_s"` // of the recorder, over all trials
	Losses    []recording.Loss `json:"losses"`
	Folder    string           `json:"folder"` // one file for each trial, by its order
}

// recordingsFolder is where they are, in the case directory.
const recordingsFolder = "recordings"

// observer records the trials of an experiment. A nil one records nothing.
type observer struct {
	recorder *record.Recorder
	wanted   []recorded
	rates    bool // of a running service
	folder   string
	cost     Recorded
	seen     map[string]bool // metrics that were ever above zero
	begun    bool
}

// observerPlan says what the recorder has to see: no more than the metrics need.
func observerPlan(wanted []recorded, program string) record.Options {
	plan := record.Options{Program: program, Light: true, NoCalls: true}
	for _, metric := range wanted {
		plan.Light = plan.Light && (metric.probe == "processes" || metric.name == "host")
		plan.NoCalls = plan.NoCalls && metric.probe != "syscalls"
		if metric.limit > 0 && (plan.Wait == 0 || metric.limit < plan.Wait) {
			plan.Wait = metric.limit
		}
	}
	const usualWait = time.Millisecond // of record.Options: no coarser than that
	plan.Wait = min(plan.Wait, usualWait)
	return plan
}

// openObserver starts the recorder where a metric needs it; nil where none does.
func openObserver(ctx context.Context, e Experiment, dir string) (*observer, error) {
	wanted := e.recorded()
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := record.Permitted(); err != nil {
		return nil, fmt.Errorf("metric %s: %w", wanted[0].metricName(), err)
	}
	o := &observer{wanted: wanted, rates: e.Service != nil, folder: filepath.Join(dir, recordingsFolder),
		seen: map[string]bool{},
		cost: Recorded{Folder: recordingsFolder, Losses: []recording.Loss{}}}
	if err := os.Mkdir(o.folder, 0o755); err != nil && !os.IsExist(err) {
		return nil, fmt.Errorf("make folder for recordings: %w", err)
	}
	var err error
	if o.recorder, err = record.Start(ctx, observerPlan(wanted, e.Program)); err != nil {
		return nil, fmt.Errorf("metric %s: %w", wanted[0].metricName(), err)
	}
	o.cost.StartCPUS = o.recorder.StartCPU.Seconds()
	for _, metric := range wanted {
		for _, probe := range o.recorder.Probes {
			if probe.Name == metric.probe && !probe.On {
				o.recorder.Close()
				return nil, fmt.Errorf("metric %s: probe %s does not run here (%s)", metric.metricName(), probe.Name, probe.Why)
			}
		}
	}
	return o, nil
}

func (o *observer) close() {
	if o != nil {
		o.recorder.Close()
	}
}

// watchRun has the run of a command recorded from the gate on.
func (o *observer) watchRun(ctx context.Context, spec *trial.Spec) {
	if o == nil {
		return
	}
	next := spec.Ready
	command := spec.Command
	spec.Ready = func(pid int) error {
		if err := o.begin(ctx, record.Target{Kind: "command", Command: command, Pid: pid}); err != nil || next == nil {
			return err
		}
		return next(pid)
	}
}

// watchService begins the recording of a period.
func (o *observer) watchService(ctx context.Context, service *Service) error {
	switch {
	case o == nil:
		return nil
	case service.Cgroup != "":
		return o.begin(ctx, record.Target{Kind: "cgroup", Cgroup: service.Cgroup})
	}
	return o.begin(ctx, record.Target{Kind: "pid", Pid: service.Pid})
}

func (o *observer) begin(ctx context.Context, target record.Target) error {
	if err := o.recorder.Begin(ctx, target); err != nil {
		return fmt.Errorf("record %s: %w", target, err)
	}
	o.begun = true
	return nil
}

// drop throws the recording of a trial away that failed.
func (o *observer) drop() {
	if o == nil || !o.begun {
		return
	}
	o.begun = false
	// The trial's own error is the one to tell; a recorder that is gone shows at the next trial.
	_, _ = o.recorder.End(context.Background(), record.Finish{Drop: true})
}

// end closes the recording of a trial and adds what it says to the trial's metrics. Warm-ups leave
// nothing.
func (o *observer) end(ctx context.Context, made *Trial, measured map[string]float64) error {
	if o == nil || !o.begun {
		return nil
	}
	o.begun = false
	finish := record.Finish{Path: filepath.Join(o.folder, fmt.Sprintf("%04d.culprit", made.Order)), Metrics: measured}
	if made.Kind != trial.KindMeasure {
		finish = record.Finish{Drop: true}
	}
	summary, err := o.recorder.End(ctx, finish)
	if err != nil {
		return fmt.Errorf("record trial %d: %w", made.Order, err)
	}
	o.cost.CPUS += seconds(summary.Cost.RecorderCPUNs)
	if finish.Drop {
		return nil
	}
	for _, loss := range summary.Losses {
		o.lose(loss)
	}
	rec, err := recording.Open(finish.Path)
	if err != nil {
		return fmt.Errorf("read recording of trial %d: %w", made.Order, err)
	}
	return o.read(rec, made.Metrics)
}

// read takes the metrics out of a recording.
func (o *observer) read(rec *recording.Recording, into map[string]float64) error {
	for _, metric := range o.wanted {
		value, err := metric.value(rec)
		if err != nil {
			return err
		}
		if o.rates && metric.amount {
			value /= max(seconds(rec.Manifest.WindowNs), 1e-9)
		}
		into[metric.metricName()] = value
		o.seen[metric.metricName()] = o.seen[metric.metricName()] || value != 0
	}
	return nil
}

func (o *observer) lose(loss recording.Loss) {
	at := slices.IndexFunc(o.cost.Losses, func(known recording.Loss) bool { return known.What == loss.What })
	if at < 0 {
		o.cost.Losses = append(o.cost.Losses, loss)
		return
	}
	o.cost.Losses[at].Count += loss.Count
}

// said is what limits the answer because of the recording.
func (o *observer) said() []string {
	if o == nil {
		return nil
	}
	texts := []string{fmt.Sprintf("the recorder ran in all trials, under each level alike, since recordings tell %s: "+
		"wall and CPU time include what that costs", strings.Join(o.names(), ", "))}
	for _, loss := range o.cost.Losses {
		probe, _, _ := strings.Cut(loss.What, ":")
		needs := func(metric recorded) bool { return metric.probe == probe }
		if loss.Count > 0 && slices.ContainsFunc(o.wanted, needs) {
			texts = append(texts, fmt.Sprintf("lost in the recordings: %d %s", loss.Count, loss.What))
		}
	}
	for _, metric := range o.wanted {
		if metric.of != "" && !o.seen[metric.metricName()] {
			texts = append(texts, fmt.Sprintf("no trial had any of %s: is its name right?", metric.metricName()))
		}
	}
	return texts
}

func (o *observer) names() []string {
	var names []string
	for _, metric := range o.wanted {
		names = append(names, metric.metricName())
	}
	return names
}

// result is what the experiment's document says of the recording; nil without one.
func (o *observer) result() *Recorded {
	if o == nil {
		return nil
	}
	return &o.cost
}
