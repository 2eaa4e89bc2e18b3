package try

import (
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// RehearsalSchema names the JSON document of a rehearsal.
const RehearsalSchema = "culprit.rehearsal/1"

// Rehearsal is what an experiment would do. Nothing was touched for it.
type Rehearsal struct {
	Schema     string           `json:"schema"`
	Design     Design           `json:"design"`
	Conditions []RehearsedTrial `json:"conditions"`
	// FirstBlock holds the labels in the order in which they would run.
	FirstBlock  []string            `json:"first_block"`
	Settings    []RehearsedSetting  `json:"settings"`
	Comparisons []RehearsedQuestion `json:"comparisons"`
	Metrics     []Metric            `json:"metrics"`
	Needs       int                 `json:"needs_blocks"` // the fewest that could decide anything
	BudgetS     float64             `json:"budget_s"`
}

// RehearsedTrial is one condition and what it would run.
type RehearsedTrial struct {
	Label   string            `json:"label"`
	Levels  map[string]string `json:"levels"`
	Command string            `json:"command"`
}

// RehearsedSetting is a setting that would be flipped and put back.
type RehearsedSetting struct {
	Name     string   `json:"name"`
	Current  string   `json:"current"`
	Levels   []string `json:"levels"`
	Effect   string   `json:"effect"`
	WashOutS float64  `json:"wash_out_s"`
	Path     string   `json:"path"`
}

// RehearsedQuestion is one comparison.
type RehearsedQuestion struct {
	Factor  string `json:"factor"`
	Level   string `json:"level"`
	Against string `json:"against"`
}

// Rehearse checks an experiment on this host and says what it would do. It reads settings and
// changes nothing.
func Rehearse(e Experiment) (*Rehearsal, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	knobs, err := findKnobs(e)
	if err == nil {
		err = checkLaunched(e)
	}
	var planned *grounds
	if err == nil {
		planned, err = planGrounds(e)
	}
	if err != nil {
		return nil, err
	}
	x, err := newEngine(e, nil)
	if err != nil {
		return nil, err
	}
	r := &Rehearsal{Schema: RehearsalSchema, Design: e.Design, Metrics: e.Metrics, BudgetS: e.Budget.Seconds(),
		Settings: []RehearsedSetting{}}
	lab := &hostLab{experiment: e, engine: x, journal: &journal{},
		settings: &settings{experiment: e, knobs: knobs, grounds: planned}}
	for number, condition := range x.layout.conditions {
		command := ""
		if e.Service == nil {
			command = lab.spec(condition, &Trial{}).Command
		} else {
			command = e.Service.Measure
		}
		r.Conditions = append(r.Conditions, RehearsedTrial{condition.label, x.levels(number), command})
	}
	for _, number := range x.shuffled(trial.KindMeasure, 0, 0, x.needed(0)) {
		r.FirstBlock = append(r.FirstBlock, x.layout.conditions[number].label)
	}
	for _, stage := range x.layout.stages {
		for _, asked := range stage.comparisons {
			r.Comparisons = append(r.Comparisons, RehearsedQuestion{asked.factor, asked.level, asked.against})
		}
	}
	plan, err := stat.NewPlan(leastBlocks, x.layout.comparisons()*len(e.Metrics), alpha)
	if err != nil {
		return nil, err
	}
	r.Needs = plan.Needs
	return r, r.read(e, lab.settings)
}

// read adds the settings as they are now.
func (r *Rehearsal) read(e Experiment, s *settings) error {
	for f, factor := range e.Factors {
		found, is := s.knobs[f]
		if !is {
			continue
		}
		current, err := found.Current()
		if err != nil {
			return err
		}
		setting := RehearsedSetting{Name: factor.Name, Current: current, Effect: string(found.Effect()),
			WashOutS: found.WashOut().Seconds(), Path: found.Place().Path}
		for _, level := range factor.Levels {
			setting.Levels = append(setting.Levels, level.Value)
		}
		r.Settings = append(r.Settings, setting)
	}
	return nil
}
