// Package spent says what the time of one recording was spent on, in pieces: for the CPU metric the
// samples, scaled to the exact CPU time; for the wall metric the critical path, which is what the
// threads that held up the end were doing or waiting for, walked backwards from the end (Yang &
// Miller 1988; wPerf, OSDI 2018).
//
// It refuses to leave time out: the pieces add up to the metric, and what cannot be attributed is a
// piece without a stack.
//
//	run := timeline.New(rec, pool)
//	pieces, cost := spent.WithoutRecorder(run, spent.CriticalPath(run))
package spent

import (
	"slices"
	"strconv"

	"culprit/internal/code"
	"culprit/internal/compare/names"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// Kind says what time was spent on.
type Kind string

// The kinds of time. For the CPU metric all pieces are Running; for the wall metric they are those
// of the critical path and add up to the wall time.
const (
	Running  Kind = "running"
	Runnable Kind = "runnable" // woken or preempted, waiting for a CPU
	Blocked  Kind = "blocked"
)

// Key is what makes two pieces the same path. Stacks are numbers of the pool, names.None for none.
type Key struct {
	Kind                 Kind
	Stack                int32
	Comm, Process        string
	Parent               string
	Short, Ticking, Lock bool
	Turn, Nap            bool
	Syscall              string
	WakerKind, WakerComm string
	WakerOwn             bool
	WakerStack           int32
	For                  int32 // who waited for the holder of a lock that did this
}

// Piece is an amount of time of one run with all that tells it from others.
type Piece struct {
	Key     Key
	Seconds float64
	Count   float64
	Object  string // an example: addresses differ between runs
	Holder  int32  // stack of a lock's holder
	Around  int32  // stack that what ran before and after a sleep has in common
}

// keyOf is the part of a key that all time of one thread shares. Without a stack it names the
// threads whose running time is attributed together: a stretch may be too short for a sample.
func keyOf(r *timeline.Run, t *timeline.Thread, kind Kind, stack int32) Key {
	key := Key{Kind: kind, Stack: stack, Comm: t.Comm, Ticking: t.Ticking}
	if p := r.Process(t.Pid); p != nil {
		key.Process, key.Parent, key.Short = p.Name, p.Parent, p.Short
	}
	return key
}

// threads is the key of those threads that a piece's time was spent by.
func (k Key) threads() Key {
	return Key{Kind: Running, Comm: k.Comm, Process: k.Process, Parent: k.Parent, Short: k.Short,
		Ticking: k.Ticking}
}

// blocked is a part of the time that a thread was blocked in one wait.
func blocked(r *timeline.Run, t *timeline.Thread, wait *recording.Wait, lengthNs int64) Piece {
	key := keyOf(r, t, Blocked, r.Stack(wait.Stack))
	key.Syscall, key.WakerKind, key.WakerStack = wait.Syscall, wait.WakerKind, r.Stack(wait.WakerStack)
	if wait.WakerKind == recording.WakerThread || wait.WakerKind == recording.WakerKernel {
		key.WakerComm = wait.WakerComm
	}
	key.WakerOwn = wait.WakerKind == recording.WakerThread && r.Thread(wait.WakerTid) != nil
	key.Lock, key.Nap = r.IsLock(wait), r.IsNap(wait)
	key.Turn = !key.Lock && r.IsTurn(wait)
	p := Piece{Key: key, Seconds: float64(lengthNs) / 1e9, Count: 1, Object: objectName(wait),
		Around: around(r, t, wait)}
	if key.Lock {
		p.Holder = r.HeldIn(t, wait)
	}
	return p
}

func objectName(wait *recording.Wait) string {
	switch {
	case wait.Object == 0:
		return ""
	case wait.Syscall == "futex":
		return "0x" + strconv.FormatUint(wait.Object, 16)
	case slices.Contains(timeline.SemaphoreCalls, wait.Syscall):
		return "semaphore set " + strconv.FormatUint(wait.Object, 10)
	}
	return "descriptor " + strconv.FormatUint(wait.Object, 10)
}

// runnable is a part of the time that a thread waited for a CPU; its waker is then who ran
// meanwhile.
func runnable(r *timeline.Run, t *timeline.Thread, wait *recording.Wait, from, to int64) Piece {
	key := keyOf(r, t, Runnable, r.Stack(wait.Stack))
	key.WakerComm, key.WakerOwn = r.WhoRan(t, wait, from, to)
	// Handed the lock, but the CPU is still with who released it: part of waiting for the lock.
	key.Lock = key.WakerOwn && wait.BlockedNs > 0 && r.IsLock(wait)
	return Piece{Key: key, Seconds: float64(to-from) / 1e9, Count: 1}
}

// shortKey is the key of waits that are too short to be kept whole.
func shortKey(r *timeline.Run, t *timeline.Thread, sample *recording.Sample) Key {
	key := keyOf(r, t, Blocked, r.Stack(sample.Stack))
	for _, frame := range r.Names.Frames(key.Stack) {
		if call := code.SyscallOf(frame.Name); frame.Kind == recording.KindKernel && call != "" {
			key.Syscall = call
			break
		}
	}
	key.Nap = r.NapsIn(t.Pid, key.Stack, key.Syscall)
	key.Lock = r.IsShortLock(key.Stack, key.Syscall)
	return key
}

// Waits are all waits of all threads, and the short ones that are known as totals only.
func Waits(r *timeline.Run) (pieces []Piece) {
	for _, t := range r.Threads {
		for _, wait := range t.Waits {
			if wait.BlockedNs > 0 {
				pieces = append(pieces, blocked(r, t, wait, wait.BlockedNs))
			}
			if wait.RunqueueNs > 0 {
				pieces = append(pieces, runnable(r, t, wait, wait.WokenNs(), wait.EndNs()))
			}
		}
		for _, sample := range t.Short {
			pieces = append(pieces, Piece{Key: shortKey(r, t, sample),
				Seconds: float64(sample.ValueNs) / 1e9, Count: float64(sample.Count)})
		}
	}
	return pieces
}

// WithoutRecorder takes the recorder's part out of pieces and returns its seconds. Imports have
// none.
func WithoutRecorder(r *timeline.Run, pieces []Piece) (kept []Piece, cost float64) {
	if r.Recording.Imported() != "" {
		return pieces, 0
	}
	kept = make([]Piece, 0, len(pieces))
	for _, p := range pieces {
		if p.Key.Kind == Running && r.Names.Recorder(p.Key.Stack) ||
			p.Key.Kind == Runnable && p.Key.WakerComm == recording.RecorderComm {
			cost += p.Seconds
			continue
		}
		kept = append(kept, p)
	}
	return kept, cost
}

// aroundWithinNs is how far from a sleep a sample tells where the program went to sleep. Chosen.
const aroundWithinNs = 20e6

// around tells where in the program a timed wait lies whose own stack does not say: runtimes that
// schedule their own tasks (Go, an event loop) sleep on a stack without the function that asked for
// it. What the process ran just before and just after have that function's callers in common.
func around(r *timeline.Run, t *timeline.Thread, wait *recording.Wait) int32 {
	if wait.WakerKind != recording.WakerTimer || r.Names.Own(r.Stack(wait.Stack)) >= 0 {
		return names.None
	}
	before, after := nearest(r, t.Pid, wait.TimeNs, false), nearest(r, t.Pid, wait.WokenNs(), true)
	if before == names.None || after == names.None {
		return names.None
	}
	common := r.Names.Common(before, after)
	// Where both were in the same innermost function, two calls of it are as likely as one call
	// with a sleep inside: its caller is what is certain.
	if inner := r.Names.Own(before); common > inner && inner == r.Names.Own(after) {
		common = inner
	}
	own := code.Own(r.Names.Frames(before))
	for common > 0 && !own[common-1] {
		common--
	}
	return r.Names.Outer(before, common)
}

// nearest is the stack, with code of the application's own, that a process was sampled in next to a
// moment.
func nearest(r *timeline.Run, pid int32, at int64, after bool) int32 {
	best, distance := names.None, int64(aroundWithinNs)
	for _, t := range r.Threads {
		if t.Pid != pid {
			continue
		}
		list := timeline.Within(t.CPU, at, at+distance)
		if !after {
			list = slices.Clone(timeline.Within(t.CPU, at-distance+1, at))
			slices.Reverse(list)
		}
		for _, sample := range list {
			if stack := r.Stack(sample.Stack); r.Names.Own(stack) >= 0 {
				best, distance = stack, max(sample.TimeNs-at, at-sample.TimeNs)
				break
			}
		}
	}
	return best
}
