package monitor

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"culprit/internal/probe/monitors"
	"culprit/internal/stat"
)

// serveAs makes the test's program one of the pair.
const serveAs = "CULPRIT_TEST_MONITORED"

func TestMain(m *testing.M) {
	if os.Getenv(serveAs) != "" {
		cpu, err := strconv.Atoi(os.Args[1])
		if err == nil {
			err = Serve(cpu, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Setenv(serveAs, "1")
	program = []string{"/proc/self/exe"}
	os.Exit(m.Run())
}

// What a monitor is for: a process or its cgroup, not the process beside it, and not all that a CPU
// does.
func TestOf(t *testing.T) {
	of := func(event monitors.Event) bool {
		return grouped([]monitors.Event{event})[0].Of([]int{5, 6}, []uint64{77})
	}
	for _, c := range []struct {
		event monitors.Event
		want  bool
	}{{monitors.Event{Target: 6}, true}, {monitors.Event{Target: 7}, false}, {monitors.Event{Cgroup: 77}, true},
		{monitors.Event{Cgroup: 78}, false}, {monitors.Event{CPU: 1}, false}} {
		if got := of(c.event); got != c.want {
			t.Errorf("%+v: %v", c.event, got)
		}
	}
}

func TestGrouped(t *testing.T) {
	var events []monitors.Event
	for cpu := range 2 {
		for _, cgroup := range []uint64{77, 78, 79} {
			for _, name := range []string{"cycles", "instructions"} {
				events = append(events, monitors.Event{Holder: 1, Name: name, CPU: cpu, Cgroup: cgroup,
					Enabled: 100, Running: 48})
			}
		}
		events = append(events, monitors.Event{Holder: 1, Name: "cpu-clock", CPU: cpu, Hertz: 99},
			monitors.Event{Holder: 1, Name: "dummy", CPU: cpu, Hertz: 99}, // rings of memory: no monitors
			monitors.Event{Holder: 3, Name: "bpf-output", CPU: cpu, Period: 1},
			monitors.Event{Holder: 1, Name: "sched:sched_switch", CPU: cpu, Program: 9})
	}
	events = append(events, monitors.Event{Holder: 2, Name: "page-faults", CPU: -1, Target: 5, Thread: 5},
		monitors.Event{Holder: 2, Name: "page-faults", CPU: -1, Target: 5, Thread: 6},
		monitors.Event{Holder: 4, Name: "dummy", CPU: 0, Cgroup: 7}) // which is programmed at switches
	var texts []string
	for _, each := range grouped(events) {
		each.Name = "daemon"
		if want := uint64(each.Each) * each.Hertz; each.SamplesHz() != want {
			t.Errorf("%q takes %d samples a second, want %d", each.Text(), each.SamplesHz(), want)
		}
		texts = append(texts, each.String())
		texts = append(texts, each.Lines()...)
	}
	want := []string{
		"daemon (pid 1) counts 2 events of 3 cgroups: cycles, instructions",
		"its events share counters, one of them counted 48 % of the time only: the numbers are estimates " +
			"(monitor.multiplexed)",
		"daemon (pid 1) runs BPF programs at 1 event on whole CPUs: sched:sched_switch",
		"daemon (pid 1) samples 1 event on whole CPUs, 99 times a second: cpu-clock",
		"daemon (pid 2) counts 1 event of 1 process: page-faults",
		"daemon (pid 4) counts 1 event of 1 cgroup: dummy"}
	if strings.Join(texts, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant:\n%s", strings.Join(texts, "\n"), strings.Join(want, "\n"))
	}
}

func TestLinesTellOnlyWhatIsSure(t *testing.T) {
	m := Monitor{Scope: ScopeCgroup, Counted: 1, Costs: &Costs{Switch: stat.Interval{Value: 2100, Low: 1900, High: 2300},
		Call: stat.Interval{Value: 3, Low: -2, High: 7}}}
	want := "adds 2100 ns (1900 to 2300) to a switch from one such cgroup to another, nothing that could be measured " +
		"to a system call or a page fault (measured with the same events on two processes of culprit's)"
	if got := strings.Join(m.Lines(), "\n"); got != want {
		t.Errorf("%s", got)
	}
}

// Twenty events of a process make its switches dearer, and the same measurement says so.
func TestPrice(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("counting others needs root, and measuring takes a second")
	}
	for range 20 {
		attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CONTEXT_SWITCHES}
		attributes.Size = uint32(unsafe.Sizeof(attributes))
		descriptor, err := unix.PerfEventOpen(&attributes, os.Getpid(), -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(descriptor)
	}
	all, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	var mine []Monitor
	for _, each := range all {
		if each.Pid == os.Getpid() {
			mine = append(mine, each)
		}
	}
	if len(mine) != 1 || mine[0].Each != 20 || mine[0].Scope != ScopeProcess {
		t.Fatalf("this process is seen as %+v", mine)
	}
	begin := time.Now()
	if err := Price(context.Background(), mine); err != nil {
		t.Fatal(err)
	}
	if mine[0].Costs == nil || mine[0].Costs.Switch.Low <= 0 {
		t.Fatalf("costs %+v, %s", mine[0].Costs, mine[0].Why)
	}
	t.Logf("%v; it took %v", mine[0].Lines(), time.Since(begin))
}

// A host that leaves the two processes no time to be measured has no price, and is told so: that is
// no error.
func TestPriceOutOfTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p, err := newPair(ctx)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	defer p.close()
	cancel() // which kills them
	for _, one := range p.one {
		_ = one.command.Wait() // until they are gone
	}
	m := Monitor{Does: Counts, Scope: ScopeCPU}
	if err := p.price(ctx, &m); err != nil || m.Costs != nil || !strings.Contains(m.Why, "too little of a CPU") {
		t.Errorf("%+v, %v", m, err)
	}
}

// A process whose calls are stopped takes longer for each, and is let go again.
func TestPtrace(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("it makes cgroups, as root, and takes a moment")
	}
	cost, err := Ptrace(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if cost.Low <= 0 {
		t.Errorf("a stopped call takes %+v ns more", cost)
	}
	t.Logf("each stopped call takes %+v ns more", cost)
}
