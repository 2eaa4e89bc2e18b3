package recording

import (
	"errors"
	"fmt"
	"slices"
)

// The limits of a recording. Write refuses what Read would refuse, so whatever
// was written can be read back; a Builder keeps within them and counts what it
// had to drop. They are above what a recorder makes of 64 CPUs in ten minutes, and low
// enough that a hostile file cannot take more than about 2 GiB of memory.
const (
	MaxFrames       = 2 << 20
	MaxStacks       = 2 << 20
	MaxStackFrames  = 1024 // frames of one stack
	MaxSamples      = 4 << 20
	MaxSyscalls     = 512 << 10
	MaxWaits        = 2 << 20
	MaxProcesses    = 1 << 20
	MaxThreads      = 1 << 20
	MaxSlow         = 512 << 10
	MaxMetrics      = 2 << 20
	MaxEvidence     = 256 << 10 // rows of each of the other tables of Evidence
	MaxDependencies = 16 << 10
	MaxBuckets      = 64 // latency buckets of one system call
	MaxLabels       = 64
	MaxLabelBytes   = 256      // of one key or value
	MaxStringBytes  = 16 << 10 // of one name, path or command
	maxListElements = 32 << 20 // of one list column: all stacks together
	maxDocument     = 16 << 20 // bytes of manifest.json or facts.json
	maxTable        = 1 << 30  // bytes of one table, compressed and uncompressed
	maxMembers      = 64       // files in the zip
	maxDirectory    = 1 << 20  // bytes read of the zip to find them
)

// MaxSeconds bounds a time that is read from a file: ten years. Chosen: longer than any window, and
// sums of thirty such times do not overflow 64 bits of nanoseconds.
const MaxSeconds = 10 * 365 * 86400

// Plausible refuses times in nanoseconds, and counts, of a damaged file before sums overflow.
func Plausible(values ...int64) bool {
	return !slices.ContainsFunc(values, func(ns int64) bool { return ns < 0 || ns > MaxSeconds*1e9 })
}

// ErrDamaged marks a recording that was refused because it is truncated,
// damaged, larger than its limits or not a recording at all.
var ErrDamaged = errors.New("not a whole recording")

// ErrLaterSchema marks a recording written by a later culprit.
var ErrLaterSchema = errors.New("written by a later culprit")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// check says whether every id refers to something and every table is within its limit.
func (r *Recording) check() error {
	for _, table := range []struct {
		name        string
		rows, limit int
	}{
		{"frames", len(r.Frames), MaxFrames},
		{"stacks", len(r.Stacks), MaxStacks},
		{"samples", len(r.Samples), MaxSamples},
		{"syscalls", len(r.Syscalls), MaxSyscalls},
		{"waits", len(r.Waits), MaxWaits},
		{"processes", len(r.Processes), MaxProcesses},
		{"threads", len(r.Threads), MaxThreads},
		{dependenciesTable, len(r.Dependencies), MaxDependencies},
		{"slow", len(r.Slow), MaxSlow},
		{"locks", len(r.Locks), MaxEvidence},
		{"wakeups", len(r.Wakeups), MaxEvidence},
		{"block", len(r.Block), MaxEvidence},
		{"network", len(r.Network), MaxEvidence},
		{"metrics", len(r.Metrics), MaxMetrics},
		{"lines", len(r.Lines), MaxEvidence},
		{"counters", len(r.Counters), MaxEvidence},
		{"errors", len(r.Errors), MaxEvidence},
	} {
		if table.rows > table.limit {
			return fmt.Errorf("table %s has %d rows, more than the limit of %d", table.name, table.rows, table.limit)
		}
	}
	if err := r.Manifest.checkLabels(); err != nil {
		return err
	}
	if err := r.checkStacks(); err != nil {
		return err
	}
	if err := r.checkReferences(); err != nil {
		return err
	}
	if err := r.RequestTables.check(r.knows); err != nil {
		return err
	}
	return r.checkEvidence()
}

