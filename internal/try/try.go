// Package try makes controlled experiments. It sets factors to their levels in randomised blocks: a
// setting of the host, a variable, a word of the command, the file system that it works on, a
// monitor beside it. It runs a command under each level, or watches a running service, and puts
// everything back. It says for each level and metric whether it is worse than the first level,
// better or the same, with an interval that is corrected for the number of comparisons.
//
//	factor, err := try.ParseFactor("clocksource=tsc,kvm-clock")
//	result, err := try.Run(ctx, try.Experiment{Command: try.Command{Shell: "./readtime"},
//		Factors: []try.Factor{factor}, Metrics: []try.Metric{try.CPU}, Budget: time.Minute, …},
//		try.Options{Dir: "case"})
//
// It refuses what it cannot put back, settings that another culprit holds, commands that fail, and
// budgets that hold fewer than two blocks. It writes each trial to disk before the next begins, so
// that an experiment that was killed can be resumed.
package try

import (
	"context"
	"errors"
	"fmt"
	"time"

	"culprit/internal/host"
	"culprit/recording"
)

// Options are what does not belong to the experiment itself.
type Options struct {
	Dir    string // the case directory: made by Run, read by Resume
	Budget time.Duration
	// Progress is told what is being done; nil for nobody.
	Progress func(stage string)
	// Write puts what people and machines read into the case directory before the experiment counts
	// as complete.
	Write func(dir string, result *Result) error
}

func (o Options) progress(format string, words ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, words...))
	}
}

// Run makes the experiment. The case directory is made by it and stays when it is cut short after
// at least one trial: Resume goes on with it. The error is one line that names the thing and the
// way out.
func Run(ctx context.Context, experiment Experiment, options Options) (*Result, error) {
	if err := experiment.Check(); err != nil {
		return nil, err
	}
	journal, err := create(options.Dir, experiment)
	if err != nil {
		return nil, err
	}
	return carryOut(ctx, journal, options)
}

// Resume goes on with an experiment that was cut short, with the blocks that it had planned. Of one
// that is complete it returns the result again. Options.Budget, if any, is the time for what is
// left; else what is left of the experiment's own.
func Resume(ctx context.Context, options Options) (*Result, error) {
	journal, err := reopen(options.Dir)
	if err != nil {
		return nil, err
	}
	if options.Budget > 0 {
		journal.design.Budget = options.Budget
	} else {
		journal.design.Budget = max(journal.design.Budget-journal.spent(), time.Second)
	}
	return carryOut(ctx, journal, options)
}

// carryOut makes the trials that are missing and draws the conclusions.
func carryOut(ctx context.Context, journal *journal, options Options) (result *Result, err error) {
	begun := time.Now()
	defer func() {
		err = errors.Join(err, journal.close())
		if err != nil {
			result, err = nil, journal.cutShort(err)
		}
	}()
	engine, err := newEngine(journal.design, journal.records)
	if err != nil {
		return nil, err
	}
	engine.progress = options.progress
	facts := host.Facts("/")
	lab, err := openLab(ctx, journal, engine)
	if err != nil {
		return nil, err
	}
	engine.lab = lab
	err = engine.run(ctx)
	back := lab.close()
	if err = errors.Join(err, back.err); err != nil {
		return nil, err
	}
	result = engine.result()
	result.Restored, result.Settings, result.Recorder = back.restored, back.settings, back.recorded
	result.Unseen, result.BlindSpots = back.blind, recording.Words(back.blind)
	result.Warnings = append(result.Warnings, back.warnings...)
	result.Drift = drift(facts, host.Facts("/"))
	result.Host = host.Summarize("/")
	result.Dir = options.Dir
	result.ElapsedS = journal.before.Seconds() + time.Since(begun).Seconds()
	if options.Write != nil {
		if err := options.Write(options.Dir, result); err != nil {
			return nil, err
		}
	}
	return result, nil
}
