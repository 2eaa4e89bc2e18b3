package count

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"culprit/internal/probe/counters/event"
)

// pmuLoad makes the test's program a child that works when it is told to, and says when it is done.
const pmuLoad = "CULPRIT_TEST_PMU_LOAD"

const (
	pmuRuns     = 40 // of each load
	pmuInterval = 500 * time.Millisecond
	pmuWork     = 300 * time.Millisecond // well within an interval, whose edges then cut off nothing
	pmuCovers   = 0.94
)

func TestMain(m *testing.M) {
	if os.Getenv(pmuLoad) != "" {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			var seed uint64
			_, _ = fmt.Sscan(lines.Text(), &seed) // 0: steady
			work(seed)
			fmt.Println("done")
		}
		return
	}
	os.Exit(m.Run())
}

// work computes all the time, or in phases of other lengths each time: computing, calling the
// kernel, sleeping.
func work(seed uint64) {
	random, end := rand.New(rand.NewPCG(seed, 7)), time.Now().Add(pmuWork)
	for phase := 0; time.Now().Before(end); phase++ {
		stop := end
		if seed > 0 {
			stop = time.Now().Add(time.Duration(3+random.IntN(27)) * time.Millisecond)
		}
		switch {
		case seed > 0 && phase%3 == 1:
			for time.Now().Before(stop) {
				for range 50 {
					_, _, _ = unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
				}
			}
		case seed > 0 && phase%3 == 2:
			time.Sleep(time.Duration(1+random.IntN(4)) * time.Millisecond)
		default:
			for time.Now().Before(stop) {
				for i := range 20000 {
					sink += i ^ sink<<1
				}
			}
		}
	}
}

var sink int

// truth is a pinned counter of a process: it has a counter of the hardware whenever the process
// runs.
func truth(t *testing.T, pid int) int {
	t.Helper()
	attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_INSTRUCTIONS,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED |
			unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits: unix.PerfBitPinned | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitInherit}
	descriptor, err := unix.PerfEventOpen(&attributes, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(descriptor) })
	return descriptor
}

func counted(t *testing.T, descriptor int) float64 {
	t.Helper()
	var words [24]byte
	n, err := unix.Read(descriptor, words[:])
	value, enabled, running := binary.NativeEndian.Uint64(words[:]), binary.NativeEndian.Uint64(words[8:]),
		binary.NativeEndian.Uint64(words[16:])
	if err != nil || n != len(words) || enabled != running {
		t.Fatalf("the pinned counter read %d bytes, %v; %d ns of %d", n, err, running, enabled)
	}
	return float64(value)
}

// pmuTrial has a child that works in each interval of a session.
type pmuTrial struct {
	t        *testing.T
	names    []string
	pid      int
	orders   io.Writer
	done     chan bool
	pinned   int
	before   float64
	working  bool
	seeds    []uint64 // of the runs to come
	runs     int
	inside   int
	compared int
	agree    int
	pairs    int
	widths   []float64
	errors   []float64 // of the values, as parts of the truth
}

// startChild starts a child before anything is counted: a thread that is made later would have no
// counter.
func startChild(t *testing.T, seeds []uint64) *pmuTrial {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), pmuLoad+"=1", "GOMAXPROCS=1", "GOGC=off")
	orders, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	trial := &pmuTrial{t: t, pid: child.Process.Pid, orders: orders, done: make(chan bool, 1), seeds: seeds}
	trial.pinned = truth(t, trial.pid) // its threads inherit it, those that it has not made yet
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			trial.done <- true
		}
	}()
	t.Cleanup(func() {
		_ = orders.Close()
		_ = child.Wait()
	})
	return trial
}

