package host

import (
	"math"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A process's CPU time is that of all its threads: those of a run time's workers count, not the
// first one's alone.
func TestProcessCPUTimeOfAllThreads(t *testing.T) {
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
	used, err := ProcessCPUTime(os.Getpid())
	after := read(unix.CLOCK_PROCESS_CPUTIME_ID)
	if err != nil || used.Nanoseconds() < before || used.Nanoseconds() > after {
		t.Errorf("%v, %v, want between %d and %d ns", used, err, before, after)
	}
	if gone, err := ProcessCPUTime(1 << 28); err == nil { // beyond the kernel's largest pid, 1 << 22
		t.Errorf("a process that is none has used %v", gone)
	}
}
