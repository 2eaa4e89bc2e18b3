package bench

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// No thread of the process is held on a CPU once a benchmark is over: what culprit starts later,
// and what it says of its own affinity, would be of one CPU.
func TestThreadsAreLetGo(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	cpus, err := allowedCPUs(1)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		var held unix.CPUSet
		if err := <-onCPU(cpus[0], func() error { return unix.SchedGetaffinity(0, &held) }); err != nil {
			t.Fatal(err)
		}
		if held.Count() != 1 || !held.IsSet(cpus[0]) {
			t.Fatalf("the benchmark ran on %d CPUs", held.Count())
		}
		if thread, set := otherThan(t, all); thread != 0 {
			t.Fatalf("thread %d stays on %d CPUs of %d", thread, set.Count(), all.Count())
		}
	}
}

// otherThan finds a thread of this process that may use other CPUs.
func otherThan(t *testing.T, all unix.CPUSet) (int, unix.CPUSet) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		thread, err := strconv.Atoi(task.Name())
		if err != nil {
			t.Fatal(err)
		}
		var set unix.CPUSet
		if unix.SchedGetaffinity(thread, &set) == nil && set != all { // an error: it has ended
			return thread, set
		}
	}
	return 0, unix.CPUSet{}
}
