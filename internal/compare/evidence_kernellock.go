package compare

import "culprit/recording"

// kernelLockNames are kernel functions that sleep until another thread gives a lock up.
var kernelLockNames = []string{"rwsem_down_", "__mutex_lock", "percpu_down_write", "percpu_rwsem_wait", "__down_"}

// kernelUnlockNames are kernel functions that wake whoever waits for a lock. They stand on the waker's stack, and tell
// more: on Linux 6.18 the sleeper's stack was seen to end at the caller of the lock's functions.
var kernelUnlockNames = []string{"rwsem_wake", "__mutex_unlock", "percpu_up_write", "__up_write", "__up_read"}

// isKernelLock reports whether a wait was for a lock inside the kernel that another
// thread of the target gave up: an inode's, a directory's, the address space's. As with
// user-space locks, what the holder did meanwhile is the time; it did not hand on any work.
func (r *run) isKernelLock(wait *recording.Wait) bool {
	if wait.WakerKind != recording.WakerThread {
		return false
	}
	if waker := r.stackOf(wait.WakerStack); waker >= 0 {
		for _, frame := range r.pool.stacks[waker] {
			if containsAny(r.pool.frames[frame].Name, kernelUnlockNames) {
				return true
			}
		}
	}
	stack := r.stackOf(wait.Stack)
	if stack < 0 {
		return false
	}
	frames := r.pool.stacks[stack]
	for i := len(frames) - 1; i >= 0; i-- {
		frame := r.pool.frames[frames[i]]
		if frame.Kind != recording.KindKernel {
			return false
		}
		if containsAny(frame.Name, kernelLockNames) {
			return true
		}
	}
	return false
}
