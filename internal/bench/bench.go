// Package bench measures what basic operations cost on this host, so that a count of them can be
// turned into seconds: a read of the time through the vDSO and by a real system call, a bare system
// call, the start of a process. The quick set takes about a tenth of a second.
//
// Costs are CPU time of the measuring thread (CLOCK_THREAD_CPUTIME_ID), so other processes disturb
// them little; each is the best of several repetitions, which leaves out interrupts, and its
// interval is the spread between rounds of that. It refuses to guess: an operation that cannot be
// measured here is an error that names it. The numbers hold for this process: a tracer or filter on
// another process makes that one's system calls dearer, not these.
//
//	results, err := bench.Measure(ctx) // the quick set
//	read, _ := results.Get(bench.ClockVDSO)
//	fmt.Printf("%.1f ns (%.1f to %.1f)\n", read.Ns, read.Low, read.High)
package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The operations that can be measured.
const (
	ClockVDSO    = "clock.vdso"    // the monotonic time as Go reads it: by the vDSO, where that serves it
	ClockSyscall = "clock.syscall" // the same by a clock_gettime system call
	SyscallBare  = "syscall.bare"  // getppid: the kernel's entry and exit and next to nothing between
	PageFault    = "fault.minor"   // the first touch of a page of new memory
	SwitchPipe   = "switch.pipe"   // a context switch between two threads on one CPU, with the pipe calls that bring it
	ProcessStart = "process.start" // fork, exec, exit and wait of /bin/true: CPU time of parent and child; slower
)

// Quick returns the names of the operations that take milliseconds; Measure measures them when
// given no name.
func Quick() []string {
	return []string{ClockVDSO, ClockSyscall, SyscallBare}
}

// Result is the cost of one operation.
type Result struct {
	Name string
	// Ns is the median over the rounds, Low and High the least and the greatest round, in
	// nanoseconds of CPU time.
	Ns, Low, High float64
}

// Results are the costs of several operations, in the order asked for.
type Results []Result

// Get returns one of the results, false when it was not measured.
func (r Results) Get(name string) (Result, bool) {
	for _, result := range r {
		if result.Name == name {
			return result, true
		}
	}
	return Result{}, false
}

// VDSOServes reports whether the vDSO answers time reads without entering the kernel. It does when
// a system call is the dearer way by more than half of a bare system call: with a clock source that
// the vDSO cannot read, it makes the system call itself, and is then as dear as one or a little
// dearer. Counting system calls on this kind of machine agrees with it; a ratio of the two costs
// would not do, because reading a slow clock source hides the call's part. It fails unless all of
// the quick set was measured.
func (r Results) VDSOServes() (bool, error) {
	var ns [3]float64
	for i, name := range Quick() {
		result, measured := r.Get(name)
		if !measured {
			return false, fmt.Errorf("judge vDSO: %s was not measured", name)
		}
		ns[i] = result.Ns
	}
	vdso, raw, bare := ns[0], ns[1], ns[2]
	return raw-vdso > bare/2, nil
}

// Measure measures the named operations, the quick set when there are no names. It holds on to one
// thread meanwhile. It stops with the context's error when that ends, and fails on a name that it
// does not know.
func Measure(ctx context.Context, names ...string) (Results, error) {
	if len(names) == 0 {
		names = Quick()
	}
	known := append(Quick(), PageFault, SwitchPipe, ProcessStart)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("measure %q: no such operation, there are %s", name, strings.Join(known, ", "))
		}
	}
	// The thread's CPU clock must be that of the thread that works.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	results := make(Results, 0, len(names))
	for _, name := range names {
		result, err := measureOne(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", name, err)
		}
		results = append(results, result)
	}
	return results, nil
}

// shortly is enough for some twenty rounds of 256 pages, or some thousand switches.
const shortly = 10 * time.Millisecond

// timeShortly runs a benchmark of the suite for a short while.
func timeShortly(ctx context.Context, run func(context.Context, Settings) (*measurement, error)) ([]float64, error) {
	measured, err := run(ctx, Settings{Time: shortly})
	if err != nil {
		return nil, err
	}
	return measured.rounds, nil
}

func measureOne(ctx context.Context, name string) (Result, error) {
	var rounds []float64
	var err error
	switch name {
	case ClockVDSO:
		rounds, err = timeLoop(ctx, readVDSO)
	case ClockSyscall:
		rounds, err = timeLoop(ctx, readSyscall)
	case SyscallBare:
		rounds, err = timeLoop(ctx, callBare)
	case PageFault:
		rounds, err = timeShortly(ctx, faultMinor)
	case SwitchPipe:
		rounds, err = timeShortly(ctx, switchPipe)
	case ProcessStart:
		rounds, err = timeProcesses(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	slices.Sort(rounds)
	return Result{Name: name, Ns: rounds[len(rounds)/2], Low: rounds[0], High: rounds[len(rounds)-1]}, nil
}
