package monitors

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"culprit/internal/probe/counters/event"
)

// What this process holds is found as it was opened: for a CPU, for a process, with samples, and by
// tracepoint.
func TestFind(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("loading BPF programs needs root")
	}
	open := func(kind uint32, config, sample, bits uint64, pid, cpu int) {
		attributes := unix.PerfEventAttr{Type: kind, Config: config, Sample: sample, Bits: bits}
		attributes.Size = uint32(unsafe.Sizeof(attributes))
		descriptor, err := unix.PerfEventOpen(&attributes, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(descriptor) })
	}
	open(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES, 0, 0, -1, 0)
	open(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS, 0, unix.PerfBitExcludeKernel, os.Getpid(), -1)
	open(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK, 99, unix.PerfBitFreq, -1, 0)
	list, err := event.Parse("sched:sched_switch", event.Host)
	if err != nil {
		t.Fatal(err)
	}
	open(list[0].Type, list[0].Config, 1, 0, -1, 0)
	found, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{{Name: "context-switches", CPU: 0}, {Name: "page-faults", CPU: -1, Target: os.Getpid()},
		{Name: "cpu-clock", CPU: 0, Hertz: 99}, {Name: "sched:sched_switch", CPU: 0, Period: 1}}
	for _, each := range want {
		if !slices.ContainsFunc(found, func(e Event) bool {
			return e.Holder == os.Getpid() && e.Name == each.Name && e.CPU == each.CPU && e.Target == each.Target &&
				e.Hertz == each.Hertz && e.Period == each.Period && e.Enabled >= e.Running
		}) {
			t.Errorf("no %+v in %+v", each, found)
		}
	}
	without, err := Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if len(without) != len(found)-len(want) {
		t.Errorf("%d events of others, %d of all", len(without), len(found))
	}
	own := slices.IndexFunc(found, func(e Event) bool { return e.Target == os.Getpid() })
	again, err := found[own].Again(0, os.Getpid(), -1)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(again)
}

// An event of a thread stays one of its process when the thread has ended: what it counts goes on
// in the threads that came of it.
func TestFindOfAThreadThatEnded(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("loading BPF programs needs root")
	}
	opened, ended := make(chan int), make(chan struct{})
	failed := make(chan error, 1)
	thread := 0
	go func() {
		runtime.LockOSThread() // without its counterpart: the thread ends with the goroutine
		thread = unix.Gettid()
		attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CONTEXT_SWITCHES,
			Bits: unix.PerfBitInherit}
		attributes.Size = uint32(unsafe.Sizeof(attributes))
		descriptor, err := unix.PerfEventOpen(&attributes, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		failed <- err
		opened <- descriptor
		<-ended
	}()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	descriptor := <-opened
	defer unix.Close(descriptor)
	close(ended)
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join("/proc/self/task", strconv.Itoa(thread))); err != nil {
			break
		}
		if time.Now().After(until) {
			if thread == os.Getpid() {
				t.Skip("the run time keeps the first thread of a process, and the goroutine was on it")
			}
			t.Fatalf("thread %d has not ended", thread)
		}
	}
	found, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(found, func(e Event) bool {
		return e.Holder == os.Getpid() && e.Name == "context-switches" && e.Target == os.Getpid() && e.Thread == thread
	}) {
		t.Errorf("no event of process %d, thread %d in %+v", os.Getpid(), thread, found)
	}
}
