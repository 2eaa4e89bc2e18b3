package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// clockSourceFile names the kernel's clock source.
const clockSourceFile = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

// loopCost is the best cost of each of as many rounds as the time allows, on one thread.
func loopCost(ctx context.Context, s Settings, run operation) (*measurement, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rounds := int(s.Time.Nanoseconds() / (repetitionCount * repetitionNs * 5 / 4))
	costs, err := timeRounds(ctx, run, min(max(rounds, fewestRounds), mostRounds))
	if err != nil {
		return nil, err
	}
	return &measurement{rounds: costs}, nil
}

func timeVDSO(ctx context.Context, s Settings) (*measurement, error) {
	m, err := loopCost(ctx, s, readVDSO)
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(clockSourceFile)
	if err != nil {
		source = []byte("unknown")
	}
	m.source = strings.TrimSpace(string(source))
	m.path = append(m.path, "clock source "+m.source, vdsoProof(), codeProof())
	return m, nil
}

func timeSyscall(ctx context.Context, s Settings) (*measurement, error) {
	m, err := loopCost(ctx, s, readSyscall)
	if err != nil {
		return nil, err
	}
	m.path = append(m.path, syscallProof())
	return m, nil
}

// timeThreadCPU reads a clock that the vDSO never serves.
func timeThreadCPU(ctx context.Context, s Settings) (*measurement, error) {
	return loopCost(ctx, s, func(count int) (uint64, error) {
		var now unix.Timespec
		var failed unix.Errno
		for range count {
			_, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID,
				uintptr(unsafe.Pointer(&now)), 0)
			failed |= errno
		}
		if failed != 0 {
			return 0, fmt.Errorf("call clock_gettime: %w", failed)
		}
		return uint64(now.Nano()), nil
	})
}

func syscallBare(ctx context.Context, s Settings) (*measurement, error) {
	return loopCost(ctx, s, callBare)
}

// forkExec measures whole starts: about a millisecond each.
func forkExec(ctx context.Context, s Settings) (*measurement, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := &measurement{}
	path, err := truePath()
	if err != nil {
		return nil, err
	}
	// One more before the first: it reads the program into the page cache.
	if _, err := timeProcess(path); err != nil {
		return nil, err
	}
	for end := time.Now().Add(s.Time); len(m.rounds) < fewestRounds || time.Now().Before(end); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		spent, err := timeProcess(path)
		if err != nil {
			return nil, err
		}
		m.rounds = append(m.rounds, spent)
	}
	m.path = append(m.path, "CPU time of parent and child, by the kernel's account of each")
	return m, nil
}

// faultPages is how many pages a repetition touches.
const faultPages = 256

// faultMinor touches new pages, each once. Mapping and unmapping stay outside of the time.
func faultMinor(ctx context.Context, s Settings) (*measurement, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := &measurement{}
	page := os.Getpagesize()
	faults, touched := int64(0), 0
	for end := time.Now().Add(s.Time); len(m.rounds) < fewestRounds || time.Now().Before(end); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		memory, err := unix.Mmap(-1, 0, faultPages*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return nil, fmt.Errorf("map memory: %w", err)
		}
		_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) // kernels without huge pages know no such advice
		cost, count, err := touch(memory, page)
		if unmapped := unix.Munmap(memory); err == nil {
			err = unmapped
		}
		if err != nil {
			return nil, err
		}
		m.rounds = append(m.rounds, cost)
		faults, touched = faults+count, touched+faultPages
	}
	m.path = append(m.path, fmt.Sprintf("the kernel counted %.2f minor faults for each page touched",
		float64(faults)/float64(touched)))
	return m, nil
}

// touch writes one byte to every page and returns the CPU time for each, and the faults that the
// kernel counted.
func touch(memory []byte, page int) (cost float64, faults int64, err error) {
	var before, after unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &before); err != nil {
		return 0, 0, fmt.Errorf("read faults: %w", err)
	}
	start, err := threadCPUNs()
	if err != nil {
		return 0, 0, err
	}
	for at := 0; at < len(memory); at += page {
		memory[at] = 1
	}
	end, err := threadCPUNs()
	if err != nil {
		return 0, 0, err
	}
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &after); err != nil {
		return 0, 0, fmt.Errorf("read faults: %w", err)
	}
	return float64(end-start) / faultPages, after.Minflt - before.Minflt, nil
}
