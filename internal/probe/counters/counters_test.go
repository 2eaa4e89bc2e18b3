package counters

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/probe/counters/event"
)

// toucher makes the test's program a child that maps pages and writes to each when its input ends.
const toucher = "CULPRIT_TEST_TOUCH"

const touched = 5000

func TestMain(m *testing.M) {
	if os.Getenv(toucher) != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
		if err := touch(touched); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// touch maps pages and writes to each: a fault a page.
func touch(pages int) error {
	size := pages * os.Getpagesize()
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) // a kernel without huge pages has no such advice
	for at := 0; at < size; at += os.Getpagesize() {
		memory[at] = 1
	}
	return unix.Munmap(memory)
}

func open(t *testing.T, options Options, names string) *Meter {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what loads BPF programs")
	}
	if os.Geteuid() != 0 {
		t.Skip("loading BPF programs needs root")
	}
	list, err := event.Parse(names, event.Host)
	if err != nil {
		t.Fatal(err)
	}
	options.Events = list
	meter, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(meter.Close)
	return meter
}

// exchange has two threads wake each other for a while: switches on every CPU.
func exchange(lasts time.Duration) {
	there, back := make(chan bool), make(chan bool)
	go func() {
		runtime.LockOSThread()
		for range there {
			back <- true
		}
		close(back)
	}()
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		there <- true
		<-back
	}
	close(there)
	<-back
}

// What is booked to all of them together is what the CPUs counted: within 0.1 %, and a few events
// at the edges.
func TestSumsEqualTheCPUs(t *testing.T) {
	const names = "task-clock,cpu-clock,context-switches,page-faults,minor-faults,msr/tsc/,sched:sched_waking"
	for _, by := range []By{ByCgroup, ByProcess, ByThread} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			wanted := names
			if _, err := os.Stat("/sys/bus/event_source/devices/msr"); err != nil {
				wanted = strings.Replace(names, ",msr/tsc/", "", 1)
			}
			meter := open(t, Options{By: by}, wanted)
			events, err := OpenEvents(meter.options.Events) // none of them is the meter's
			if err != nil {
				t.Fatal(err)
			}
			defer events.Close()
			if err := meter.Begin(); err != nil {
				t.Fatal(err)
			}
			begin := accountOf(t, meter, events)
			exchange(500 * time.Millisecond)
			if err := touch(10 * touched); err != nil { // the test's own faults between two reads are few beside these
				t.Fatal(err)
			}
			end := accountOf(t, meter, events)
			for i, each := range meter.options.Events {
				booked := end.booked[i] - begin.booked[i]
				least, most := end.before[i]-begin.after[i], end.after[i]-begin.before[i]
				if least == 0 || booked < least-max(0.001*least, 5) || booked > most+max(0.001*most, 5) {
					t.Errorf("%s: booked %.0f, the CPUs counted %.0f to %.0f", each.Name, booked, least, most)
				}
			}
			if lost, err := meter.Lost(); err != nil || lost["rows that did not fit"] != 0 || lost["readings that failed"] != 0 {
				t.Errorf("lost %v, %v", lost, err)
			}
		})
	}
}

// account is what is booked to all together, by event, and what the CPUs had counted just before
// and just after: what happens between the booking and the reading is in one of the two.
type account struct{ before, booked, after []float64 }

func accountOf(t *testing.T, meter *Meter, events *Events) account {
	t.Helper()
	counted, err := events.Read()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := meter.Read()
	if err != nil {
		t.Fatal(err)
	}
	// Rows are read behind the booking, and switches in between are in them: on a busy host for
	// some ms.
	after, err := events.Read()
	if err != nil {
		t.Fatal(err)
	}
	made := account{before: onAll(meter, counted), after: onAll(meter, after)}
	made.booked = make([]float64, len(meter.options.Events))
	for _, row := range rows {
		for i := range row.Counts {
			made.booked[i] += float64(row.Counts[i].Value)
		}
	}
	return made
}

func onAll(meter *Meter, counted map[int][]Count) []float64 {
	sums := make([]float64, len(meter.options.Events))
	for _, counts := range counted {
		for i := range counts {
			sums[i] += float64(counts[i].Value)
		}
	}
	return sums
}

// A process that touches so many pages has so many faults, and others have none of them.
func TestCountsAreWhoseTheyAre(t *testing.T) {
	meter := open(t, Options{By: ByProcess, Some: true}, "page-faults,minor-faults,task-clock")
	child := exec.Command("/proc/self/exe")
	child.Env = append(os.Environ(), toucher+"=1", "GOMAXPROCS=1")
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := meter.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := meter.Follow(child.Process.Pid); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // it is started, and waits
	early, err := meter.Read()
	if err != nil {
		t.Fatal(err)
	}
	before := faultsOf(early, child.Process.Pid)
	input.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	rows, err := meter.Read()
	if err != nil {
		t.Fatal(err)
	}
	// What came and went without the kernel showing the switch is nobody's: it may be the child's.
	faults, unknown := faultsOf(rows, child.Process.Pid)-before, uint64(0)
	if rest := rows[Key{ID: Rest}]; rest != nil {
		unknown = rest.Counts[0].Value
	}
	if faults+unknown < touched || faults > touched+1500 {
		t.Errorf("%d faults of %d pages, %d are not known whose", faults, touched, unknown)
	}
	for key, row := range rows {
		if known := key.ID == uint64(child.Process.Pid); known && !strings.HasPrefix(row.Comm, "exe") {
			t.Errorf("the child is called %q", row.Comm)
		} else if !known && key.ID != Idle && key.ID != Others && key.ID != Rest {
			t.Errorf("a stranger has a row: %+v %+v", key, row)
		}
	}
}

