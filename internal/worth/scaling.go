package worth

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/stat"
)

// Scaling is how a throughput grows with the number of workers. The law is fitted to the levels
// that had CPUs to run on: more workers than CPUs, all of which are busy, say nothing about what
// they cost each other.
type Scaling struct {
	// Metric is the throughput: that of the question, or RunsPerSecond of a job that is the same
	// with each number.
	Metric   string           `json:"metric"`
	Side     string           `json:"side,omitempty"` // level of the change's factor
	Law      *stat.ScalingLaw `json:"law,omitempty"`  // nil: too few levels; Unfitted says why
	Unfitted string           `json:"unfitted,omitempty"`
	// Contention holds coherence, too, where Coherence is nil: two levels do not tell them apart.
	Contention *Interval `json:"contention,omitempty"`
	Coherence  *Interval `json:"coherence,omitempty"`
	// Peak is the number of workers with the highest throughput by the law; 0: more always help.
	Peak   float64         `json:"peak"`
	Levels []ScalingWorker `json:"levels"`
	// Loss is what keeps most workers below what they could do.
	Loss Loss `json:"loss,omitempty"`
}

// ScalingWorker compares what was measured with what perfect scaling and the law expect.
type ScalingWorker struct {
	Workers  float64 `json:"workers"`
	Measured float64 `json:"measured"` // median
	// Perfect is what the fewest workers did, times how many more there are; or CPUs, where all are
	// busy.
	Perfect float64 `json:"perfect"`
	Law     float64 `json:"law,omitempty"` // 0: not fitted
	// CPUCost is how much CPU time a unit of work took, against that with the fewest workers; 0:
	// not known.
	CPUCost float64 `json:"cpu_cost,omitempty"`
	Cores   float64 `json:"cores,omitempty"` // CPUs that were used; 0: not known
	// Beyond says that all CPUs were busy and there were fewer than workers.
	Beyond bool `json:"beyond,omitempty"`
}

// RunsPerSecond is the throughput of a job: one by its wall time.
const RunsPerSecond = "runs/s"

// Loss is why more workers do not do as much more.
type Loss string

// The losses; "" for none of note.
const (
	LossDearer Loss = "dearer" // a unit of work takes more CPU time beside others
	LossWaits  Loss = "waits"  // workers wait
)

// workerWords are words in names of factors that count what works at the same time.
var workerWords = []string{"thread", "worker", "cpus", "cores", "process", "procs", "jobs", "goroutine", "task",
	"client", "connection", "concurren", "parallel"}

// CountsWorkers reports whether a factor counts workers, by its name: threads, env.GOMAXPROCS.
func CountsWorkers(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(workerWords, func(word string) bool { return strings.Contains(name, word) })
}

// told is the part by which the wall times of runs differ that last as long as they are told to. A
// load test of 3 s that was told so with each number of workers stays within 1 %, with its start
// and its end.
const told = 0.02

// throughput is the metric that a law is fitted to; false where nothing that was measured is one.
func (e *Experiment) throughput(q question) (Metric, bool) {
	switch {
	case q.metric.Higher:
		return q.metric, true
	case q.metric.Name != wall || !CountsWorkers(q.load.Name) || e.lastsAsTold(q):
		return Metric{}, false
	}
	return Metric{Name: RunsPerSecond, Unit: RunsPerSecond, Higher: true}, true
}

// lastsAsTold reports whether runs last as long with any number of workers, as those of a load test
// do: what they do meanwhile is not in their wall time. A job that no number of workers makes
// faster looks the same.
func (e *Experiment) lastsAsTold(q question) bool {
	least, most := math.Inf(1), 0.0
	blocks := e.blocks(q)
	for _, side := range sides(q) {
		rows := whole(blocks, side)
		for i := range q.loads {
			middle := column(rows, i)
			least, most = min(least, middle), max(most, middle)
		}
	}
	return most <= least*(1+told)
}

// sides are the trials without the change, and with it where there is one.
func sides(q question) []func(block) []float64 {
	found := []func(block) []float64{func(b block) []float64 { return b.a }}
	if q.change != nil {
		found = append(found, func(b block) []float64 { return b.b })
	}
	return found
}

// scalings fits the law for each side.
func scalings(e *Experiment, q question) ([]Scaling, error) {
	blocks, cores := e.blocks(q), e.blocks(q.of(Metric{Name: cores, Unit: cores}))
	if q.loads[0] < 1 {
		return nil, fmt.Errorf("%s begins at %g; a number of workers is 1 or more", q.load.Name, q.loads[0])
	}
	var found []Scaling
	for i, side := range sides(q) {
		rows := whole(blocks, side)
		if len(rows) < 2 {
			return nil, fmt.Errorf("%d blocks hold all levels of %s; two are needed", len(rows), q.load.Name)
		}
		scaling, err := scalingOf(q.loads, rows, whole(cores, side), e.Host.CPUs)
		if err != nil {
			return nil, err
		}
		scaling.Metric = q.metric.Name
		if q.change != nil {
			scaling.Side = q.change.Levels[i].Name
		}
		found = append(found, scaling)
	}
	return found, nil
}

// of asks the same of another metric.
func (q question) of(metric Metric) question {
	q.metric = metric
	return q
}

