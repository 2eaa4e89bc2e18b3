package try

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"culprit/internal/host"
	"culprit/internal/trial"
)

// watch measures one period of a running service: the wash-out is dropped, then the kernel's
// counters are read at both ends of what is left, as rates per second, and the command that
// measures is run at its beginning (a counter: at both ends). A command that takes longer, such as
// a load generator, makes the period longer.
func (l *hostLab) watch(ctx context.Context, condition condition, made *Trial) (err error) {
	service := l.experiment.Service
	beside, err := l.besideService(condition, made)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, beside.end()) }()
	if err := pause(ctx, service.WashOut); err != nil {
		return err
	}
	if err := l.observer.watchService(ctx, service); err != nil {
		return err
	}
	begun := time.Now()
	before, err := service.count()
	if err != nil {
		return err
	}
	made.Metrics = map[string]float64{}
	first, err := l.measureService(ctx, condition, made)
	if err != nil {
		return err
	}
	if err := pause(ctx, service.Period-service.WashOut-time.Since(begun)); err != nil {
		return err
	}
	after, err := service.count()
	if err != nil {
		return err
	}
	seconds := time.Since(begun).Seconds()
	last := first
	if service.Counter {
		between := time.Since(begun)
		if last, err = l.measureService(ctx, condition, made); err != nil {
			return err
		}
		for name, value := range last {
			last[name] = (value - first[name]) / between.Seconds()
		}
	}
	for name, value := range last {
		made.Metrics[name] = value
	}
	made.Metrics[trial.MetricWall] = seconds
	made.Metrics[trial.MetricCPU] = (after.cpu - before.cpu).Seconds() / seconds
	used := map[string]float64{trial.MetricWall: seconds, trial.MetricCPU: (after.cpu - before.cpu).Seconds()}
	if err := l.observer.end(ctx, made, used); err != nil {
		return err
	}
	if err := beside.ended(made, time.Now()); err != nil {
		return err
	}
	if service.Cgroup == "" {
		made.Metrics[trial.MetricVoluntary] = max(0, after.switches-before.switches) / seconds
		made.Metrics[trial.MetricMinorFaults] = max(0, after.faults-before.faults) / seconds
		if calls := after.calls - before.calls; calls >= callsLeast {
			made.Metrics[trial.MetricCalls] = calls / seconds
			made.Metrics[CPUPerCall.Name] = (after.cpu - before.cpu).Seconds() / calls
		}
	}
	return nil
}

// callsLeast in a period, for the time of one to be told within some per cent.
const callsLeast = 100

// callsTried is how long a service's calls are counted to learn whether they tell its work.
const callsTried = 300 * time.Millisecond

// CountsCalls tells whether a running service makes so many read and write calls that the time for
// one tells its work.
func (s *Service) CountsCalls() bool {
	if s.Cgroup != "" {
		return false
	}
	begun := time.Now()
	before, errBefore := s.count()
	time.Sleep(callsTried)
	after, err := s.count()
	period := s.Period
	if period == 0 {
		period = UsualPeriod
	}
	measured := period - max(s.WashOut, period/usualWashOut)
	return errors.Join(errBefore, err) == nil &&
		(after.calls-before.calls)/time.Since(begun).Seconds()*measured.Seconds() >= callsSurely*callsLeast
}

// callsSurely is how many times the least there must be, for no period to fall below it.
const callsSurely = 5

// measureService runs the command that measures and returns what it printed.
func (l *hostLab) measureService(ctx context.Context, condition condition, made *Trial) (map[string]float64, error) {
	service := l.experiment.Service
	if service.Measure == "" {
		return nil, nil
	}
	spec := l.spec(condition, made)
	spec.Command = service.Measure
	if service.Counter {
		spec.Kind += "end" // its output must not replace that of the beginning
	}
	if l.experiment.Timeout == 0 {
		spec.Timeout = max(service.Period, time.Minute)
	}
	spec.Env = append(spec.Env, fmt.Sprintf("CULPRIT_PERIOD_S=%g", (service.Period-service.WashOut).Seconds()))
	run, err := l.runner.Run(ctx, spec)
	if err != nil {
		return nil, err
	}
	made.Stdout, made.Stderr = run.Stdout, run.Stderr
	found := map[string]float64{}
	for _, printed := range spec.Printed {
		found[printed.Name] = run.Metrics[printed.Name]
	}
	if l.experiment.Latency != nil {
		if err := l.experiment.Latency.read(l.journal.dir, spec.Dir, run, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func pause(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
		return nil
	}
}

// born is when a process began, "" when there is none.
func born(pid int) string {
	// Of proc_pid_stat(5), which counts from 1; the fields begin with the third.
	const start = 22 - 3
	if fields := host.StatFields(pid); len(fields) > start {
		return fields[start]
	}
	return ""
}

// used is what a service has used so far.
type used struct {
	cpu              time.Duration
	switches, faults float64
	calls            float64 // read and write calls
}

// count reads the counters of the service, a process with all below it or a cgroup.
func (s *Service) count() (used, error) {
	if s.Cgroup != "" {
		return countGroup(s.Cgroup)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", s.Pid)); err != nil {
		return used{}, fmt.Errorf("watch process %d: it has ended", s.Pid)
	}
	var total used
	seen := map[int]bool{}
	for queue := []int{s.Pid}; len(queue) > 0 && len(seen) < maxProcesses; queue = queue[1:] {
		pid := queue[0]
		if !seen[pid] {
			seen[pid] = true
			total.add(countProcess(pid))
			queue = append(queue, host.Children(pid)...)
		}
	}
	return total, nil
}

const maxProcesses = 100_000

func (u *used) add(more used) {
	u.cpu += more.cpu
	u.switches += more.switches
	u.faults += more.faults
	u.calls += more.calls
}

// countProcess reads one process; one that has just ended counts nothing.
func countProcess(pid int) used {
	var found used
	if fields := host.StatFields(pid); len(fields) > 9 {
		found.faults, _ = strconv.ParseFloat(fields[7], 64) // what is no number counts nothing
	}
	found.cpu, _ = host.ProcessCPUTime(pid)
	found.calls = host.ReadWriteCalls(pid)
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return found
	}
	for _, thread := range threads {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, thread.Name()))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if name, value, _ := strings.Cut(line, ":"); strings.HasSuffix(name, "voluntary_ctxt_switches") {
				number, _ := strconv.ParseFloat(strings.TrimSpace(value), 64) // see above
				found.switches += number
			}
		}
	}
	return found
}

// countMembers adds up the processes of a cgroup that does not count CPU time itself. What ends
// meanwhile is lost.
func countMembers(folder string) (used, error) {
	text, err := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
	if err != nil {
		return used{}, fmt.Errorf("watch cgroup: %w", err)
	}
	var total used
	for _, word := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil {
			total.add(countProcess(pid))
		}
	}
	return total, nil
}

// countGroup reads a cgroup: of version 2, or of version 1 where the cpuacct controller is.
func countGroup(folder string) (used, error) {
	if text, err := os.ReadFile(filepath.Join(folder, "cpu.stat")); err == nil {
		for line := range strings.Lines(string(text)) {
			if value, is := strings.CutPrefix(line, "usage_usec "); is {
				micros, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
				return used{cpu: time.Duration(micros) * time.Microsecond}, err
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "cpuacct.usage"))
	if errors.Is(err, os.ErrNotExist) {
		return countMembers(folder)
	}
	if err != nil {
		return used{}, fmt.Errorf("watch cgroup: %w", err)
	}
	nanos, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return used{cpu: time.Duration(nanos)}, err
}
