package try

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"culprit/internal/host"
	"culprit/internal/stat"
	"culprit/internal/trial"
	"culprit/recording"
)

// Schema names the JSON document of an experiment.
const Schema = "culprit.experiment/1"

// Result is what an experiment found.
type Result struct {
	Schema     string    `json:"schema"`
	Outcome    string    `json:"outcome"` // worse when any level is, else better, same or undecided
	Command    string    `json:"command"`
	Design     Design    `json:"design"`
	Factors    []Factor  `json:"factors"`
	Metrics    []Metric  `json:"metrics"` // that decide
	Conditions []Summary `json:"conditions"`
	Effects    []Effect  `json:"effects"`
	Trends     []Trend   `json:"trends"`
	Trials     []Trial   `json:"trials"`
	Excluded   int       `json:"excluded"` // trials left out
	Smallest   float64   `json:"smallest"`
	Allowed    float64   `json:"allowed,omitempty"`
	Restored   bool      `json:"restored"`           // every setting was read back as it was before
	Settings   []Setting `json:"settings"`           // that were flipped
	Drift      []Drift   `json:"drift"`              // facts of the host that differ from before
	Recorder   *Recorded `json:"recorder,omitempty"` // where a metric comes out of recordings
	Warnings   []string  `json:"warnings"`
	// Unseen is what the host did not let the trials show; BlindSpots says it in words.
	Unseen     []recording.BlindSpot `json:"unseen"`
	BlindSpots []string              `json:"blind_spots"`
	Host       host.Summary          `json:"host"`
	Seed       int64                 `json:"seed"`
	ElapsedS   float64               `json:"elapsed_s"`
	Dir        string                `json:"dir"`
}

// Setting is one that was flipped: what it was, what was tried, and what it is now.
type Setting struct {
	Name     string   `json:"name"`
	Original string   `json:"original"`
	Tried    []string `json:"tried"`
	Now      string   `json:"now"`
	Restored bool     `json:"restored"`
}

// Summary is what one condition took.
type Summary struct {
	Label   string            `json:"label"`
	Levels  map[string]string `json:"levels"`
	Control bool              `json:"control,omitempty"`
	Trials  int               `json:"trials"` // that count
	Metrics map[string]Spread `json:"metrics"`
}

// Spread is the middle of some trials. The interval comes from the spread between trials, never
// from the number of calls within them; it is missing for a single trial.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Trend says whether a metric rises or falls with a numeric factor.
type Trend struct {
	Factor  string  `json:"factor"`
	Metric  string  `json:"metric"`
	Tau     float64 `json:"tau"` // Kendall's, within blocks: −1 … 1
	P       float64 `json:"p"`
	Verdict string  `json:"verdict"` // rises, falls or undecided
}

// The verdicts of a trend.
const (
	Rises = "rises"
	Falls = "falls"
)

// result draws the conclusions once no further trial is made.
func (x *engine) result() *Result {
	e := x.experiment
	r := &Result{Schema: Schema, Command: e.Command.Text(), Design: e.Design, Factors: e.Factors, Metrics: e.Metrics,
		Smallest: e.Smallest, Allowed: e.Allowed, Seed: e.Seed, Effects: []Effect{}, Warnings: []string{}}
	if e.Service != nil {
		r.Command = e.Service.Measure
	}
	r.Trials = x.markInvalid(r)
	for s, stage := range x.layout.stages {
		for c := range stage.comparisons {
			for _, metric := range e.Metrics {
				if effect, found := x.effects[question{s, c, metric.Name}]; found {
					r.Effects = append(r.Effects, effect)
				}
			}
		}
	}
	for number := range x.layout.conditions {
		r.Conditions = append(r.Conditions, x.summary(number, r.Trials))
	}
	r.Trends = x.trends(r.Trials)
	r.Outcome = outcome(r.Effects)
	x.doubts(r)
	return r
}

// markInvalid returns the trials with those marked that were disturbed, and counts them.
func (x *engine) markInvalid(r *Result) []Trial {
	trials := slices.Clone(x.trials)
	for _, stage := range x.layout.stages {
		for _, comparison := range stage.comparisons {
			_, verdicts := x.judged(comparison)
			x.markOf(comparison, verdicts, trials)
			for _, text := range verdicts.Warnings {
				r.warn(comparison.factor + " " + comparison.level + ": " + text)
			}
			for _, one := range verdicts.OneSided {
				r.warn(one.Text)
			}
		}
	}
	for _, made := range trials {
		if !made.Valid && made.Kind == trial.KindMeasure {
			r.Excluded++
		}
	}
	return trials
}

func (x *engine) markOf(c comparison, verdicts trial.Verdicts, trials []Trial) {
	pairs := slices.Concat(c.terms, c.minus)
	for at, numbers := range x.complete(c) {
		for k, pair := range pairs {
			for side, number := range [2]int{pair.base, pair.other} {
				run := verdicts.Runs[2*(at*len(pairs)+k)+side]
				if !run.Valid && !run.LeftOut.Partner { // a partner may count in other comparisons
					trials[numbers[number]].leave(*run.LeftOut)
				}
			}
		}
	}
}

