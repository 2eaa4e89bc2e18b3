package try

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"culprit/internal/knob"
)

// settings are the factors that live on the host, and their transaction.
type settings struct {
	experiment Experiment
	knobs      map[int]knob.Knob // by factor
	change     *knob.Change      // nil: nothing on the host is changed
	original   map[int]string
	notes      []string       // what to know of the transaction
	value      map[int]string // set last
	read       map[int]string // what reading it gave then: a kernel may spell it its own way
	grounds    *grounds
}

// openSettings finds the knobs, checks every level of them, and opens the transaction.
func openSettings(ctx context.Context, e Experiment) (*settings, error) {
	s := &settings{experiment: e, original: map[int]string{}, value: map[int]string{}, read: map[int]string{}}
	var err error
	if s.knobs, err = findKnobs(e); err != nil {
		return nil, err
	}
	if err = checkLaunched(e); err == nil {
		s.grounds, err = planGrounds(e)
	}
	given := slices.ContainsFunc(e.Factors, func(factor Factor) bool { return takesGroup(e, factor) })
	if err != nil || len(s.knobs) == 0 && s.grounds == nil && !given {
		return s, err
	}
	if err := s.checkTime(); err != nil {
		return nil, err
	}
	var all []knob.Knob
	for f := range e.Factors {
		if found, is := s.knobs[f]; is {
			all = append(all, found)
		}
	}
	if s.change, err = knob.Begin(ctx, all...); err != nil {
		return nil, err
	}
	s.notes = s.change.Warnings()
	for _, f := range slices.Sorted(maps.Keys(s.knobs)) { // an error names the first factor
		if s.original[f], err = s.change.Original(e.Factors[f].Name); err != nil {
			return nil, errors.Join(err, s.change.Restore())
		}
		s.value[f] = s.original[f]
	}
	return s, nil
}

// findKnobs finds what is flipped on the host itself and refuses levels that it does not offer.
// What belongs to the process of the command is set at its start instead: see launch.
func findKnobs(e Experiment) (map[int]knob.Knob, error) {
	knobs := map[int]knob.Knob{}
	target := knob.Target{}
	if e.Service != nil {
		target.Pid, target.Cgroup = e.Service.Pid, e.Service.Cgroup
	}
	for f, factor := range e.Factors {
		if factor.Kind != KindKnob || launched(e, factor) {
			continue
		}
		found, err := knob.Find(factor.Name, target)
		if errors.Is(err, knob.ErrUnknown) {
			return nil, fmt.Errorf("vary %s: no setting has this name, and the command has no {%s}: %w", factor.Name,
				factor.Name, err)
		}
		if err != nil {
			return nil, err
		}
		for _, level := range factor.Levels {
			if err := found.Check(level.Value); err != nil {
				return nil, err
			}
		}
		knobs[f] = found
	}
	return knobs, nil
}

// set brings every setting to its level. A flip waits until the old value's traces are gone.
func (s *settings) set(ctx context.Context, condition condition) error {
	var wait time.Duration
	for f, factor := range s.experiment.Factors {
		found, is := s.knobs[f]
		value := factor.Levels[condition.levels[f]].Value
		if !is {
			continue
		}
		// Set each time, also where nothing changes: it notices who else changed it, and reads it
		// back.
		if err := s.change.Set(factor.Name, value); err != nil {
			return err
		}
		now, err := found.Current()
		if err != nil {
			return err
		}
		if s.value[f] != value {
			wait = max(wait, s.washOut(found))
		}
		s.value[f], s.read[f] = value, now
	}
	if wait == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
		return nil
	}
}

// washOut is how long to wait after a flip: what the setting needs, or what was asked for. On a
// running service the start of the period is dropped instead.
func (s *settings) washOut(of knob.Knob) time.Duration {
	switch {
	case s.experiment.Service != nil:
		return 0
	case s.experiment.WashOut != nil:
		return *s.experiment.WashOut
	}
	return of.WashOut()
}

// checkTime refuses a budget that the waiting alone uses up, before the first flip.
func (s *settings) checkTime() error {
	const rounds = 1 + leastBlocks // the warm-up is one
	var least time.Duration
	slowest := ""
	longest := time.Duration(0)
	// Of several that are as slow, the first is named.
	for _, f := range slices.Sorted(maps.Keys(s.knobs)) {
		found := s.knobs[f]
		wait := s.washOut(found)
		least += time.Duration(rounds*(len(s.experiment.Factors[f].Levels)-1)) * wait
		if wait > longest {
			longest, slowest = wait, found.Name()
		}
	}
	if least <= s.experiment.Budget {
		return nil
	}
	return fmt.Errorf("budget %v is too short: %s takes %v to wash out after each flip, so two blocks take %v or more; "+
		"give a longer --budget, or --washout 0s where the command does not see the past", s.experiment.Budget, slowest,
		longest, least)
}

// impatience says of a running service whether the part of the period that is dropped is too short.
func (s *settings) impatience() []string {
	var texts []string
	if s.experiment.Service == nil {
		return nil
	}
	for f, factor := range s.experiment.Factors {
		if found, is := s.knobs[f]; is && found.WashOut() > s.experiment.Service.WashOut {
			texts = append(texts, fmt.Sprintf("%s takes %v to wash out, and %v of each period are dropped: give --washout and "+
				"a longer --period", factor.Name, found.WashOut(), s.experiment.Service.WashOut))
		}
	}
	return texts
}

// verify tells after a trial what somebody else changed during it.
func (s *settings) verify() string {
	for f, factor := range s.experiment.Factors {
		found, is := s.knobs[f]
		if !is {
			continue
		}
		now, err := found.Current()
		if err != nil {
			return fmt.Sprintf("%s could not be read at its end: %v", factor.Name, err)
		}
		if now != s.read[f] {
			return fmt.Sprintf("%s was %s at its end and not %s", factor.Name, now, s.read[f])
		}
	}
	return ""
}

func (s *settings) restore() error {
	if s.change == nil {
		return nil
	}
	return s.change.Restore()
}

// check reads every setting once more.
func (s *settings) check() ([]Setting, bool) {
	list, all := []Setting{}, true
	for f, factor := range s.experiment.Factors {
		found, is := s.knobs[f]
		if !is {
			continue
		}
		setting := Setting{Name: factor.Name, Original: s.original[f]}
		for _, level := range factor.Levels {
			if level.Value != setting.Original {
				setting.Tried = append(setting.Tried, level.Value)
			}
		}
		now, err := found.Current()
		if err != nil {
			now = err.Error()
		}
		setting.Now = now
		setting.Restored = now == setting.Original
		all = all && setting.Restored
		list = append(list, setting)
	}
	return list, all && s.grounds.gone()
}
