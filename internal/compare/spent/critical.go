package spent

import (
	"slices"

	"culprit/internal/compare/timeline"
	"culprit/recording"
)

const (
	// jumpLimit bounds jumps from waker to waker that make no progress in time: two threads whose
	// records say that each woke the other at the same moment. Chosen.
	jumpLimit = 32
	// stepLimit bounds the walk; what is left then is unknown. Chosen: twice recording.MaxWaits.
	stepLimit = 4 << 20
)

// walker goes backwards in time from the end of a run along what held it up.
type walker struct {
	run     *timeline.Run
	at      int64 // everything from here to the end is accounted for
	thread  *timeline.Thread
	stuck   int // jumps since the last progress
	waiting []waiting
	pieces  []Piece
	running []segment
}

// waiting is a thread that the walk left for its waker, and since when it had been blocked.
type waiting struct {
	thread *timeline.Thread
	since  int64
}

// segment is a stretch in which a thread ran, as far as its waits tell.
type segment struct {
	thread   *timeline.Thread
	from, to int64
}

// CriticalPath returns pieces that add up to the wall time of the run.
func CriticalPath(r *timeline.Run) []Piece {
	if r.EndNs <= r.StartNs {
		return nil
	}
	w := &walker{run: r, at: r.EndNs, thread: r.LastThread(r.Root, r.EndNs, r.Thread(r.Root))}
	for steps := 0; w.at > r.StartNs; steps++ {
		if w.thread == nil || steps > stepLimit {
			w.emit(Piece{Key: Key{Kind: Running}, Seconds: float64(w.at-r.StartNs) / 1e9}, r.StartNs)
			break
		}
		w.step()
	}
	return append(w.pieces, sampled(r, w.running)...)
}

// step accounts for the time just before w.at on w.thread, or moves to the thread that woke it.
func (w *walker) step() {
	t := w.thread
	born := max(t.StartNs, 0)
	wait := t.WaitBefore(w.at)
	if wait == nil || wait.TimeNs < born {
		w.ran(max(born, w.run.StartNs))
		if w.at > w.run.StartNs {
			w.toCreator(t, born)
		}
		return
	}
	switch {
	case wait.EndNs() < w.at:
		w.ran(max(wait.EndNs(), w.run.StartNs))
	case wait.WokenNs() < w.at:
		from := max(wait.WokenNs(), w.run.StartNs)
		w.emit(runnable(w.run, t, wait, from, w.at), from)
	default:
		w.blocked(t, wait, max(wait.TimeNs, w.run.StartNs))
	}
}

// blocked follows a wait to what ended it.
func (w *walker) blocked(t *timeline.Thread, wait *recording.Wait, from int64) {
	r := w.run
	waker := r.Thread(wait.WakerTid)
	if wait.WakerKind == recording.WakerTimer && w.backToWaiter(t, wait, from) {
		return
	}
	if child := r.Awaited(t, wait); child != nil && w.stuck < jumpLimit {
		w.leave(t, from, child)
		return
	}
	if wait.WakerKind != recording.WakerThread || waker == nil || waker == t {
		w.emit(blocked(r, t, wait, w.at-from), from)
		return
	}
	if r.IsLock(wait) || r.IsKernelLock(wait) {
		for _, p := range held(r, t, waker, wait, from, w.at) {
			w.emit(p, w.at)
		}
		w.progress(from)
		return
	}
	next := waker
	if waker.Pid != t.Pid {
		next = r.AtExit(waker, w.at)
	}
	if r.Monitors(next) {
		// A runtime's monitor hands on work that another thread did until then.
		if next = r.Busiest(waker.Pid, w.at); next == nil {
			next = t
		}
	}
	if w.stuck >= jumpLimit || next == t || r.Reaped(waker, from, w.at) {
		w.emit(blocked(r, t, wait, w.at-from), from)
		return
	}
	w.leave(t, from, next)
}

// leave goes on with another thread at the same moment: the one that t had waited for since then.
func (w *walker) leave(t *timeline.Thread, since int64, next *timeline.Thread) {
	w.stuck++
	w.waiting = append(w.waiting, waiting{t, since})
	w.thread = next
}

// backToWaiter ends the walk along a thread at its own sleep where the sleep began before anybody
// waited for it: a thread that wakes by the clock, does a little and makes another wait a moment (a
// JVM's safepoint once a second) held that one up from when it blocked, not while it slept. What
// came before is the waiter's own time.
func (w *walker) backToWaiter(t *timeline.Thread, wait *recording.Wait, from int64) bool {
	for len(w.waiting) > 0 {
		last := w.waiting[len(w.waiting)-1]
		if last.thread == t || last.since <= from {
			return false
		}
		w.waiting = w.waiting[:len(w.waiting)-1]
		if last.since < w.at {
			w.emit(blocked(w.run, t, wait, w.at-last.since), last.since)
		}
		if last.thread.StartNs < w.at {
			w.thread = last.thread
			return true
		}
	}
	return false
}

// toCreator goes on with the thread that started t.
func (w *walker) toCreator(t *timeline.Thread, born int64) {
	w.thread = nil
	creator := w.run.Creator(t)
	for _, candidate := range w.run.Threads {
		if candidate.Pid != creator || candidate == t || candidate.StartNs > born {
			continue
		}
		wait := candidate.WaitBefore(born)
		awake := wait == nil || wait.EndNs() <= born
		if w.thread == nil || awake {
			w.thread = candidate
		}
		if awake {
			return
		}
	}
}

func (w *walker) ran(from int64) {
	if w.at > from {
		w.running = append(w.running, segment{w.thread, from, w.at})
	}
	w.progress(from)
}

// emit adds a piece that accounts for the time back to a moment.
func (w *walker) emit(p Piece, to int64) {
	if p.Seconds > 0 {
		w.pieces = append(w.pieces, p)
	}
	w.progress(to)
}

// progress only goes back in time: a thread that woke another before its own start was recorded
// must not take the walk forward again.
func (w *walker) progress(to int64) {
	if to < w.at {
		w.stuck, w.at = 0, to
	}
}

// held accounts for a wait for a lock by what its holder did meanwhile: where the holder ran, the
// wait is for the lock; where it was blocked or had no CPU itself, that is the cost, and the lock
// only passes it on.
func held(r *timeline.Run, t, holder *timeline.Thread, wait *recording.Wait,
	from, to int64) (pieces []Piece) {
	locked := to - from
	passOn := func(p Piece, ns int64) {
		p.Key.For = r.Stack(wait.Stack)
		pieces = append(pieces, p)
		locked -= ns
	}
	for _, its := range slices.Backward(holder.WaitsBefore(to)) {
		if its.EndNs() <= from {
			break
		}
		if a, b := max(its.WokenNs(), from), min(its.EndNs(), to); b > a {
			passOn(runnable(r, holder, its, a, b), b-a)
		}
		a, b := max(its.TimeNs, from), min(its.WokenNs(), to)
		if b > a && !r.IsLock(its) && !r.IsKernelLock(its) {
			passOn(blocked(r, holder, its, b-a), b-a)
		}
	}
	if locked > 0 {
		pieces = append(pieces, blocked(r, t, wait, locked))
	}
	return pieces
}