func faultsOf(rows map[Key]*Row, pid int) uint64 {
	for key, row := range rows {
		if key.ID == uint64(pid) {
			return row.Counts[0].Value
		}
	}
	return 0
}

func sumOf(rows map[Key]*Row) (sum uint64) {
	for _, row := range rows {
		sum += row.Counts[0].Value
	}
	return sum
}

// A thousand threads have a row each, and what does not fit is counted and kept in one row.
func TestAThousandThreads(t *testing.T) {
	const threads = 1000
	for _, fit := range []int{0, 100} {
		meter := open(t, Options{By: ByThread, Rows: fit}, "context-switches")
		if err := meter.Begin(); err != nil {
			t.Fatal(err)
		}
		rows, err := meter.Read()
		if err != nil {
			t.Fatal(err)
		}
		early := sumOf(rows)
		before := meter.CPUs()
		var wait sync.WaitGroup
		gate := make(chan bool)
		for range threads {
			wait.Add(1)
			go func() {
				runtime.LockOSThread() // not unlocked: the thread ends with it
				defer wait.Done()
				<-gate
				time.Sleep(time.Millisecond)
			}()
		}
		close(gate)
		wait.Wait()
		if rows, err = meter.Read(); err != nil {
			t.Fatal(err)
		}
		lost, err := meter.Lost()
		if err != nil {
			t.Fatal(err)
		}
		own, sum, counted := 0, sumOf(rows)-early, uint64(0)
		for _, row := range rows {
			if row.Pid == int32(os.Getpid()) {
				own++
			}
		}
		for cpu, counts := range meter.CPUs() {
			counted += counts[0].Value - before[cpu][0].Value
		}
		// A row is not made either where the map is in use on that CPU (htab_lock_bucket says
		// EBUSY): that is rare, and counted.
		unmade := int(lost["rows that did not fit"])
		if fit == 0 && (own+unmade < threads || unmade > threads/200) {
			t.Errorf("%d of %d threads have rows; lost %v", own, threads, lost)
		}
		if fit > 0 && (lost["rows that did not fit"] == 0 || rows[Key{ID: Rest}] == nil) {
			t.Errorf("with room for %d: lost %v, %d rows", fit, lost, len(rows))
		}
		// A short time: what is counted between reading the CPUs and reading the rows is part of
		// it.
		if math.Abs(float64(sum)-float64(counted)) > 0.01*float64(counted) {
			t.Errorf("booked %d of %d", sum, counted)
		}
		meter.Close()
	}
}

// A package's energy is nobody's.
func TestPackageEventsAreRefused(t *testing.T) {
	_, err := Open(Options{Events: event.List{{Name: "power/energy-pkg/", Kind: event.Package}}})
	if err == nil || !strings.Contains(err.Error(), "--by cpu") {
		t.Errorf("it says %v", err)
	}
}

// Who has become another program is called as it was at its end, on whichever CPU it began.
func TestNamedAtTheEnd(t *testing.T) {
	meter := open(t, Options{By: ByProcess}, "context-switches")
	if err := meter.Begin(); err != nil {
		t.Fatal(err)
	}
	child := exec.Command("/bin/sh", "-c", "for cpu in 0 1 0 1; do taskset -cp $cpu $$ >/dev/null; done; exec sleep 0.01")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	rows, err := meter.Read()
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for key, row := range rows {
		if key.ID == uint64(child.Process.Pid) {
			seen = true
			if row.Comm != "sleep" {
				t.Errorf("it is called %q, want sleep", row.Comm)
			}
		}
	}
	if !seen {
		t.Error("it was not counted")
	}
}

// Forgetting who is gone keeps the map from filling up.
func TestForget(t *testing.T) {
	meter := open(t, Options{By: ByProcess}, "context-switches")
	if err := meter.Begin(); err != nil {
		t.Fatal(err)
	}
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	rows, err := meter.Read()
	if err != nil {
		t.Fatal(err)
	}
	for key := range rows {
		if key.ID == uint64(child.Process.Pid) {
			if err := meter.Forget(key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rows, err = meter.Read(); err != nil || faultsOf(rows, child.Process.Pid) != 0 {
		t.Errorf("it is still there: %v, %v", rows, err)
	}
}
