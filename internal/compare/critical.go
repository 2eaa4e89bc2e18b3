package compare

import (
	"math"
	"sort"

	"culprit/recording"
)

const (
	// jumpLimit bounds jumps from waker to waker that make no progress in time: two threads
	// whose records say that each woke the other at the same moment.
	jumpLimit = 32
	// stepLimit bounds the walk as a whole; what is left then is unknown.
	stepLimit = 4 << 20
)

// walker goes backwards in time from the end of a run along what held it up.
type walker struct {
	run     *run
	at      int64 // everything from here to the end is accounted for
	thread  *thread
	stuck   int // jumps since the last progress
	waiting []waiting
	pieces  []piece
	running []segment
}

// waiting is a thread that the walk left for the one that woke it, and since when it had been blocked.
type waiting struct {
	thread *thread
	since  int64
}

// segment is a stretch in which a thread ran, as far as its waits tell.
type segment struct {
	thread   *thread
	from, to int64
}

// criticalPath returns pieces that add up to the wall time of the run.
func (r *run) criticalPath() []piece {
	if r.endNs <= r.startNs {
		return nil
	}
	w := &walker{run: r, at: r.endNs, thread: r.lastThread(r.root, r.endNs, r.thread[r.root])}
	for steps := 0; w.at > r.startNs; steps++ {
		if w.thread == nil || steps > stepLimit {
			w.unknown(nil, r.startNs, w.at)
			break
		}
		w.step()
	}
	return append(w.pieces, r.spread(w.running)...)
}

// step accounts for the time just before w.at on w.thread, or moves to the thread that woke it.
func (w *walker) step() {
	t := w.thread
	born := max(t.startNs, 0)
	wait := t.waitBefore(w.at)
	if wait == nil || wait.TimeNs < born {
		w.ran(max(born, w.run.startNs), w.at)
		if w.at > w.run.startNs {
			w.toCreator(t, born)
		}
		return
	}
	woken := wait.TimeNs + wait.BlockedNs
	end := woken + wait.RunqueueNs
	switch {
	case end < w.at:
		w.ran(max(end, w.run.startNs), w.at)
	case woken < w.at:
		from := max(woken, w.run.startNs)
		w.emit(w.run.runnablePiece(t, wait, from, w.at))
		w.progress(from)
	default:
		w.blocked(t, wait)
	}
}

// blocked follows a wait to what ended it.
func (w *walker) blocked(t *thread, wait *recording.Wait) {
	from := max(wait.TimeNs, w.run.startNs)
	waker := w.run.thread[wait.WakerTid]
	if wait.WakerKind == recording.WakerTimer && w.backToWaiter(t, wait, from) {
		return
	}
	if child := w.run.awaited(t, wait); child != nil && w.stuck < jumpLimit {
		w.leave(t, from, child)
		return
	}
	if wait.WakerKind != recording.WakerThread || waker == nil || waker == t {
		p := w.run.blockedPiece(t, wait, w.at-from)
		if p.key.lock { // it looks again from time to time: who has the lock is whoever runs meanwhile
			if holder := w.run.meanwhile(t, from, w.at); holder != nil {
				p.holder = w.run.topStack(holder, from, w.at)
			}
		}
		w.emit(p)
		w.progress(from)
		return
	}
	if w.run.isLock(wait) || w.run.isKernelLock(wait) {
		for _, p := range w.run.lockPieces(t, waker, wait, from, w.at) {
			w.emit(p)
		}
		w.progress(from)
		return
	}
	next := waker
	if waker.pid != t.pid {
		next = w.run.atExit(waker, w.at)
	}
	if w.run.monitors(next) {
		// A runtime's monitor hands on work that another thread did until then; its own ticking is nobody's cause.
		if next = w.run.busiest(waker.pid, w.at); next == nil {
			next = t
		}
	}
	if w.stuck >= jumpLimit || next == t || waker.pid != t.pid && w.run.reaped(waker, from, w.at) {
		w.emit(w.run.blockedPiece(t, wait, w.at-from))
		w.progress(from)
		return
	}
	w.leave(t, from, next)
}

// leave goes on with another thread at the same moment: the one that t had waited for since then.
func (w *walker) leave(t *thread, since int64, next *thread) {
	w.stuck++
	w.waiting = append(w.waiting, waiting{t, since})
	w.thread = next
}

// backToWaiter ends the walk along a thread at its own sleep where the sleep
// began before anybody waited for it: a thread that wakes by the clock, does a
// little and makes another wait a moment (a JVM's safepoint once a second) held
// that one up from when it blocked, not while it slept. What came before is the
// waiter's own time.
func (w *walker) backToWaiter(t *thread, wait *recording.Wait, from int64) bool {
	for len(w.waiting) > 0 {
		last := w.waiting[len(w.waiting)-1]
		if last.thread == t || last.since <= from {
			return false
		}
		w.waiting = w.waiting[:len(w.waiting)-1]
		if last.since < w.at {
			w.emit(w.run.blockedPiece(t, wait, w.at-last.since))
			w.progress(last.since)
		}
		if last.thread.startNs < w.at {
			w.thread = last.thread
			return true
		}
	}
	return false
}

// toCreator goes on with the thread that started t.
func (w *walker) toCreator(t *thread, born int64) {
	parent := t.pid
	if t.tid == t.pid {
		p := w.run.process[t.pid]
		if p == nil || p.ppid == t.pid {
			w.thread = nil
			return
		}
		parent = p.ppid
	}
	w.thread = nil
	for _, candidate := range w.run.threads() {
		if candidate.pid != parent || candidate == t || candidate.startNs > born {
			continue
		}
		wait := candidate.waitBefore(born)
		awake := wait == nil || wait.TimeNs+wait.BlockedNs+wait.RunqueueNs <= born
		if w.thread == nil || awake {
			w.thread = candidate
		}
		if awake {
			return
		}
	}
}

func (w *walker) ran(from, to int64) {
	if to > from {
		w.running = append(w.running, segment{w.thread, from, to})
	}
	w.progress(from)
}

func (w *walker) unknown(t *thread, from, to int64) {
	w.emit(w.run.unknownPiece(t, to-from))
	w.progress(from)
}

func (w *walker) emit(p piece) {
	if p.seconds > 0 {
		w.pieces = append(w.pieces, p)
	}
}

// progress only goes back in time: a thread that woke another before its own start was recorded must not take the walk
// forward again, over what is accounted for already.
func (w *walker) progress(to int64) {
	if to < w.at {
		w.stuck, w.at = 0, to
	}
}

// waitBefore is the last wait that began before a moment, nil when there is none.
func (t *thread) waitBefore(at int64) *recording.Wait {
	i := sort.Search(len(t.waits), func(i int) bool { return t.waits[i].TimeNs >= at })
	if i == 0 {
		return nil
	}
	return t.waits[i-1]
}

// offCPU is how long a thread was off the CPU within a stretch.
func (t *thread) offCPU(from, to int64) int64 {
	var total int64
	for i := sort.Search(len(t.waits), func(i int) bool { return t.waits[i].TimeNs >= to }) - 1; i >= 0; i-- {
		wait := t.waits[i]
		end := wait.TimeNs + wait.BlockedNs + wait.RunqueueNs
		if end <= from {
			break
		}
		total += min(end, to) - max(wait.TimeNs, from)
	}
	return max(0, min(total, to-from))
}

// samplePeriodNs is the time between two samples of a thread that runs.
func (r *run) samplePeriodNs() float64 {
	if r.rec.Manifest.Hz <= 0 {
		return math.Inf(1)
	}
	return 1e9 / float64(r.rec.Manifest.Hz)
}