// each is called at the end of an interval: checks what was counted in it, and has the child work
// in the next one.
func (p *pmuTrial) each(interval *Interval) error {
	if p.working {
		select {
		case <-p.done:
			p.working = false
		default:
			p.before = -1 // it works into the next interval: neither says anything
			return nil
		}
		now := counted(p.t, p.pinned)
		if p.before >= 0 {
			p.check(interval, now-p.before)
		}
	}
	if len(p.seeds) == 0 {
		return io.EOF
	}
	p.before = counted(p.t, p.pinned)
	p.working = true
	_, err := fmt.Fprintln(p.orders, p.seeds[0])
	p.seeds = p.seeds[1:]
	return err
}

// check holds the row of the child against what it truly did.
func (p *pmuTrial) check(interval *Interval, true float64) {
	i := slices.IndexFunc(interval.Rows, func(row Row) bool { return row.Pid == int32(p.pid) })
	if i < 0 {
		p.t.Errorf("run %d: no row of process %d", p.runs, p.pid)
		return
	}
	p.runs++
	var numbers []Number
	for _, name := range p.names {
		number, known := interval.Rows[i].Counts[name]
		if !known {
			p.t.Errorf("run %d: no count of %s", p.runs, name)
			continue
		}
		numbers = append(numbers, number)
		p.compared++
		if number.Low <= true && true <= number.High {
			p.inside++
		}
		p.widths = append(p.widths, (number.High-number.Low)/2/true)
		p.errors = append(p.errors, number.Value/true-1)
	}
	for a := range min(5, len(numbers)) {
		for b := range a {
			p.pairs++
			if numbers[a].Low <= numbers[b].High && numbers[b].Low <= numbers[a].High {
				p.agree++
			}
		}
	}
}

// More events than counters take turns: the true count, of a counter of its own, lies within the
// stated interval, and copies of one event agree.
func TestPMUTrueCountIsInside(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("loading BPF programs needs root, and the runs take a minute")
	}
	free := event.FreeCounters(event.Host)
	if free.Free < 3 {
		t.Skip("this host has no hardware counters: run go run ./cases/guest -arch arm64 -tests ./internal/count -run PMU")
	}
	copies := max(12, free.Free+6)
	list, err := event.Parse(strings.TrimSuffix(strings.Repeat("instructions:u,", copies), ","), event.Host)
	if err != nil {
		t.Fatal(err)
	}
	for _, load := range []string{"steady", "phased"} {
		t.Run(load, func(t *testing.T) {
			seeds := make([]uint64, pmuRuns)
			for i := range seeds {
				if load == "phased" {
					seeds[i] = uint64(i + 1)
				}
			}
			trial := startChild(t, seeds)
			trial.names = list.Names()
			session, err := Open(Options{By: ByProcess, Events: list, Interval: pmuInterval})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if err := session.Run(context.Background(), trial.each); err != io.EOF {
				t.Fatal(err)
			}
			trial.judge(free.Free)
		})
	}
}

func (p *pmuTrial) judge(free int) {
	p.t.Helper()
	if p.runs < pmuRuns/2 {
		p.t.Fatalf("only %d of %d runs ended within their interval", p.runs, pmuRuns)
	}
	slices.Sort(p.widths)
	slices.Sort(p.errors)
	inside, agree := float64(p.inside)/float64(p.compared), float64(p.agree)/float64(p.pairs)
	p.t.Logf("%d runs, %d copies, %d counters free: the true count inside in %.1f %%, half width %.3f %% (median); "+
		"values %.3f %%, %.3f %% and %.3f %% off (5th, 50th, 95th percentile); pairs of five copies that agree %.1f %%",
		p.runs, len(p.names), free, 100*inside, 100*p.widths[len(p.widths)/2], 100*p.errors[len(p.errors)/20],
		100*p.errors[len(p.errors)/2], 100*p.errors[len(p.errors)*19/20], 100*agree)
	if inside < pmuCovers || agree < pmuCovers {
		p.t.Errorf("the true count is inside in %.3f, five copies agree in %.3f; want %.2f", inside, agree, pmuCovers)
	}
}
