package try

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"culprit/internal/knob"
	"culprit/internal/trial"
	"culprit/recording"
)

// hostLab makes trials on this host.
type hostLab struct {
	journal    *journal
	experiment Experiment
	engine     *engine
	runner     *trial.Runner
	settings   *settings
	observer   *observer
	order      int
	blind      []recording.BlindSpot
}

// aftermath is what is left when a lab is closed.
type aftermath struct {
	settings []Setting
	recorded *Recorded
	restored bool
	warnings []string
	blind    []recording.BlindSpot
	err      error
}

// openLab takes what the experiment needs of the host. Nothing is changed yet.
func openLab(ctx context.Context, journal *journal, engine *engine) (*hostLab, error) {
	lab := &hostLab{journal: journal, experiment: journal.design, engine: engine, order: len(journal.records)}
	for _, made := range journal.records {
		lab.order = max(lab.order, made.Order)
	}
	var err error
	if lab.observer, err = openObserver(ctx, lab.experiment, journal.dir); err != nil {
		return nil, err
	}
	if lab.settings, err = openSettings(ctx, lab.experiment); err != nil {
		lab.observer.close()
		return nil, err
	}
	if lab.runner, err = trial.NewRunner("/"); err != nil {
		lab.observer.close()
		return nil, errors.Join(err, lab.settings.restore())
	}
	if lab.observer != nil {
		lab.runner.Spare(lab.observer.recorder.Pid())
	}
	return lab, nil
}

func (l *hostLab) now() time.Time { return time.Now() }

func (l *hostLab) planned(stage, blocks int) error { return l.journal.planned(stage, blocks) }

// close puts everything back and reads it back.
func (l *hostLab) close() aftermath {
	left := aftermath{blind: recording.AddBlindSpots(l.blind, l.runner.BlindSpots()...)}
	l.observer.close()
	left.recorded = l.observer.result()
	left.warnings = slices.Concat(l.observer.said(), l.settings.notes, l.settings.impatience(), l.settings.grounds.said())
	if l.settings.change != nil {
		left.warnings = append(left.warnings, l.settings.change.Warnings()...)
	}
	left.err = l.runner.Close()
	err := l.settings.restore()
	var drifted *knob.DriftError
	if errors.As(err, &drifted) {
		left.warnings = append(left.warnings, err.Error())
		err = nil
	}
	left.err = errors.Join(left.err, err)
	left.settings, left.restored = l.settings.check()
	return left
}

// perform sets the levels of a condition, makes the trial and writes it down.
func (l *hostLab) perform(ctx context.Context, at slot) (Trial, error) {
	begun := time.Now()
	condition := l.engine.layout.conditions[at.condition]
	made := Trial{Order: l.order + 1, Kind: at.kind, Stage: at.stage, Block: at.block, Condition: at.condition,
		Levels: l.engine.levels(at.condition), Control: condition.control, Start: begun, Valid: true}
	if err := l.settings.set(ctx, condition); err != nil {
		return made, err
	}
	measure := l.run
	if l.experiment.Service != nil {
		measure = l.watch
	}
	if err := measure(ctx, condition, &made); err != nil {
		l.observer.drop()
		if ctx.Err() != nil {
			return made, context.Cause(ctx)
		}
		return made, err
	}
	if why := l.settings.verify(); why != "" {
		made.leave(trial.Exclusion{Kind: trial.ExcludedSetting, Text: why})
	}
	derived(made.Metrics)
	made.TookS = time.Since(begun).Seconds()
	l.order++
	return made, l.journal.append(made)
}

// run starts the command under a condition, on a fresh ground if that is varied.
func (l *hostLab) run(ctx context.Context, condition condition, made *Trial) (err error) {
	folder, remove, err := l.settings.grounds.prepare(ctx, l.experiment, condition)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	spec := l.spec(condition, made)
	spec.Dir = folder
	beside := l.monitor(condition, made, &spec)
	l.observer.watchRun(ctx, &spec)
	if err := l.launch(ctx, condition, &spec); err != nil {
		return err
	}
	run, err := l.runner.Run(ctx, spec)
	if err = errors.Join(err, beside.end()); err != nil {
		return err
	}
	made.Metrics, made.Disturb, made.Stdout, made.Stderr = run.Metrics, run.Disturb, run.Stdout, run.Stderr
	if err := l.experiment.toldByLoad(run.Metrics); err != nil {
		return err
	}
	beside.account(made)
	if err := l.observer.end(ctx, made, run.Metrics); err != nil {
		return err
	}
	if l.experiment.Latency != nil {
		return l.experiment.Latency.read(l.journal.dir, spec.Dir, run, made.Metrics)
	}
	return nil
}

// spec is the run of a condition.
func (l *hostLab) spec(condition condition, made *Trial) trial.Spec {
	e := l.experiment
	spec := trial.Spec{Side: condition.label, Pair: made.Block, Order: made.Order, Kind: made.Kind,
		Timeout: e.Timeout, CaseDir: l.journal.dir}
	if spec.Timeout == 0 {
		spec.Timeout = max(e.Budget, time.Second)
	}
	command := e.Command
	values := map[string]string{}
	unset := ""
	for f, factor := range e.Factors {
		level := factor.Levels[condition.levels[f]]
		switch factor.Kind {
		case KindVariant:
			command = Command{Shell: level.Value}
		case KindPlaceholder:
			values[factor.Name] = level.Value
		case KindEnv:
			name := factor.Name[len(envPrefix):]
			if level.Value == "" {
				unset += "unset " + name + "; "
			} else {
				spec.Env = append(spec.Env, name+"="+level.Value)
			}
		}
	}
	spec.Command = unset + command.with(values)
	if e.Load != nil {
		its := *e.Load
		spec.Load = &its
	}
	for _, metric := range e.Metrics {
		// Check has seen that the pattern compiles.
		if printed, err := metric.printed(); err == nil && printed != nil {
			spec.Printed = append(spec.Printed, *printed)
		}
	}
	return spec
}

// caseFile finds a file that a command wrote: relative to where it ran.
func caseFile(workDir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if workDir == "" {
		workDir, _ = os.Getwd() // a lost working directory shows when the file is opened
	}
	return filepath.Join(workDir, name)
}
