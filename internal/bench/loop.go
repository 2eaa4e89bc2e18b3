package bench

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A loop costs its rounds × repetitions × repetitionNs = 25 × 0.8 ms = 20 ms. A repetition is long
// against the read of the thread's CPU clock (0.2 µs), and short against the time between timer
// interrupts (1 to 10 ms), so that most repetitions see none.
const (
	roundCount      = 5
	repetitionCount = 5
	repetitionNs    = 800_000
	unrolled        = 8
	mostOperations  = 1 << 24
	mostRounds      = 101
)

// An operation runs that many times, a multiple of unrolled, and returns something computed from
// every result, so that no call can be left out. It fails when the kernel refuses the call.
type operation func(count int) (uint64, error)

// timeLoop returns the best cost of each round of the quick set.
func timeLoop(ctx context.Context, run operation) ([]float64, error) {
	return timeRounds(ctx, run, roundCount)
}

// timeRounds returns the best cost of each of so many rounds, in nanoseconds of thread CPU time for
// one operation.
func timeRounds(ctx context.Context, run operation, roundCount int) ([]float64, error) {
	count, err := countFor(ctx, run)
	if err != nil {
		return nil, err
	}
	rounds := make([]float64, roundCount)
	for round := range rounds {
		for repetition := range repetitionCount {
			spent, err := timeOnce(ctx, run, count)
			if err != nil {
				return nil, err
			}
			if cost := float64(spent) / float64(count); repetition == 0 || cost < rounds[round] {
				rounds[round] = cost
			}
		}
	}
	return rounds, nil
}

// countFor returns how many operations make a repetition. It doubles the number until they take a
// good part of one, and so also warms up.
func countFor(ctx context.Context, run operation) (int, error) {
	for count := 8 * unrolled; ; count *= 2 {
		spent, err := timeOnce(ctx, run, count)
		if err != nil {
			return 0, err
		}
		if spent < repetitionNs/8 && count < mostOperations {
			continue
		}
		if spent <= 0 {
			return 0, fmt.Errorf("%d operations took no CPU time: the thread's CPU clock stands still", count)
		}
		wanted := float64(count) * repetitionNs / float64(spent)
		return max(unrolled, int(min(wanted, mostOperations))/unrolled*unrolled), nil
	}
}

// timeOnce returns the CPU time, in nanoseconds, that so many operations took.
func timeOnce(ctx context.Context, run operation, count int) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	before, err := threadCPUNs()
	if err != nil {
		return 0, err
	}
	// Called through a value, so the compiler cannot see that the result is not used.
	if _, err := run(count); err != nil {
		return 0, err
	}
	after, err := threadCPUNs()
	if err != nil {
		return 0, err
	}
	return after - before, nil
}

// threadCPUNs reads the CPU time of this thread.
func threadCPUNs() (int64, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		return 0, fmt.Errorf("read thread CPU clock: %w", err)
	}
	return now.Nano(), nil
}

// readVDSO reads the monotonic time the way Go programs do. time.Since of a time with a monotonic
// reading is one call of the runtime's nanotime, which calls clock_gettime(CLOCK_MONOTONIC) in the
// vDSO; time.Now would be two. Of the cost about 6 ns are Go's own change of stack, which C does
// not pay.
func readVDSO(count int) (uint64, error) {
	start := time.Now()
	var sum time.Duration
	for range count / unrolled {
		sum += time.Since(start)
		sum += time.Since(start)
		sum += time.Since(start)
		sum += time.Since(start)
		sum += time.Since(start)
		sum += time.Since(start)
		sum += time.Since(start)
		sum += time.Since(start)
	}
	return uint64(sum), nil
}

// readSyscall reads the same clock by a system call. RawSyscall leaves out what Go's scheduler adds
// to a call.
func readSyscall(count int) (uint64, error) {
	var now unix.Timespec
	var failed unix.Errno
	read := func() {
		_, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&now)), 0)
		failed |= errno
	}
	for range count / unrolled {
		read()
		read()
		read()
		read()
		read()
		read()
		read()
		read()
	}
	if failed != 0 {
		return 0, fmt.Errorf("call clock_gettime: %w", failed)
	}
	return uint64(now.Nano()), nil
}

// callBare makes the system call that does the least.
func callBare(count int) (uint64, error) {
	var sum uintptr
	call := func() {
		parent, _, _ := unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
		sum += parent
	}
	for range count / unrolled {
		call()
		call()
		call()
		call()
		call()
		call()
		call()
		call()
	}
	return uint64(sum), nil
}
