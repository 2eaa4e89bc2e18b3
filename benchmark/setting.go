package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"culprit/recording"
)

const (
	measureFor = 500 * time.Millisecond
	// margin keeps clear of the attaching and detaching at the ends of a recording.
	margin = 80 * time.Millisecond
)

func (b *bench) alone() (float64, error) {
	start := time.Now()
	time.Sleep(measureFor)
	return b.worker.between(start, time.Now())
}

// floorHooks are the tracepoints that culprit's probes use.
var floorHooks = []string{"sys_enter", "sys_exit", "sched_switch", "sched_waking"}

// floor attaches programs that do nothing to the hooks that culprit uses.
func (b *bench) floor() (float64, error) {
	nothing := asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}
	for _, hook := range floorHooks {
		program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp,
			AttachTo: hook, Instructions: nothing, License: "GPL"})
		if err != nil {
			return 0, fmt.Errorf("load an empty program for %s: %w", hook, err)
		}
		defer program.Close()
		attached, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return 0, fmt.Errorf("attach to %s: %w", hook, err)
		}
		defer attached.Close()
	}
	events, err := openSwitchEvents(nothing)
	defer func() {
		for _, event := range events {
			event.Close()
		}
	}()
	if err != nil {
		return 0, err
	}
	return b.alone()
}

// openSwitchEvents counts context switches on every CPU with a program behind each: culprit's unwinder waits there.
func openSwitchEvents(nothing asm.Instructions) (events []*os.File, err error) {
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.PerfEvent, Instructions: nothing, License: "GPL"})
	if err != nil {
		return nil, fmt.Errorf("load an empty program for switches: %w", err)
	}
	defer program.Close()
	for cpu := range 1024 {
		attr := &unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CONTEXT_SWITCHES, Sample: 1}
		attr.Size = uint32(unsafe.Sizeof(*attr))
		fd, err := unix.PerfEventOpen(attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			break // no further CPU
		}
		events = append(events, os.NewFile(uintptr(fd), "switches"))
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, program.FD()); err != nil {
			return events, fmt.Errorf("attach to switches of CPU %d: %w", cpu, err)
		}
	}
	return events, nil
}

func (b *bench) bystander() (float64, error) {
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	return b.recorded(other.Process.Pid)
}

func (b *bench) withoutCalls() (float64, error) {
	return b.recorded(b.worker.command.Process.Pid, "--no-syscalls")
}

func (b *bench) everything() (float64, error) {
	start := time.Now()
	value, err := b.recorded(b.worker.command.Process.Pid)
	if err != nil {
		return 0, err
	}
	rec, err := recording.Open(b.recordingPath())
	if err != nil {
		return 0, err
	}
	b.recorderCPU += time.Duration(rec.Manifest.Cost.RecorderCPUNs)
	b.window += time.Duration(rec.Manifest.WindowNs)
	if rec.Manifest.StartedAt.Before(start) {
		return 0, fmt.Errorf("culprit did not write its recording")
	}
	return value, nil
}

// recorded measures the worker while culprit records a process.
func (b *bench) recorded(pid int, more ...string) (float64, error) {
	words := append([]string{"record", "-f", "-p", strconv.Itoa(pid), "-o", b.recordingPath(),
		"-d", (measureFor + 2*margin).String()}, more...)
	if text, err := exec.Command(b.culprit, words...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s record: %w: %s", b.culprit, err, text)
	}
	rec, err := recording.Open(b.recordingPath())
	if err != nil {
		return 0, err
	}
	start := rec.Manifest.StartedAt
	return b.worker.between(start.Add(margin), start.Add(time.Duration(rec.Manifest.WindowNs)-margin))
}