func (r *Result) warn(text string) {
	if !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}

// summary gathers what one condition took.
func (x *engine) summary(number int, trials []Trial) Summary {
	made := x.layout.conditions[number]
	s := Summary{Label: made.label, Levels: x.levels(number), Control: made.control, Metrics: map[string]Spread{}}
	values := map[string][]float64{}
	for _, trialMade := range trials {
		if trialMade.Kind != trial.KindMeasure || trialMade.Condition != number || !trialMade.Valid {
			continue
		}
		s.Trials++
		for name, value := range trialMade.Metrics {
			values[name] = append(values[name], value)
		}
	}
	for name, of := range values {
		s.Metrics[name] = spreadOf(of)
	}
	return s
}

const spreadConfidence = 0.95

// spreadOf is the Hodges–Lehmann interval where there are enough trials for one, else Student's.
func spreadOf(values []float64) Spread {
	nothing := math.NaN()
	median, err := stat.Median(values)
	if err != nil {
		return Spread{nothing, nothing, nothing}
	}
	if interval, err := stat.HodgesLehmann(values, spreadConfidence); err == nil {
		return Spread{median, interval.Low, interval.High}
	}
	if interval, err := stat.Mean(values, spreadConfidence); err == nil {
		return Spread{median, interval.Low, interval.High}
	}
	return Spread{median, nothing, nothing}
}

// levels names the level of each factor in a condition.
func (x *engine) levels(number int) map[string]string {
	levels := map[string]string{}
	for f, level := range x.layout.conditions[number].levels {
		levels[x.experiment.Factors[f].Name] = x.experiment.Factors[f].Levels[level].Name
	}
	return levels
}

// trends tests each numeric factor on each metric that decides.
func (x *engine) trends(trials []Trial) []Trend {
	trends := []Trend{}
	for f, factor := range x.experiment.Factors {
		doses := factor.doses()
		if doses == nil {
			continue
		}
		for _, metric := range x.experiment.Metrics {
			rows := x.rows(f, metric.Name, trials)
			tau, p, err := stat.BlockTrend(doses, rows)
			if err != nil {
				continue // no block is complete: the effects say so
			}
			trends = append(trends, Trend{Factor: factor.Name, Metric: metric.Name, Tau: tau, P: p, Verdict: Undecided})
		}
	}
	for i, trend := range trends {
		if trend.P <= alpha/float64(len(trends)) {
			trends[i].Verdict = Rises
			if trend.Tau < 0 {
				trends[i].Verdict = Falls
			}
		}
	}
	return trends
}

// rows are the values of a metric by level of a factor, one row for each block and combination of
// the other factors.
func (x *engine) rows(f int, metric string, trials []Trial) [][]float64 {
	rows := map[string][]float64{}
	for _, made := range trials {
		condition := x.layout.conditions[made.Condition]
		value, found := made.Metrics[metric]
		if made.Kind != trial.KindMeasure || !made.Valid || condition.control || !found {
			continue
		}
		others := slices.Clone(condition.levels)
		others[f] = 0
		key := fmt.Sprintf("%06d %06d %v", made.Stage, made.Block, others)
		if rows[key] == nil {
			rows[key] = make([]float64, len(x.experiment.Factors[f].Levels))
			for i := range rows[key] {
				rows[key][i] = math.NaN()
			}
		}
		rows[key][condition.levels[f]] = value
	}
	ordered := make([][]float64, 0, len(rows))
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		ordered = append(ordered, rows[key])
	}
	return ordered
}

// outcome sums up the effects in one word: the worst that was shown, controls apart.
func outcome(effects []Effect) string {
	found := map[string]bool{}
	for _, effect := range effects {
		if !effect.Control && !effect.Negative && !effect.Interaction {
			found[effect.Verdict] = true
		}
	}
	for _, verdict := range []string{Over, Worse, Undecided, Better, Within} {
		// A level that is better counts, whatever is undecided beside it.
		if verdict == Undecided && found[Better] {
			return Better
		}
		if found[verdict] {
			return verdict
		}
	}
	return Same
}

// doubts says where a comparison that ought to show nothing shows something.
func (x *engine) doubts(r *Result) {
	for _, effect := range r.Effects {
		shows := effect.Verdict == Worse || effect.Verdict == Better || effect.Verdict == Over
		switch {
		case shows && effect.Control:
			r.warn(fmt.Sprintf("the baseline differs from itself on %s (%.3g times): chance, or the trials influence each "+
				"other; doubt the other verdicts", effect.Metric, effect.Ratio))
		case shows && effect.Negative:
			r.warn(fmt.Sprintf("the negative control %s=%s changes %s (%.3g times) although it ought to do nothing: something "+
				"else goes with flipping; doubt the other verdicts", effect.Factor, effect.Level, effect.Metric, effect.Ratio))
		case effect.Why != "":
			r.warn(fmt.Sprintf("%s=%s on %s: %s", effect.Factor, effect.Level, effect.Metric, effect.Why))
		}
	}
}
