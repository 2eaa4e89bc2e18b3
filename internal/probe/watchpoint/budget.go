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
	// armedPerHit is how often a thread's registers can be armed and disarmed in the time of one
	// hit, 14 µs each, and looksPerHit how many looks cost it as much: 28 µs each, of one of the
	// threads that run.
	armedPerHit, looksPerHit = 4, 2
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

// cost is what a thread bears of so many passes, a look at the end of each, and so many hits.
func (w *Watcher) cost(passes, hits int) time.Duration {
	return time.Duration(hits)*w.hit + time.Duration(passes)*(w.hit/armedPerHit+w.hit/looksPerHit)
}

// measure finds out once what a hit costs here.
func (w *Watcher) measure() {
	if w.hit == 0 {
		w.hit = costOfHit()
	}
}

// bearable leaves out threads, and words of them, that may cost a thread more than it has left.
func (w *Watcher) bearable(threads []Thread) (list []Thread) {
	w.measure()
	for _, thread := range threads {
		words := min(len(thread.Words), Slots)
		for words > 0 && w.cost(len(passes), words*hits) > w.each-w.spent[thread.Tid] {
			words--
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
	word := Word{Address: uint64(uintptr(unsafe.Pointer(&probed))), Size: widest}
	one, err := of.open(int32(unix.Gettid()), watching(word, unixBreakpointWrite), hits)
	if err != nil {
		return costUnmeasured
	}
	defer one.close()
	of.arm()
	touch(&probed, 0) // the hit that it was opened with
	var costs []time.Duration
	for i := range rounds {
		before, _ := one.count()
		start := threadTime()
		_ = one.let(hits) // or there is no hit
		touch(&probed, uint64(i))
		took := threadTime() - start
		if after, _ := one.count(); after-before == hits {
			costs = append(costs, took)
		}
	}
	if len(costs) == 0 {
		return costUnmeasured
	}
	slices.Sort(costs)
	return costs[len(costs)/2]
})

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
