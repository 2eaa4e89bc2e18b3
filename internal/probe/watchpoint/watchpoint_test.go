package watchpoint

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// holderVerb makes the test binary a process that holds all registers of a thread until it is
// killed.
const holderVerb = "holder-of-registers"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == holderVerb {
		tid, _ := strconv.Atoi(os.Args[2])
		address, _ := strconv.ParseUint(os.Args[3], 16, 64)
		hold(int32(tid), address)
	}
	os.Exit(m.Run())
}

func hold(tid int32, address uint64) {
	of, err := openGroup(tid)
	for i := uint64(0); i < Slots && err == nil; i++ {
		_, err = of.open(tid, watching(Word{Address: address + 8*i, Size: 8}, unixBreakpointWrite), 1<<20)
		if err != nil && i > 0 { // a recorder that runs on this host meanwhile has one
			err = nil
			break
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	of.arm()
	fmt.Println("holds")
	time.Sleep(time.Minute) // the test kills it
	os.Exit(2)
}

// Registers of a process that is killed are free at once, and its threads run as before.
func TestKilledHolder(t *testing.T) {
	var shared line
	var stop atomic.Bool
	tid := busy(t, &shared.word[0], nil, &stop)
	own := Thread{tid, []Word{wordOf(&shared.word[0])}}
	watched(t, own)
	holder := exec.Command(os.Args[0], holderVerb, fmt.Sprint(tid), strconv.FormatUint(own.Words[0].Address, 16))
	output, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	said, _ := bufio.NewReader(output).ReadString('\n')
	if _, err := New(time.Second).Watch(os.Getpid(), []Thread{own}); said == "holds\n" && !errors.Is(err, ErrHeld) {
		t.Errorf("while another process has them: %v", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // by the signal
	if said != "holds\n" {
		t.Skip("another process of this user gets no registers here: ", said)
	}
	watched(t, own)
	// Nothing is armed any more: a thread that traps does some 25 in a millisecond of its CPU time.
	// Others may want the CPU meanwhile.
	before, began := shared.word[0].Load(), cpuOf(t, tid)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		used := cpuOf(t, tid) - began
		if used < time.Millisecond {
			continue
		}
		if shared.word[0].Load()-before > 2000*used.Milliseconds() {
			return
		}
		before, began = shared.word[0].Load(), cpuOf(t, tid)
	}
	t.Error("the thread is slowed down after the end of who watched it")
}

// cpuOf is the CPU time of a thread (clock_getcpuclockid(3), for a thread).
func cpuOf(t *testing.T, tid int32) time.Duration {
	t.Helper()
	var used unix.Timespec
	if err := unix.ClockGettime(^tid<<3|6, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Nano())
}

// line is one cache line of words.
type line struct {
	_    [64]byte
	word [8]atomic.Int64
	_    [64]byte
}

// busy keeps a thread of this process adding to one word and reading another until stop.
func busy(t *testing.T, add, read *atomic.Int64, stop *atomic.Bool) (tid int32) {
	t.Helper()
	return running(t, stop, func() {
		for !stop.Load() {
			add.Add(1)
			if read != nil {
				read.Load()
			}
		}
	})
}

// running keeps a thread of this process at work until stop.
func running(t *testing.T, stop *atomic.Bool, work func()) (tid int32) {
	t.Helper()
	told, done := make(chan int32), make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer close(done)
		told <- int32(unix.Gettid())
		work()
	}()
	t.Cleanup(func() { stop.Store(true); <-done })
	return <-told
}

func wordOf(of *atomic.Int64) Word {
	return Word{Address: uint64(uintptr(unsafe.Pointer(of))), Size: 8}
}

// watched watches, and skips where this host or this user has no debug registers.
func watched(t *testing.T, threads ...Thread) []Seen {
	t.Helper()
	seen, err := New(time.Second).Watch(os.Getpid(), threads)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) ||
		errors.Is(err, unix.ENODEV) || errors.Is(err, ErrHeld) {
		t.Skip("no debug registers for this user: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// Who writes a word, who reads it, and who leaves it alone is told apart, in a bounded number of
// hits.
func TestWatch(t *testing.T) {
	var shared line
	var stop atomic.Bool
	writer := busy(t, &shared.word[0], nil, &stop)
	other := busy(t, &shared.word[2], &shared.word[0], &stop)
	words := []Word{wordOf(&shared.word[0]), wordOf(&shared.word[2])}
	type use struct {
		tid  int32
		word Word
	}
	writes, touches := map[use]int64{}, map[use]int64{}
	for range 50 { // on two CPUs that others want, too, a thread may not run for milliseconds
		for _, one := range watched(t, Thread{writer, words}, Thread{other, words}) {
			at := use{one.Tid, one.Word}
			writes[at] += one.Writes
			touches[at] += one.Touches
			if one.Touches > 2*hits {
				t.Errorf("%d hits of thread %d", one.Touches, one.Tid)
			}
			if len(one.Tasks) == 0 && one.Touches > 0 {
				t.Errorf("hits without a task: %+v", one)
			}
		}
		if writes[use{writer, words[0]}] > 0 && touches[use{other, words[0]}] > 0 && writes[use{other, words[1]}] > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	for _, want := range []struct {
		use
		writes, touches bool
	}{{use{writer, words[0]}, true, true}, {use{writer, words[1]}, false, false},
		{use{other, words[0]}, false, true}, {use{other, words[1]}, true, true}} {
		if (writes[want.use] > 0) != want.writes || (touches[want.use] > 0) != want.touches {
			t.Errorf("%+v: %d writes, %d touches", want, writes[want.use], touches[want.use])
		}
	}
}

// Registers that somebody else holds are left to him, and after a watch all are free again.
func TestWatchGivesBack(t *testing.T) {
	var shared line
	var stop atomic.Bool
	tid := busy(t, &shared.word[0], nil, &stop)
	watched(t, Thread{tid, []Word{wordOf(&shared.word[0])}})
	of, err := openGroup(tid)
	if err != nil {
		t.Fatal(err)
	}
	defer of.close()
	var held []*register
	for i := range Slots { // a recorder that runs on this host meanwhile has one
		one, err := of.open(tid, watching(wordOf(&shared.word[i]), unixBreakpointWrite), hits)
		if err != nil {
			break
		}
		held = append(held, one)
	}
	if len(held) < Slots/2 {
		t.Errorf("%d registers are free after a watch", len(held))
	}
	_, err = New(time.Second).Watch(os.Getpid(), []Thread{{tid, []Word{wordOf(&shared.word[0])}}})
	if !errors.Is(err, ErrHeld) {
		t.Errorf("with all registers taken: %v", err)
	}
	for _, one := range held {
		one.close()
	}
	watched(t, Thread{tid, []Word{wordOf(&shared.word[0])}})
}

// A thread that is not there is left out; too many are refused.
func TestWatchOfNobody(t *testing.T) {
	if seen := watched(t, Thread{1 << 22, []Word{{Address: 0x10000, Size: 8}}}); len(seen) > 1 || seen[0].Touches != 0 {
		t.Errorf("%+v", seen)
	}
	if _, err := New(time.Second).Watch(os.Getpid(), make([]Thread, MaxThreads+1)); err == nil {
		t.Error("too many threads are watched")
	}
	if _, err := New(time.Second).Watch(1<<22, nil); err == nil {
		t.Error("a process that is not there is watched")
	}
}

// What a register can watch lies around the word.
func TestCovering(t *testing.T) {
	for _, one := range []struct{ address, size, wantAddress, wantLength uint64 }{
		{0x1000, 1, 0x1000, 1}, {0x1001, 2, 0x1000, 4}, {0x1002, 2, 0x1002, 2}, {0x1004, 4, 0x1004, 4},
		{0x1003, 4, 0x1000, 8}, {0x1008, 8, 0x1008, 8}, {0x1010, 32, 0x1010, 8}, {0x1006, 4, 0x1000, 8},
	} {
		address, length := covering(Word{one.address, int(one.size)})
		if address != one.wantAddress || length != one.wantLength {
			t.Errorf("%#x, %d bytes: %#x, %d", one.address, one.size, address, length)
		}
	}
}

// All watches of a thread together cost it no more than was told: then it is left out, and another
// thread is not.
func TestBudget(t *testing.T) {
	var shared line
	var stop atomic.Bool
	tid := busy(t, &shared.word[0], &shared.word[1], &stop)
	words := []Word{wordOf(&shared.word[0]), wordOf(&shared.word[1])}
	watched(t, Thread{tid, words})
	watcher, touches := New(time.Millisecond), int64(0)
	for range 200 {
		seen, err := watcher.Watch(os.Getpid(), []Thread{{tid, words}})
		for _, one := range seen {
			touches += one.Touches
		}
		if errors.Is(err, ErrSpent) {
			break
		} else if err != nil && !errors.Is(err, ErrHeld) {
			t.Fatal(err)
		}
	}
	if spent := time.Duration(touches) * watcher.hit; touches == 0 || spent > time.Millisecond {
		t.Errorf("%d hits of %v each", touches, watcher.hit)
	}
	if watcher.spent[tid] > time.Millisecond {
		t.Errorf("%v were charged", watcher.spent[tid])
	}
	other := busy(t, &shared.word[3], nil, &stop)
	seen, err := watcher.Watch(os.Getpid(), []Thread{{other, []Word{wordOf(&shared.word[3])}}})
	if err != nil || len(seen) != 1 {
		t.Errorf("another thread: %+v, %v", seen, err)
	}
}

// A thread with little left is watched at its first words alone, and one that did not run bears
// nothing.
func TestBearable(t *testing.T) {
	words := make([]Word, Slots+1)
	watcher := New(time.Millisecond)
	watcher.hit = 50 * time.Microsecond
	watcher.spent = map[int32]time.Duration{2: 650 * time.Microsecond, 3: 900 * time.Microsecond}
	got := watcher.bearable([]Thread{{1, words}, {2, words}, {3, words}})
	if len(got) != 2 || len(got[0].Words) != Slots || got[1].Tid != 2 || len(got[1].Words) != 3 {
		t.Errorf("%+v", got)
	}
	watcher.charge([]Seen{{Tid: 1, Touches: 1, Watched: 1, armed: 1}, {Tid: 1, Touches: 1, Watched: 1, armed: 2},
		{Tid: 4, armed: 2}})
	if watcher.spent[1] != watcher.cost(2, 2) || watcher.spent[4] != 0 {
		t.Errorf("%v", watcher.spent)
	}
}
