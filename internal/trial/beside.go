package trial

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"culprit/internal/host"
)

// Beside is a command that runs beside a workload: a monitor. It has a process group and, where
// this host allows it, a cgroup of its own, which dies with culprit.
type Beside struct {
	command *exec.Cmd
	text    string
	output  *os.File
	group   *group
	settled time.Duration // CPU time used until the workload began
	ended   chan struct{}
	endedAt time.Time
}

// The times of a monitor: it has settled when it has waited for a while without using the CPU.
const (
	settleLook  = 20 * time.Millisecond
	settleQuiet = 5                // looks in a row
	settleLeast = 10               // looks, for a program to be loaded
	settleMost  = 3 * time.Second  // of one that never waits
	endPolite   = 3 * time.Second  // after SIGINT: it prints what it counted
	endForced   = 10 * time.Second // after SIGKILL
)

// StartBeside starts a monitor, for Spec.Ready to call: a text for the shell, which writes to a
// file. It returns when the monitor has settled, that is when it waits for something and no longer
// uses the CPU, or after three seconds. One that ends before that is an error with its last lines.
func (r *Runner) StartBeside(text, outputPath string) (*Beside, error) {
	if err := os.MkdirAll(filepath.Dir(outputPath), 0o755); err != nil {
		return nil, fmt.Errorf("start monitor: %w", err)
	}
	output, err := createOutput(outputPath)
	if err != nil {
		return nil, fmt.Errorf("start monitor: %w", err)
	}
	b := &Beside{command: exec.Command("/bin/sh", "-c", text), text: text, output: output, ended: make(chan struct{})}
	b.command.Stdout, b.command.Stderr = output, output
	b.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if r.group != nil {
		if b.group, err = makeGroup(filepath.Join(r.group.path, fmt.Sprintf("beside-%d", r.count))); err != nil {
			return nil, errors.Join(fmt.Errorf("start monitor: %w", err), output.Close())
		}
		b.group.enter(b.command.SysProcAttr)
	}
	if err := b.command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start monitor: %w", err), b.group.close(), output.Close())
	}
	go func() {
		_ = b.command.Wait() // how it ended is in ProcessState
		b.endedAt = time.Now()
		close(b.ended)
	}()
	if err := b.settle(); err != nil {
		_, errEnd := b.End(time.Time{})
		return nil, first(err, errEnd)
	}
	return b, nil
}

// settle waits until the monitor has nothing to do.
func (b *Beside) settle() error {
	quiet := 0
	before := b.cpu()
	for looks, begun := 0, time.Now(); time.Since(begun) < settleMost; looks++ {
		select {
		case <-b.ended:
			return b.failed("ended before the workload began")
		case <-time.After(settleLook):
		}
		now := b.cpu()
		if quiet++; now != before {
			quiet, before = 0, now
		}
		if quiet >= settleQuiet && looks >= settleLeast {
			break
		}
	}
	b.settled = b.cpu()
	return nil
}

func (b *Beside) failed(how string) error {
	out := outputs{stdout: b.output, stderr: b.output}
	text := fmt.Sprintf("monitor %q %s (%s)", oneLine(b.text, maxShownCommand), how, b.command.ProcessState)
	if lines := out.lastLines(); len(lines) > 0 {
		return fmt.Errorf("%s: %s", text, strings.Join(lines, " | "))
	}
	return errors.New(text)
}

// cpu is what the monitor has used so far: of its cgroup, else of its processes that live.
func (b *Beside) cpu() time.Duration {
	if used, counts := b.group.cpu(); counts {
		return used
	}
	var total time.Duration
	for _, pid := range host.Tree(b.command.Process.Pid, maxBeside) {
		if used, err := host.ProcessCPUTime(pid); err == nil {
			total += used
		}
	}
	return total
}

// maxBeside bounds the processes of a monitor that are looked at.
const maxBeside = 4096

// End interrupts the monitor, so that it writes what it counted, waits for it, and kills what is
// left. It returns the CPU time that the monitor used since it had settled. One that ended by
// itself before the workload did, at workloadEnd, is an error: it has not seen all of it. A zero
// workloadEnd leaves that out.
func (b *Beside) End(workloadEnd time.Time) (time.Duration, error) {
	select {
	case <-b.ended:
	default:
		_ = syscall.Kill(-b.command.Process.Pid, syscall.SIGINT) // it may end at this moment
	}
	select {
	case <-b.ended:
	case <-time.After(endPolite):
	}
	_ = syscall.Kill(-b.command.Process.Pid, syscall.SIGKILL)
	used := max(0, b.cpu()-b.settled)
	b.group.kill()
	var err error
	select {
	case <-b.ended:
		if state := b.command.ProcessState; b.group == nil && state != nil {
			used = max(0, state.UserTime()+state.SystemTime()-b.settled)
		}
		const earlier = 50 * time.Millisecond
		if !workloadEnd.IsZero() && b.endedAt.Before(workloadEnd.Add(-earlier)) {
			err = b.failed("ended before the workload did")
		}
	case <-time.After(endForced):
		err = fmt.Errorf("end monitor %q: it has not ended after %s", oneLine(b.text, maxShownCommand), endForced)
	}
	reapGroup(b.command.Process.Pid, time.Now().Add(endForced))
	return used, first(err, b.group.close(), b.output.Close())
}

// reapGroup waits for what a monitor left: its orphans are children of this process, which is their
// subreaper. All of them were killed.
func reapGroup(group int, until time.Time) {
	for time.Now().Before(until) {
		pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil)
		if err != nil && err != syscall.EINTR {
			return // ECHILD: none is left
		}
		if pid == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}