// whole are the blocks that have each level.
func whole(blocks []block, side func(block) []float64) (rows [][]float64) {
	for _, block := range blocks {
		if row := side(block); !slices.ContainsFunc(row, math.IsNaN) {
			rows = append(rows, row)
		}
	}
	return rows
}

// column is the middle of one level over the blocks; 0 without any.
func column(rows [][]float64, i int) float64 {
	if len(rows) == 0 {
		return 0
	}
	var values []float64
	for _, row := range rows {
		values = append(values, row[i])
	}
	return stat.Middle(values)
}

const (
	// allBusy is the part of a host's CPUs whose use says that there were none to spare.
	allBusy = 0.8
	// worthLoss is the part of what workers could do below which they are said to lose.
	worthLoss = 0.9
)

func scalingOf(workers []float64, rows, used [][]float64, cpus int) (s Scaling, err error) {
	fits := 0 // levels, of the fewest on
	for i, n := range workers {
		level := ScalingWorker{Workers: n, Measured: column(rows, i), Cores: column(used, i)}
		level.Beyond = cpus > 0 && n > float64(cpus) && level.Cores >= allBusy*float64(cpus)
		if first := column(used, 0) / column(rows, 0); level.Cores > 0 && first > 0 {
			level.CPUCost = level.Cores / level.Measured / first
		}
		if !level.Beyond && fits == i {
			fits++
		}
		s.Levels = append(s.Levels, level)
	}
	one := s.Levels[0].Measured / workers[0]
	if err := s.fit(workers[:fits], rows); err != nil && fits == len(workers) {
		return s, err
	} else if err != nil {
		s.Unfitted = fmt.Sprintf("the law needs two numbers of workers that have CPUs to run on; %d CPUs were busy with %s",
			cpus, strconv.FormatFloat(workers[fits], 'g', -1, 64))
	} else {
		one = s.Law.One
	}
	for i := range s.Levels {
		level := &s.Levels[i]
		could := level.Workers
		if level.Beyond {
			could = float64(cpus)
		}
		level.Perfect = one * could
		if s.Law != nil && !level.Beyond {
			level.Law = s.Law.At(level.Workers)
		}
	}
	s.Loss = s.Levels[len(s.Levels)-1].loss(&s.Levels[0])
	return s, nil
}

// Fitted are the fewest and the most workers that the law was fitted to; nil without a law.
func (s *Scaling) Fitted() (few, many *ScalingWorker) {
	for i := range s.Levels {
		if level := &s.Levels[i]; level.Law > 0 {
			if few == nil {
				few = level
			}
			many = level
		}
	}
	return few, many
}

// loss tells whether work became dearer than with the fewest workers or workers wait, by which of
// both accounts for more. What the fewest do not reach themselves (a law that does not fit, a busy
// host) is no loss.
func (l *ScalingWorker) loss(fewest *ScalingWorker) Loss {
	reached := l.Measured / l.Perfect / min(fewest.Measured/fewest.Perfect, 1)
	switch {
	case reached >= worthLoss || l.CPUCost == 0:
		return ""
	case 1-1/l.CPUCost >= (1-reached)/2:
		return LossDearer
	}
	return LossWaits
}

// fit fits the law to the first levels of the rows.
func (s *Scaling) fit(workers []float64, rows [][]float64) error {
	law, err := fitWithout(workers, rows, -1)
	if err != nil {
		return err
	}
	// Jackknife over blocks (Tukey 1958): the trials of one block share its disturbances.
	var contentions, coherences []float64
	count := float64(len(rows))
	for leave := range rows {
		without, err := fitWithout(workers, rows, leave)
		if err != nil {
			return err
		}
		contentions = append(contentions, count*law.Contention-(count-1)*without.Contention)
		coherences = append(coherences, count*law.Coherence-(count-1)*without.Coherence)
	}
	contention, err := termInterval(law.Contention, contentions)
	if err != nil {
		return err
	}
	s.Law, s.Contention = &law, &contention
	if len(workers) < levelsOfLaw {
		return nil
	}
	coherence, err := termInterval(law.Coherence, coherences)
	if err != nil {
		return err
	}
	s.Coherence = &coherence
	if peak := law.Peak(); !math.IsInf(peak, 1) {
		s.Peak = peak
	}
	return nil
}

// termInterval is around the fit; no term is negative.
func termInterval(value float64, pseudo []float64) (Interval, error) {
	interval, err := mean(pseudo)
	if err != nil {
		return interval, err
	}
	return Interval{value, max(0, min(interval.Low, value)), max(interval.High, value)}, nil
}

// levelsOfLaw are the numbers of workers that tell contention and coherence apart.
const levelsOfLaw = 3

// fitWithout fits all rows but one.
func fitWithout(workers []float64, rows [][]float64, leave int) (stat.ScalingLaw, error) {
	var n, throughput []float64
	for at, row := range rows {
		if at == leave {
			continue
		}
		n, throughput = append(n, workers...), append(throughput, row[:len(workers)]...)
	}
	if len(workers) < levelsOfLaw {
		return stat.FitContention(n, throughput)
	}
	return stat.FitScaling(n, throughput)
}
