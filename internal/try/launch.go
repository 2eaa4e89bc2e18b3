package try

import (
	"context"

	"culprit/internal/knob"
	"culprit/internal/trial"
)

// launched tells which settings the command is given at its start, because they belong to its own
// process.
func launched(e Experiment, factor Factor) bool {
	return e.Service == nil && factor.Kind == KindKnob && knob.OfCommand(factor.Name)
}

// takesGroup tells whether a factor limits a cgroup, which has to be made for the command.
func takesGroup(e Experiment, factor Factor) bool {
	if !launched(e, factor) {
		return false
	}
	_, err := knob.NewLaunch(knob.Level{Name: factor.Name, Value: factor.Levels[0].Value})
	return err != nil // what is wrong with a level itself checkLaunched has said
}

// checkLaunched refuses levels that a new command cannot be given.
func checkLaunched(e Experiment) error {
	for _, factor := range e.Factors {
		if !launched(e, factor) {
			continue
		}
		for _, level := range factor.Levels {
			if err := knob.CheckLaunch(knob.Level{Name: factor.Name, Value: level.Value}); err != nil {
				return err
			}
		}
	}
	return nil
}

// launch gives the command the settings of its own process while it stands at the gate. They end
// with it; a cgroup that it takes is removed with the experiment.
func (l *hostLab) launch(ctx context.Context, condition condition, spec *trial.Spec) error {
	var levels []knob.Level
	for f, factor := range l.experiment.Factors {
		if launched(l.experiment, factor) {
			levels = append(levels, knob.Level{Name: factor.Name, Value: factor.Levels[condition.levels[f]].Value})
		}
	}
	if len(levels) == 0 {
		return nil
	}
	var launch *knob.Launch
	var err error
	if l.settings.change != nil {
		launch, err = l.settings.change.Launch(ctx, levels...)
	} else {
		launch, err = knob.NewLaunch(levels...)
	}
	if err != nil {
		return err
	}
	next := spec.Ready
	spec.Ready = func(pid int) error {
		if err := launch.Apply(pid); err != nil || next == nil {
			return err
		}
		return next(pid)
	}
	return nil
}
