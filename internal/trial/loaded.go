package trial

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"culprit/internal/load"
)

// runServer makes one run of a server under load.
func (r *Runner) runServer(ctx context.Context, spec Spec) (Run, error) {
	s, err := r.serverOf(ctx, spec)
	if err != nil {
		return Run{}, err
	}
	run, err := s.loaded(ctx, spec)
	if spec.Done != nil {
		err = first(err, spec.Done(run, Window{Pid: s.gate.pid, Opened: run.Start,
			Ended: run.Start.Add(seconds(run.Metrics[MetricWall]))}))
	}
	if err != nil || !spec.Load.Keep {
		err = first(err, s.stop())
	}
	return run, err
}

// serverOf is a server that is up: the one that was kept for the side, or one that is started.
func (r *Runner) serverOf(ctx context.Context, spec Spec) (*server, error) {
	for _, s := range r.servers {
		if spec.Load.Keep && s.spec.Side == spec.Side && s.template == spec.Command {
			return s, s.alive("between two loads")
		}
	}
	return r.startServer(ctx, spec)
}

// serverPids are the processes of all servers that are up.
func (r *Runner) serverPids() map[int]bool {
	pids := map[int]bool{}
	for _, s := range r.servers {
		for _, pid := range s.pids() {
			pids[pid] = true
		}
	}
	return pids
}

// loadSpec is the run of the load's command.
func (s *server) loadSpec(spec Spec) Spec {
	return Spec{Side: spec.Side, Pair: spec.Pair, Order: spec.Order, Kind: spec.Kind + "load", Level: spec.Level,
		Command: fillPort(spec.Load.Command, s.port), Dir: spec.Dir, Env: spec.Env, Timeout: spec.Timeout,
		Printed: spec.Printed, CaseDir: spec.CaseDir, OutDir: spec.OutDir, MaxOutputBytes: spec.MaxOutputBytes,
		what: "the load failed"}
}

// warmUp runs the load without measuring, for a time or a number of requests.
func (s *server) warmUp(ctx context.Context) error {
	plan := s.spec.Load
	spec := s.loadSpec(s.spec)
	spec.Kind, spec.Printed = s.spec.Kind+"warm", nil
	until, served := time.Now().Add(plan.WarmUp), 0.0
	for time.Now().Before(until) || served < plan.WarmUpRequests {
		limited, cancel := ctx, context.CancelFunc(func() {})
		if plan.WarmUpRequests == 0 {
			limited, cancel = context.WithDeadline(ctx, until)
		}
		run, err := s.runner.runCommand(limited, spec)
		cut := limited.Err() != nil && ctx.Err() == nil
		cancel()
		if err != nil && !cut {
			s.awaitEnd()
		}
		if errAlive := s.alive("under the load that warms it up"); errAlive != nil {
			return errAlive
		}
		if cut {
			break // the time was up
		}
		if err != nil {
			return err
		}
		if plan.WarmUpRequests > 0 {
			result, known := readLoad(spec, run)
			if !known || result.Requests <= 0 {
				return fmt.Errorf("run %s: warm up over %.0f requests: the load does not say how many it made; give a time, "+
					"such as --warm-up 2s", spec.Side, plan.WarmUpRequests)
			}
			served += result.Requests
		}
	}
	s.settle(ctx)
	return nil
}

// settle waits, not for long, until the server has nothing to do: what the warm-up left, such as a
// compiler's work, is not the load's.
func (s *server) settle(ctx context.Context) {
	const longest = time.Second
	quiet, used := 0, usageOf(s.pids(), s.group).cpu
	for until := time.Now().Add(longest); quiet < 3 && time.Now().Before(until) && ctx.Err() == nil; {
		time.Sleep(settleLook)
		now := usageOf(s.pids(), s.group).cpu
		if quiet++; now-used > settleLook/20 {
			quiet = 0
		}
		used = now
	}
}

