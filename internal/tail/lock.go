package tail

import (
	"strings"

	"culprit/internal/cause"
	"culprit/internal/code"
	"culprit/recording"
)

// lock: asleep on a futex. What a run time stops its threads for is no lock of the program's.
func (r *reader) lock(part *recording.RequestPart, frames []recording.Frame, b bucket) bucket {
	if stopped(frames) || r.holding(part).stops {
		b.cause = cause.RuntimeGC
		return b
	}
	if code.AwaitsTasks(frames) {
		return bucket{class: recording.PartUnknown}
	}
	if code.LooksUpName(frames) { // the JDK has others wait for the thread that asks
		return downstream(part, r.nameServer)
	}
	if behind := r.heldByRequest(part, b); behind.cause != "" {
		return behind
	}
	b.cause = cause.LockContended
	return b
}

// atDatabaseLock: a backend's latch, or a sleep after which SQLite looks again.
func atDatabaseLock(frames []recording.Frame, b bucket) bucket {
	b.cause = cause.LockContended
	if at := code.DatabaseLock(frames); at >= 0 {
		b.place = nameOf(&frames[at])
	}
	return b
}

// heldByRequest has a lock that another request holds while it waits for the disk only pass that
// on: the disk is what both wait for, as those do that commit together. What a job does with a lock
// that requests need is the lock's.
func (r *reader) heldByRequest(part *recording.RequestPart, b bucket) bucket {
	holder := r.holding(part)
	if holder.wait == nil || holder.wait.State != "D" || !r.answers[holder.wait.Tid] {
		return bucket{}
	}
	asleep := recording.RequestPart{Class: recording.PartDisk, Syscall: holder.wait.Syscall, WakerStack: recording.NoStack}
	b.place = holder.place
	return r.file(&asleep, r.stack(holder.wait.Stack), b)
}

// safepointNames are where threads of run times wait for the world to go on.
var safepointNames = []string{"SafepointSynchronize::block", "SafepointMechanism::", "ThreadSafepointState::",
	"JavaThread::wait_for_object_deoptimization", "VMThread::wait_until_executed", "VMThread::execute",
	"runtime.stopTheWorld", "LocalHeap::ParkSlowPath", "LocalHeap::Safepoint"}

func stopped(frames []recording.Frame) bool {
	for i := range frames {
		for _, name := range safepointNames {
			if strings.Contains(frames[i].Name, name) {
				return true
			}
		}
	}
	return false
}

func collects(frames []recording.Frame) bool {
	for i := range frames {
		if code.Collects(frames[i].Name) {
			return true
		}
	}
	return false
}
