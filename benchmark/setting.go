package main

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"culprit/recording"

	"culprit/benchmark/peers"
)

// margin keeps clear of the attaching and detaching at the ends of a recording.
const margin = 80 * time.Millisecond

func (b *bench) alone() (float64, error) {
	start := time.Now()
	time.Sleep(b.lasts)
	return b.worker.between(start, time.Now())
}

// floorHooks are the tracepoints that culprit's probes use at every switch and call.
var floorHooks = []string{"sys_enter", "sys_exit", "sched_switch", "sched_waking"}

// floor attaches programs that do nothing to the hooks that culprit uses.
func (b *bench) floor() (float64, error) {
	detach, err := attachFloor()
	if err != nil {
		return 0, err
	}
	defer detach()
	return b.alone()
}

// attachFloor attaches the empty programs and returns what takes them away.
func attachFloor() (detach func(), err error) {
	var all []io.Closer
	detach = func() {
		for _, one := range all {
			_ = one.Close() // the kernel has let go of it all the same
		}
	}
	defer func() {
		if err != nil {
			detach()
		}
	}()
	nothing := asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}
	for _, hook := range floorHooks {
		program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp,
			AttachTo: hook, Instructions: nothing, License: "GPL"})
		if err != nil {
			return nil, fmt.Errorf("load an empty program for %s: %w", hook, err)
		}
		all = append(all, program)
		attached, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return nil, fmt.Errorf("attach to %s: %w", hook, err)
		}
		all = append(all, attached)
	}
	return detach, nil
}

func (b *bench) bystander() (float64, error) {
	other := exec.Command("sleep", "60")
	other.SysProcAttr = peers.EndsWithOwner()
	if err := other.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	return b.recorded(other.Process.Pid)
}

// with records the worker with some flags.
func with(flags ...string) func(*bench) (float64, error) {
	return func(b *bench) (float64, error) { return b.recorded(b.worker.command.Process.Pid, flags...) }
}

// recorded measures the worker while culprit records a process.
func (b *bench) recorded(pid int, more ...string) (float64, error) {
	words := append([]string{"record", "-f", "-p", strconv.Itoa(pid), "-o", b.recordingPath(),
		"-d", (b.lasts + 2*margin).String()}, more...)
	if text, err := exec.Command(b.culprit, words...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s record: %w: %s", b.culprit, err, text)
	}
	rec, err := recording.Open(b.recordingPath())
	if err != nil {
		return 0, err
	}
	if len(more) == 0 && pid == b.worker.command.Process.Pid {
		b.recorderCPU += time.Duration(rec.Manifest.Cost.RecorderCPUNs)
		b.window += time.Duration(rec.Manifest.WindowNs)
	}
	start := rec.Manifest.StartedAt
	return b.worker.between(start.Add(margin), start.Add(time.Duration(rec.Manifest.WindowNs)-margin))
}
