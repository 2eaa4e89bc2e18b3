package watchpoint

import (
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// passInHits is what a pass costs a thread that runs, in hits: registers are armed and disarmed
	// from another CPU, an interrupt each, and its counts are read. 60 µs were measured
	// (benchmark/sharing) where a hit takes 26 to 38.
	passInHits = 2
	// A hit is measured so often.
	rounds = 9
	// costUnmeasured is a hit's cost where it cannot be measured: twice what was seen on any host.
	costUnmeasured = 100 * time.Microsecond
)

// Watcher watches threads within a budget of their time.
type Watcher struct {
	each  time.Duration // may be taken of a thread
	hit   time.Duration // costs a thread
	spent map[int32]time.Duration
}

// New makes a watcher that takes no more of any thread's time than told.
func New(each time.Duration) *Watcher {
	return &Watcher{each: each, spent: map[int32]time.Duration{}}
}

// cost is what a thread bears of so many passes and so many hits.
func (w *Watcher) cost(passes, hits int) time.Duration {
	return time.Duration(hits+passInHits*passes) * w.hit
}

// measure finds out once what a hit costs here.
func (w *Watcher) measure() {
	if w.hit == 0 {
		w.hit = costOfHit()
	}
}

// bearable leaves out threads, and words of them, that may cost a thread more than it has left. One
// word of a thread that has borne nothing is always watched.
func (w *Watcher) bearable(threads []Thread) (list []Thread) {
	w.measure()
	for _, thread := range threads {
		words := min(len(thread.Words), Slots)
		for words > 0 && w.cost(len(passes), words*hits) > w.each-w.spent[thread.Tid] {
			words--
		}
		if w.spent[thread.Tid] == 0 && len(thread.Words) > 0 { // however dear a hit is here, one is borne
			words = max(words, 1)
		}
		if words > 0 {
			list = append(list, Thread{thread.Tid, thread.Words[:words]})
		}
	}
	return list
}

// charge books what watched threads have borne: one that did not run bore nothing.
func (w *Watcher) charge(seen []Seen) {
	armed, touches := map[int32]int{}, map[int32]int{}
	for i := range seen {
		if one := &seen[i]; one.Watched > 0 {
			armed[one.Tid] = max(armed[one.Tid], one.armed)
			touches[one.Tid] += int(one.Touches)
		}
	}
	for tid := range armed {
		w.spent[tid] += w.cost(armed[tid], touches[tid])
	}
}

// costOfHit measures once what a hit costs a thread here.
var costOfHit = sync.OnceValue(func() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	of, err := openGroup(int32(unix.Gettid()))
	if err != nil {
		return costUnmeasured
	}
	defer of.close()
	var costs []time.Duration
	for i := range rounds {
		if took, hit := of.hitOnce(uint64(i)); hit {
			costs = append(costs, took)
		}
	}
	if len(costs) == 0 {
		return costUnmeasured
	}
	return slices.Min(costs) // what comes between makes it longer
})

// hitOnce takes the time of one hit. Each is of a new register: newer kernels stop one that had its
// last hit, and PERF_EVENT_IOC_REFRESH does not start it again (seen on 6.18; on 6.1 it does).
func (g *group) hitOnce(value uint64) (took time.Duration, hit bool) {
	word := Word{Address: uint64(uintptr(unsafe.Pointer(&probed))), Size: widest}
	one, err := g.open(int32(unix.Gettid()), watching(word, unixBreakpointWrite), hits)
	if err != nil {
		return 0, false
	}
	defer one.close()
	g.arm()
	start := threadTime()
	touch(&probed, value)
	took = threadTime() - start
	g.disarm()
	count, _ := one.count()
	return took, count == hits
}

// probed is the word that costOfHit watches: it stays where it is.
var probed uint64

//go:noinline
func touch(word *uint64, value uint64) { *word = value }

// threadTime is the CPU time of this thread.
func threadTime() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now) // which every Linux has
	return time.Duration(now.Nano())
}
