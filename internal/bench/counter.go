package bench

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

func counterHardware(ctx context.Context, s Settings) (*measurement, error) {
	m, err := readCounter(ctx, s, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV) {
		return nil, errors.New("no hardware counters on this host: a guest has them only where the hypervisor gives them")
	}
	return m, err
}

func counterSoftware(ctx context.Context, s Settings) (*measurement, error) {
	return readCounter(ctx, s, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK)
}

// readCounter opens a counter of this thread and reads it again and again.
func readCounter(ctx context.Context, s Settings, kind uint32, event uint64) (*measurement, error) {
	attributes := unix.PerfEventAttr{Type: kind, Config: event, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	descriptor, err := unix.PerfEventOpen(&attributes, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open a counter: %w", err)
	}
	defer unix.Close(descriptor)
	m, err := loopCost(ctx, s, func(count int) (uint64, error) {
		var value uint64
		var failed unix.Errno
		for range count {
			_, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(descriptor), uintptr(unsafe.Pointer(&value)),
				unsafe.Sizeof(value))
			failed |= errno
		}
		if failed != 0 {
			return 0, fmt.Errorf("read a counter: %w", failed)
		}
		return value, nil
	})
	if err != nil {
		return nil, err
	}
	m.path = append(m.path, "1 system call each")
	return m, nil
}