// readLoad reads what a load printed.
func readLoad(spec Spec, run Run) (load.Result, bool) {
	for _, name := range []string{run.Stdout, run.Stderr} {
		text, err := os.ReadFile(filepath.Join(spec.CaseDir, name)) // not larger than what is kept of a run
		if err != nil {
			continue
		}
		if result, known := load.Read(string(text)); known {
			return result, true
		}
	}
	return load.Result{}, false
}

// loaded puts the load on and measures the server meanwhile.
func (s *server) loaded(ctx context.Context, spec Spec) (Run, error) {
	var before, after usage
	var busy *busyWatch
	var loadThreads map[int]time.Duration
	groupPath := ""
	if s.group != nil {
		groupPath = s.group.path
	}
	loadSpec := s.loadSpec(spec)
	loadSpec.Ready = func(pid int) error {
		if spec.Load.Begin != nil {
			if err := spec.Load.Begin(s.gate.pid, groupPath); err != nil {
				return err
			}
		}
		before, busy = usageOf(s.pids(), s.group), watchBusy(pid)
		return nil
	}
	loadSpec.Done = func(Run, Window) error {
		after, loadThreads = usageOf(s.pids(), s.group), busy.end()
		return nil
	}
	run, err := s.runner.runCommand(ctx, loadSpec)
	if err != nil {
		s.awaitEnd()
	}
	if errAlive := s.alive("under the load"); errAlive != nil {
		return run, errAlive // the load fails because of that
	}
	if err != nil {
		return run, err
	}
	wall := seconds(run.Metrics[MetricWall])
	measured := run.Metrics
	run.Kind, run.Metrics = spec.Kind, s.metrics(before, after, wall)
	for _, printed := range spec.Printed {
		run.Metrics[printed.Name] = measured[printed.Name]
	}
	run.Metrics[MetricWall], run.Metrics[MetricLoadCPU] = measured[MetricWall], measured[MetricCPU]
	run.Metrics[MetricLoadBusy] = busiest(nil, loadThreads, wall)
	run.Disturb.OthersS = max(0, run.Disturb.OthersS-run.Metrics[MetricServerCPU])
	run.Disturb.RunqueueS = max(0, after.runqueue-before.runqueue).Seconds()
	if result, known := readLoad(spec, run); known {
		if err := result.Err(); err != nil {
			return run, &RequestsFailedError{Side: spec.Side, Command: loadSpec.Command, Err: err}
		}
		for name, value := range result.Metrics() {
			if _, taken := run.Metrics[name]; !taken {
				run.Metrics[name] = value
			}
		}
		if result.Requests > 0 {
			run.Metrics[MetricCPU] /= result.Requests
		}
	}
	if spec.Load.End != nil {
		return run, spec.Load.End(run)
	}
	return run, nil
}

// metrics are what the server used between two looks.
func (s *server) metrics(before, after usage, wall time.Duration) map[string]float64 {
	cpu := max(0, after.cpu-before.cpu).Seconds()
	return map[string]float64{
		MetricCPU: cpu, MetricServerCPU: cpu,
		MetricServerBusy:  busiest(before.threads, after.threads, wall),
		MetricVoluntary:   max(0, after.voluntary-before.voluntary),
		MetricInvoluntary: max(0, after.involuntary-before.involuntary),
		MetricMinorFaults: max(0, after.minor-before.minor),
		MetricMajorFaults: max(0, after.major-before.major),
		MetricMemory:      float64(after.peakKB) * 1024,
	}
}

// RequestsFailedError says that a load ran, but not all of its requests were answered well: the run
// does not count.
type RequestsFailedError struct {
	Side, Command string
	Err           error
}

func (e *RequestsFailedError) Error() string {
	return fmt.Sprintf("run %s: %v: no valid trial: %q", e.Side, e.Err, oneLine(e.Command, maxShownCommand))
}

func (e *RequestsFailedError) Unwrap() error { return e.Err }
