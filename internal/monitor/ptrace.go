package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/stat"
)

// ptracedCalls are made in a round under ptrace: two stops each.
const ptracedCalls = 300

// Ptrace measures what each system call takes longer in a process whose calls another one stops by
// ptrace, as strace does: in ns of wall time, for the tracer's own turn is part of it. The tracer
// here does nothing at a stop, so that it is the least that any such tracer adds.
func Ptrace(ctx context.Context) (stat.Interval, error) {
	ctx, cancel := context.WithTimeout(ctx, pricedWithin)
	defer cancel()
	p, err := newPair(ctx)
	if err != nil {
		return stat.Interval{}, fmt.Errorf("measure what ptrace costs: %w", err)
	}
	defer p.close()
	var more []float64
	for range rounds {
		without, err := p.one[0].calls(false)
		if err != nil {
			return stat.Interval{}, fmt.Errorf("measure what ptrace costs: %w", err)
		}
		with, err := p.one[0].calls(true)
		if err != nil {
			return stat.Interval{}, fmt.Errorf("measure what ptrace costs: %w", err)
		}
		more = append(more, with-without)
	}
	return stat.HodgesLehmann(more, confidence)
}

// calls gives the wall time in ns of each system call.
func (o *process) calls(traced bool) (float64, error) {
	if traced {
		if err := unix.PtraceSeize(o.thread); err != nil {
			return 0, fmt.Errorf("trace a process of culprit's own: %w", err)
		}
		if err := unix.PtraceInterrupt(o.thread); err != nil { // it waits for its order
			return 0, fmt.Errorf("stop a process of culprit's own: %w", err)
		}
	}
	start := time.Now()
	if err := o.order(fmt.Sprintf("call %d", ptracedCalls)); err != nil {
		return 0, err
	}
	if traced {
		if err := o.stopped(); err != nil {
			return 0, err
		}
	}
	if _, err := o.answer(); err != nil {
		return 0, err
	}
	return float64(time.Since(start).Nanoseconds()) / ptracedCalls, nil
}

// stopped lets the process go from stop to stop, at the begin and at the end of its system calls,
// for as many as it was ordered to make, and then lets it go for good. This goroutine is bound to
// its thread: only that may do so.
func (o *process) stopped() error {
	for stops := 0; ; {
		var status unix.WaitStatus
		_, err := unix.Wait4(o.thread, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("wait for a process of culprit's own: %w", err)
		case !status.Stopped():
			return errors.New("a process of culprit's own ended")
		}
		if status.StopSignal() == unix.SIGTRAP {
			stops++
		}
		if stops > 2*ptracedCalls { // those around the order are among them
			return unix.PtraceDetach(o.thread)
		}
		if err := unix.PtraceSyscall(o.thread, 0); err != nil {
			return fmt.Errorf("let a process of culprit's own go on: %w", err)
		}
	}
}
