package bench

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func processCPU(t *testing.T) time.Duration {
	t.Helper()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func TestQuickSet(t *testing.T) {
	start := processCPU(t)
	results, err := Measure(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// Twenty times the promise: a host may be slow, and a measurement that does not end is what
	// this finds.
	if spent := processCPU(t) - start; spent > 3*time.Second {
		t.Errorf("the quick set took %v of CPU time", spent)
	}
	if len(results) != len(Quick()) {
		t.Fatalf("results %+v", results)
	}
	for i, name := range Quick() {
		r := results[i]
		t.Logf("%+v", r)
		if r.Name != name || !(r.Low > 0 && r.Low <= r.Ns && r.Ns <= r.High) || r.Ns > 50_000 {
			t.Errorf("%+v is no cost of %s", r, name)
		}
	}
	raw, _ := results.Get(ClockSyscall)
	bare, _ := results.Get(SyscallBare)
	if raw.High <= bare.Low {
		t.Errorf("reading the time by a system call (%+v) costs less than a bare one (%+v)", raw, bare)
	}
}

// clockSource is the kernel's clock source, "" where it does not say.
func clockSource() string {
	name, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

func TestVDSOServesTheFastClockSources(t *testing.T) {
	results, err := Measure(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	serves, err := results.VDSOServes()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"tsc": true, "kvm-clock": true, "arch_sys_counter": true, "hpet": false, "acpi_pm": false}
	if expected, known := want[clockSource()]; known && serves != expected {
		t.Errorf("clock source %s: vDSO serves: %v, by %+v", clockSource(), serves, results)
	}
}

func TestVDSOServesJudgesByTheDifference(t *testing.T) {
	cases := []struct {
		name            string
		vdso, raw, bare float64
		want            bool
	}{
		{"tsc", 21, 138, 95, true},
		{"slow clock source that the vDSO reads", 600, 715, 95, true},
		{"falls back to the call", 142, 138, 95, false},
		{"slow clock source and fallback", 1510, 1500, 95, false},
		{"this process is traced", 21, 2700, 2650, true},
	}
	for _, c := range cases {
		results := Results{
			{Name: SyscallBare, Ns: c.bare}, {Name: ClockVDSO, Ns: c.vdso}, {Name: ClockSyscall, Ns: c.raw},
		}
		if got, err := results.VDSOServes(); err != nil || got != c.want {
			t.Errorf("%s: %v (%v)", c.name, got, err)
		}
	}
	if _, err := (Results{{Name: ClockVDSO, Ns: 20}}).VDSOServes(); err == nil {
		t.Error("judged without the system calls")
	}
}

// The path of each read is proven on a thread that may not make the system call: a read through the
// vDSO goes on, and the read by system call fails.
func TestPathsByForbiddingTheSystemCall(t *testing.T) {
	results, err := Measure(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	serves, err := results.VDSOServes()
	if err != nil {
		t.Fatal(err)
	}
	var filterErr, rawErr error
	var readings [4]time.Duration
	var wait sync.WaitGroup
	wait.Go(func() {
		// Never unlocked: the thread with the filter ends with this goroutine.
		runtime.LockOSThread()
		start := time.Now()
		if filterErr = forbidClockGettime(); filterErr != nil {
			return
		}
		for i := range readings {
			for range 1000 {
				readings[i] = time.Since(start)
			}
		}
		_, rawErr = readSyscall(unrolled)
	})
	wait.Wait()
	if filterErr != nil {
		t.Fatal(filterErr)
	}
	if !errors.Is(rawErr, unix.EPERM) {
		t.Errorf("the read by system call made none: %v", rawErr)
	}
	moves := readings[0] > 0 && readings[3] < time.Minute
	for i := 1; i < len(readings); i++ {
		moves = moves && readings[i] > readings[i-1]
	}
	if moves != serves {
		t.Errorf("without the system call the time reads %v, but the costs %+v say that the vDSO serves: %v",
			readings, results, serves)
	}
}

func TestProcessStart(t *testing.T) {
	results, err := Measure(context.Background(), ProcessStart)
	if err != nil {
		t.Fatal(err)
	}
	start, measured := results.Get(ProcessStart)
	t.Logf("%+v", start)
	// No kernel starts a process in 20 µs, and a tenth of a second would be a different operation.
	if !measured || start.Low < 20_000 || start.High > 100_000_000 || start.Low > start.Ns || start.Ns > start.High {
		t.Errorf("%+v", start)
	}
}

func TestMeasureRefuses(t *testing.T) {
	if _, err := Measure(context.Background(), "clock.sundial"); err == nil ||
		!strings.Contains(err.Error(), `"clock.sundial"`) || !strings.Contains(err.Error(), ClockVDSO) {
		t.Errorf("unknown operation: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range append(Quick(), PageFault, ProcessStart) {
		if results, err := Measure(ended, name); !errors.Is(err, context.Canceled) || results != nil {
			t.Errorf("%s under an ended context: %+v, %v", name, results, err)
		}
	}
}