func (m *Manifest) checkLabels() error {
	if len(m.Labels) > MaxLabels {
		return fmt.Errorf("%d labels, more than the limit of %d", len(m.Labels), MaxLabels)
	}
	for key, value := range m.Labels {
		if max(len(key), len(value)) > MaxLabelBytes {
			return fmt.Errorf("a label of %d bytes, more than the limit of %d", max(len(key), len(value)), MaxLabelBytes)
		}
	}
	return nil
}

func (r *Recording) checkStacks() error {
	elements := 0
	for id, stack := range r.Stacks {
		if len(stack.Frames) > MaxStackFrames {
			return fmt.Errorf("stack %d has %d frames, more than the limit of %d",
				id, len(stack.Frames), MaxStackFrames)
		}
		elements += len(stack.Frames)
		for _, frame := range stack.Frames {
			if frame < 0 || int(frame) >= len(r.Frames) {
				return fmt.Errorf("stack %d refers to frame %d of %d", id, frame, len(r.Frames))
			}
		}
	}
	if elements > maxListElements {
		return fmt.Errorf("stacks have %d frames together, more than the limit of %d", elements, maxListElements)
	}
	return nil
}

func (r *Recording) checkReferences() error {
	for i, sample := range r.Samples {
		if !r.knows(sample.Stack) {
			return fmt.Errorf("sample %d refers to stack %d of %d", i, sample.Stack, len(r.Stacks))
		}
	}
	for i, wait := range r.Waits {
		if !r.knows(wait.Stack) || !r.knows(wait.WakerStack) {
			return fmt.Errorf("wait %d refers to stacks %d and %d of %d",
				i, wait.Stack, wait.WakerStack, len(r.Stacks))
		}
		// 0 without a hop: the column is not there.
		if wait.HopStack != 0 && !r.knows(wait.HopStack) {
			return fmt.Errorf("wait %d refers to stack %d of %d", i, wait.HopStack, len(r.Stacks))
		}
		if wait.HopNs < 0 || wait.HopNs > 0 && !r.knows(wait.HopStack) {
			return fmt.Errorf("wait %d has a hop of %d ns at stack %d of %d", i, wait.HopNs, wait.HopStack, len(r.Stacks))
		}
	}
	for i, call := range r.Syscalls {
		if len(call.Buckets) > MaxBuckets {
			return fmt.Errorf("syscall row %d has %d buckets, more than the limit of %d",
				i, len(call.Buckets), MaxBuckets)
		}
	}
	return nil
}

// knows tells whether a stack id refers to a stack or to none.
func (r *Recording) knows(stack int32) bool {
	return stack == NoStack || stack >= 0 && int(stack) < len(r.Stacks)
}

func (r *Recording) checkEvidence() error {
	for i, slow := range r.Slow {
		if !r.knows(slow.Stack) || !r.knows(slow.WakerStack) || !r.knows(slow.HopStack) {
			return fmt.Errorf("slow operation %d refers to stacks %d, %d and %d of %d",
				i, slow.Stack, slow.WakerStack, slow.HopStack, len(r.Stacks))
		}
	}
	for i, lock := range r.Locks {
		if !r.knows(lock.WaiterStack) || !r.knows(lock.HolderStack) {
			return fmt.Errorf("lock %d refers to stacks %d and %d of %d",
				i, lock.WaiterStack, lock.HolderStack, len(r.Stacks))
		}
	}
	for i, wakeup := range r.Wakeups {
		if !r.knows(wakeup.Stack) {
			return fmt.Errorf("wake-up %d refers to stack %d of %d", i, wakeup.Stack, len(r.Stacks))
		}
	}
	for i, line := range r.Lines {
		if !r.knows(line.Stack) {
			return fmt.Errorf("line %d refers to stack %d of %d", i, line.Stack, len(r.Stacks))
		}
		if line.BlockSize != 0 && !r.knows(line.BlockStack) {
			return fmt.Errorf("line %d refers to stack %d of %d for its block", i, line.BlockStack, len(r.Stacks))
		}
	}
	for i, block := range r.Block {
		if len(block.Buckets) > MaxBuckets {
			return fmt.Errorf("block row %d has %d buckets, more than the limit of %d",
				i, len(block.Buckets), MaxBuckets)
		}
	}
	return nil
}
