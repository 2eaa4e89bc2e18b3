package trial

import (
	"context"
	"fmt"
	"time"
)

// Watched is a service that runs already. Nothing is done to it.
type Watched struct {
	Side   string
	Pids   func() ([]int, error) // its processes as they are now
	Cgroup string                // "": those processes alone; else its counters are read where it has some
}

// Watch measures services for one window, all at once: looking at counters costs no more for two
// than for one, and both then have the same traffic and the same host. Amounts are per second.
func (r *Runner) Watch(ctx context.Context, watched []Watched, pair, order int,
	length time.Duration) ([]Run, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	spared := r.sparedPids()
	looks := make([]usage, len(watched))
	before, err := lookAtHost(r.root, spared)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	for i := range watched {
		if looks[i], err = watched[i].look(); err != nil {
			return nil, err
		}
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("watch services: %w", context.Cause(ctx))
	case <-time.After(length):
	}
	runs, used := make([]Run, len(watched)), time.Duration(0)
	for i := range watched {
		now, err := watched[i].look()
		if err != nil {
			return nil, err
		}
		runs[i] = Run{Side: watched[i].Side, Pair: pair, Order: order + i, Kind: KindMeasure, Start: started,
			Valid: true, Metrics: rates(looks[i], now)}
		runs[i].Disturb.RunqueueS = max(0, now.runqueue-looks[i].runqueue).Seconds()
		used += max(0, now.cpu-looks[i].cpu)
	}
	after, err := lookAtHost(r.root, spared)
	if err != nil {
		return nil, err
	}
	disturb := between(before, after, r.cpus, used)
	for i := range runs {
		runs[i].Disturb.StealS, runs[i].Disturb.OthersS = disturb.StealS, disturb.OthersS
	}
	return runs, nil
}

// CPU is the CPU time that a service has used so far.
func (w Watched) CPU() (time.Duration, error) {
	now, err := w.look()
	return now.cpu, err
}

// Calls begins to count the read and write calls of a service; the answer is how many there were
// since, 0 where that cannot be told.
func (w Watched) Calls() func() float64 {
	before, errBefore := w.look()
	return func() float64 {
		after, err := w.look()
		if errBefore != nil || err != nil {
			return 0
		}
		return callsBetween(before, after)
	}
}

func (w Watched) look() (usage, error) {
	pids, err := w.Pids()
	if err != nil {
		return usage{}, fmt.Errorf("watch %s: %w", w.Side, err)
	}
	var counters *group
	if w.Cgroup != "" {
		counters = &group{path: w.Cgroup}
	}
	return usageOf(pids, counters), nil
}

// rates are the metrics of a window, per second but for the peak of the memory.
func rates(before, after usage) map[string]float64 {
	wall := after.at.Sub(before.at)
	per := func(amount float64) float64 { return max(0, amount) / max(wall.Seconds(), 1e-9) }
	cpu := max(0, after.cpu-before.cpu)
	metrics := map[string]float64{
		MetricWall: wall.Seconds(), MetricCPU: per(cpu.Seconds()), MetricServerCPU: cpu.Seconds(),
		MetricServerBusy:  busiest(before.threads, after.threads, wall),
		MetricVoluntary:   per(after.voluntary - before.voluntary),
		MetricInvoluntary: per(after.involuntary - before.involuntary),
		MetricMinorFaults: per(after.minor - before.minor),
		MetricMajorFaults: per(after.major - before.major),
		MetricMemory:      float64(after.peakKB) * 1024,
	}
	if calls := callsBetween(before, after); calls >= CallsSurely {
		metrics[MetricCalls], metrics[MetricCPUPerCall] = per(calls), cpu.Seconds()/calls
	}
	return metrics
}
