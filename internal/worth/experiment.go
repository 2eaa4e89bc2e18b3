package worth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/stat"
)

// experimentSchema is what can be read.
const experimentSchema = "culprit.experiment/"

// maxDocument bounds what is read of an experiment.
const maxDocument = 64 << 20

// Experiment is what is needed of a result of `culprit try`.
type Experiment struct {
	Schema  string   `json:"schema"`
	Factors []Factor `json:"factors"`
	Metrics []Metric `json:"metrics"`
	Trials  []Trial  `json:"trials"`
	Host    struct {
		CPUs int `json:"CPUs"`
	} `json:"host"`
}

// Factor is what was varied.
type Factor struct {
	Name   string `json:"name"`
	Levels []struct {
		Name string `json:"name"`
	} `json:"levels"`
}

// Metric is what was measured.
type Metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Higher bool   `json:"higher"` // higher is better
}

// Trial is one run.
type Trial struct {
	Kind    string             `json:"kind"`
	Stage   int                `json:"stage"`
	Block   int                `json:"block"`
	Levels  map[string]string  `json:"levels"`
	Control bool               `json:"control"`
	Metrics map[string]float64 `json:"metrics"`
	Valid   bool               `json:"valid"`
}

// Read reads the result of an experiment.
func Read(source io.Reader) (*Experiment, error) {
	text, err := io.ReadAll(io.LimitReader(source, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxDocument {
		return nil, fmt.Errorf("larger than the limit of %d bytes", maxDocument)
	}
	e := &Experiment{}
	if err := json.Unmarshal(text, e); err != nil {
		return nil, fmt.Errorf("no result of `culprit try`: %w", err)
	}
	if !strings.HasPrefix(e.Schema, experimentSchema) {
		return nil, fmt.Errorf("no result of `culprit try`: its schema is %.40q", e.Schema)
	}
	return e, nil
}

// question is what is asked, with all names resolved.
type question struct {
	load   *Factor
	loads  []float64 // sorted
	change *Factor   // nil: only the load was varied
	metric Metric
}

// The metrics of a trial that others are made of.
const (
	cpu   = "cpu"   // seconds
	wall  = "wall"  // seconds
	cores = "cores" // CPU by wall time
)

// A law of workers needs two numbers of them; where a change breaks even is told by three loads or
// more.
const (
	leastWorkers = 2
	leastLoads   = 3
)

// enoughLevels is how many numeric levels a load must have.
func enoughLevels(name string) int {
	if CountsWorkers(name) {
		return leastWorkers
	}
	return leastLoads
}

func (e *Experiment) resolve(options Options) (q question, err error) {
	fits := func(f Factor) bool { return len(numbers(f)) >= enoughLevels(f.Name) }
	if q.load, err = e.factor(options.Load, "load", fits); err != nil {
		return q, err
	}
	q.loads = numbers(*q.load)
	if least := enoughLevels(q.load.Name); len(q.loads) < least {
		return q, fmt.Errorf("factor %s has %d numeric levels; %d are needed", q.load.Name, len(q.loads), least)
	}
	q.change, err = e.factor(options.Change, "change", func(f Factor) bool {
		return f.Name != q.load.Name && len(f.Levels) == 2
	})
	if errors.Is(err, errNone) && options.Change == "" {
		q.change, err = nil, nil
	}
	if err != nil {
		return q, err
	}
	if q.change != nil && (len(q.change.Levels) != 2 || q.change.Name == q.load.Name) {
		return q, fmt.Errorf("factor %s is no change: it needs two levels, without and with", q.change.Name)
	}
	q.metric, err = e.metric(options.Metric, q.weighs())
	return q, err
}

// weighs reports whether a change is weighed at each load.
func (q question) weighs() bool { return q.change != nil && len(q.loads) >= leastLoads }

var errNone = errors.New("there is none")

// factor finds one by name, or the only one that fits.
func (e *Experiment) factor(name, role string, fits func(Factor) bool) (*Factor, error) {
	var found []*Factor
	var names []string
	for i := range e.Factors {
		f := &e.Factors[i]
		names = append(names, f.Name)
		if f.Name == name {
			return f, nil
		}
		if fits(*f) {
			found = append(found, f)
		}
	}
	switch {
	case name != "":
		return nil, fmt.Errorf("no factor %q in the experiment; it has %s", name, strings.Join(names, ", "))
	case len(found) == 0:
		return nil, fmt.Errorf("no factor fits as the %s: %w (of %s)", role, errNone, strings.Join(names, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("several factors fit as the %s; name one with --%s: %s", role, role, strings.Join(names, ", "))
	}
	return found[0], nil
}

// numbers are the levels of a factor, sorted; nil when one is no number or stands twice.
func numbers(f Factor) []float64 {
	var values []float64
	for _, level := range f.Levels {
		value, err := strconv.ParseFloat(level.Name, 64)
		if err != nil || !finite(value) || slices.Contains(values, value) {
			return nil
		}
		values = append(values, value)
	}
	slices.Sort(values)
	return values
}

// metric finds the metric that is asked for. A change is weighed in cores where these are known:
// runs of a load test last as long as they are told to, so neither time alone says what the change
// costs.
func (e *Experiment) metric(name string, change bool) (Metric, error) {
	known := map[string]bool{}
	for _, trial := range e.Trials {
		for metric := range trial.Metrics {
			known[metric] = true
		}
	}
	if known[cpu] && known[wall] && (name == cores || name == "" && change) {
		return Metric{Name: cores, Unit: cores}, nil
	}
	if name == "" && len(e.Metrics) > 0 {
		return e.Metrics[0], nil
	}
	for _, metric := range e.Metrics {
		if metric.Name == name {
			return metric, nil
		}
	}
	if known[name] && name != "" {
		return Metric{Name: name}, nil
	}
	return Metric{}, fmt.Errorf("no metric %q in the experiment", name)
}

// value is the metric of a trial.
func (q question) value(trial Trial) (float64, bool) {
	lasted := trial.Metrics[wall]
	switch q.metric.Name {
	case cores:
		return trial.Metrics[cpu] / lasted, finite(trial.Metrics[cpu]/lasted) && lasted > 0
	case RunsPerSecond:
		return 1 / lasted, finite(1/lasted) && lasted > 0
	}
	value, found := trial.Metrics[q.metric.Name]
	return value, found && finite(value)
}

// block is the metric at each load, without and with the change; NaN where a trial is missing or
// was disturbed.
type block struct{ a, b []float64 }

// difference is what the change costs at a load.
func (b block) difference(i int, higher bool) float64 {
	if higher {
		return b.a[i] - b.b[i]
	}
	return b.b[i] - b.a[i]
}

// blocks gathers the trials that count.
func (e *Experiment) blocks(q question) []block {
	type place struct{ stage, block int }
	known := map[place]map[string]map[float64]float64{}
	var order []place
	for _, trial := range e.Trials {
		load, err := strconv.ParseFloat(trial.Levels[q.load.Name], 64)
		value, found := q.value(trial)
		if trial.Kind != "measure" || !trial.Valid || trial.Control || err != nil || !found {
			continue
		}
		side := ""
		if q.change != nil {
			side = trial.Levels[q.change.Name]
		}
		at := place{trial.Stage, trial.Block}
		if known[at] == nil {
			known[at] = map[string]map[float64]float64{}
			order = append(order, at)
		}
		if known[at][side] == nil {
			known[at][side] = map[float64]float64{}
		}
		known[at][side][load] = value
	}
	sides := []string{"", ""}
	if q.change != nil {
		sides = []string{q.change.Levels[0].Name, q.change.Levels[1].Name}
	}
	found := make([]block, 0, len(order))
	for _, at := range order {
		found = append(found, block{row(known[at][sides[0]], q.loads), row(known[at][sides[1]], q.loads)})
	}
	return found
}

// row orders values by load; NaN where one is missing.
func row(values map[float64]float64, loads []float64) []float64 {
	ordered := make([]float64, 0, len(loads))
	for _, load := range loads {
		value, found := values[load]
		if !found {
			value = math.NaN()
		}
		ordered = append(ordered, value)
	}
	return ordered
}

// mean is Student's interval over blocks.
func mean(values []float64) (Interval, error) {
	interval, err := stat.Mean(values, confidence)
	return Interval{interval.Value, interval.Low, interval.High}, err
}
