package try

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"culprit/internal/shell"
	"culprit/internal/trial"
)

// The metric of what a monitor itself uses, beside what it costs the workload.
const metricMonitorCPU = "monitor_cpu"

// monitors tells whether monitors are varied.
func (e Experiment) monitors() bool {
	return slices.ContainsFunc(e.Factors, func(factor Factor) bool { return factor.Kind == KindMonitor })
}

// beside is the monitor of one trial, if it has one; nil where monitors are not varied.
type beside struct {
	monitor *trial.Beside
	used    float64   // seconds of CPU; beside a service: in each second
	started time.Time // beside a service
}

// monitorOf is the monitor of a condition, "" without one.
func (l *hostLab) monitorOf(condition condition) string {
	text := ""
	for f, factor := range l.experiment.Factors {
		if factor.Kind == KindMonitor {
			text = factor.Levels[condition.levels[f]].Value
		}
	}
	return text
}

// monitorOutput is the file that the monitor of a trial writes to.
func (l *hostLab) monitorOutput(made *Trial) string {
	return filepath.Join(l.journal.dir, "runs", fmt.Sprintf("%04d-monitor.txt", made.Order))
}

// monitor has the monitor of a condition started at the gate and ended with the workload.
func (l *hostLab) monitor(condition condition, made *Trial, spec *trial.Spec) *beside {
	if !l.experiment.monitors() {
		return nil
	}
	b, text := &beside{}, l.monitorOf(condition)
	if text == "" {
		return b
	}
	path := l.monitorOutput(made)
	spec.Ready = func(pid int) error {
		filled, err := fillMonitor(text, pid)
		if err != nil {
			return err
		}
		b.monitor, err = l.runner.StartBeside(filled, path)
		return err
	}
	spec.Done = func(_ trial.Run, window trial.Window) error {
		if b.monitor == nil {
			return nil
		}
		used, err := b.monitor.End(window.Ended)
		b.monitor, b.used = nil, used.Seconds()
		return err
	}
	return b
}

// besideService starts the monitor of a condition beside a running service; nil where monitors are
// not varied.
func (l *hostLab) besideService(condition condition, made *Trial) (*beside, error) {
	if !l.experiment.monitors() {
		return nil, nil
	}
	b, text := &beside{started: time.Now()}, l.monitorOf(condition)
	if text == "" {
		return b, nil
	}
	service := l.experiment.Service
	filled, err := fillMonitor(text, service.Pid)
	if err != nil {
		return nil, err
	}
	b.monitor, err = l.runner.StartBeside(filled, l.monitorOutput(made))
	b.started = time.Now() // it has settled
	return b, err
}

// ended ends the monitor of a period and adds what it used in each second: so all of a service is
// counted.
func (b *beside) ended(made *Trial, at time.Time) error {
	if b == nil {
		return nil
	}
	if b.monitor != nil {
		used, err := b.monitor.End(at)
		b.monitor, b.used = nil, used.Seconds()/max(at.Sub(b.started).Seconds(), 1e-9)
		if err != nil {
			return err
		}
	}
	b.account(made)
	return nil
}

// end ends the monitor of a run that was given up before it began.
func (b *beside) end() error {
	if b == nil || b.monitor == nil {
		return nil
	}
	_, err := b.monitor.End(time.Time{})
	b.monitor = nil
	return err
}

// account adds what the monitor used to a trial; it is none of the disturbances from outside.
func (b *beside) account(made *Trial) {
	if b == nil {
		return
	}
	made.Metrics[metricMonitorCPU] = b.used
	made.Disturb.OthersS = max(0, made.Disturb.OthersS-b.used)
}

// fillMonitor puts the number of the workload's process for {pid} and the path of its cgroup, as
// perf stat -G wants it, for {cgroup}. Only what no shell could read in another way is filled in.
func fillMonitor(text string, pid int) (string, error) {
	text = strings.ReplaceAll(text, "{pid}", strconv.Itoa(pid))
	if !strings.Contains(text, "{cgroup}") {
		return text, nil
	}
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "", fmt.Errorf("find cgroup of the workload: %w", err)
	}
	group := groupName(string(content))
	switch {
	case group == "":
		return "", fmt.Errorf("fill in {cgroup}: the workload is in no cgroup of its own here; run as root where cgroup2 " +
			"is mounted")
	case !shell.IsPlain(group):
		return "", fmt.Errorf("fill in {cgroup}: a shell would not take %q as it is; start culprit in another cgroup", group)
	}
	return strings.ReplaceAll(text, "{cgroup}", group), nil
}

// groupName finds the cgroup for perf events in /proc/PID/cgroup: in its own hierarchy of version 1
// if there is one, else in version 2. It has no slash at its beginning.
func groupName(content string) string {
	unified := ""
	for line := range strings.Lines(content) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		path := strings.TrimPrefix(parts[2], "/")
		if parts[1] == "perf_event" {
			return path
		}
		if parts[0] == "0" {
			unified = path
		}
	}
	return unified
}
