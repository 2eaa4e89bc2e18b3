package record

import (
	"math"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A process's CPU time is that of all its threads: those of a run time's workers count, not the first one's alone.
func TestCPUOfAllThreads(t *testing.T) {
	read := func(clock int32) int64 {
		var at unix.Timespec
		if err := unix.ClockGettime(clock, &at); err != nil {
			t.Fatal(err)
		}
		return at.Nano()
	}
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			value := 0.0
			for n := range 2_000_000 {
				value += math.Sqrt(float64(n))
			}
			if value == 0 {
				t.Error("a worker has done nothing")
			}
		})
	}
	workers.Wait()
	before := read(unix.CLOCK_PROCESS_CPUTIME_ID)
	used := cpuOf(os.Getpid())
	after := read(unix.CLOCK_PROCESS_CPUTIME_ID)
	if used < before || used > after {
		t.Errorf("%d ns, want between %d and %d", used, before, after)
	}
	if gone := cpuOf(1 << 28); gone != -1 { // beyond the kernel's largest pid, 1 << 22
		t.Errorf("a process that is none has used %d ns", gone)
	}
}
