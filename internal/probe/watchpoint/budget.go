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
	passes = 2
	// armedPerHit is how many registers can be armed and disarmed in the time of one hit: 5 to 7 µs
	// each, where a hit took 18 to 22.
	armedPerHit = 3
	// A hit is measured in so many rounds of so many hits, and counted for a quarter more: beside
	// others it takes longer.
	rounds, hitsOfRound = 5, 3
	// costUnmeasured is a hit's cost where it cannot be measured: twice what was seen on any host.
	costUnmeasured = 80 * time.Microsecond
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

// hitsOf is how many hits of each of its words a thread takes in a pass.
func hitsOf(words int) int { return max(hitsOfPass/max(min(words, Slots), 1), 1) }

// cost is what watching some words can cost a thread, and costs it with so many hits.
func (w *Watcher) cost(words, hits int) time.Duration {
	return time.Duration(hits)*w.hit + time.Duration(passes*words)*w.hit/armedPerHit
}

// bearable leaves out threads, and hits and words of them, that would cost a thread more than it has
// left.
func (w *Watcher) bearable(threads []Thread) (list []bounded) {
	if w.hit == 0 {
		w.hit = costOfHit()
	}
	for _, thread := range threads {
		words, hits := w.affords(min(len(thread.Words), Slots), w.each-w.spent[thread.Tid])
		if words > 0 {
			list = append(list, bounded{Thread{thread.Tid, thread.Words[:words]}, hits})
		}
	}
	return list
}

// affords is how many words a thread can be watched at for so long, and the hits of each in a pass: where
// hits are dear one shows as much of a word as four.
func (w *Watcher) affords(most int, left time.Duration) (words, hits int) {
	for words = most; words > 0; words-- {
		for hits = hitsOf(words); hits > 0; hits-- {
			if w.cost(words, passes*words*hits) <= left {
				return words, hits
			}
		}
	}
	return 0, 0
}

// charge books what watched threads have borne: one that did not run bore nothing.
func (w *Watcher) charge(seen []Seen) {
	for i := range seen {
		if one := &seen[i]; one.Watched > 0 {
			w.spent[one.Tid] += w.cost(1, int(one.Touches))
		}
	}
}

// costOfHit measures once what a hit costs a thread here.
var costOfHit = sync.OnceValue(func() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	one, err := open(&Seen{Tid: int32(unix.Gettid()), Word: Word{Address: uint64(uintptr(unsafe.Pointer(&probed))),
		Size: widest}}, unixBreakpointWrite)
	if err != nil {
		return costUnmeasured
	}
	defer one.close()
	var costs []time.Duration
	for range rounds {
		before, _ := one.count()
		one.arm(hitsOfRound)
		start := threadTime()
		for i := range hitsOfRound {
			touch(&probed, uint64(i))
		}
		took := threadTime() - start
		if after, _ := one.count(); after-before == hitsOfRound {
			costs = append(costs, took/hitsOfRound)
		}
	}
	if len(costs) == 0 {
		return costUnmeasured
	}
	slices.Sort(costs)
	return costs[len(costs)/2] * 5 / 4
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
