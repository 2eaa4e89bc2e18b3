package code

import (
	"slices"
	"strings"

	"culprit/recording"
)

// What a thread waits for inside the kernel, by the innermost function of its stack. The kernel
// leaves its own sleeping functions out of stacks that it takes (those of the sections .sched.text
// and .spinlock.text); stacks of a profiler and of kernels that were built otherwise have them.

// lockFunctions begin the names of the kernel's functions that wait for a reader-writer lock,
// asleep or spinning.
var lockFunctions = words(`rwsem_ __rwsem_ down_read down_write __down_read __down_write osq_lock
	mmap_read_lock mmap_write_lock __mmap_lock schedule __schedule preempt_schedule`)

// mapLockers are the functions that take the lock of a process's memory map: mm->mmap_lock, called
// mmap_sem before Linux 5.8, and since 6.4 the lock of one of its parts. None of them sleeps for
// anything else.
var mapLockers = words(`vm_mmap_pgoff __vm_munmap do_mprotect_pkey do_madvise madvise_lock do_mlock
	__mm_populate do_mremap dup_mmap exit_mm do_user_addr_fault __do_page_fault lock_mm_and_find_vma
	vma_start_read __vma_start_write __vma_enter_locked __access_remote_vm show_smaps_rollup
	internal_get_user_pages_fast gup_fast_fallback process_vm_rw_single_vec kernel_mbind`)

// mapCalls are the system calls that take it in the function of the call itself.
var mapCalls = words(`munmap brk mremap munlock mlockall munlockall remap_file_pages`)

// AwaitsMapLock is the kernel's function in which a stack waits for the lock of a process's memory
// map, asleep or spinning: in a call that maps or unmaps, in a page fault, in a look at another
// process's memory. "" where it does not.
func AwaitsMapLock(frames []recording.Frame) string {
	name := awaitsIn(frames)
	if slices.Contains(mapLockers, name) || slices.Contains(mapCalls, SyscallOf(name)) {
		return name
	}
	return ""
}

// pipeFunctions read and write pipes; since Linux 6.14 those without a name have their own.
var pipeFunctions = words(`pipe_read pipe_write anon_pipe_read anon_pipe_write fifo_pipe_read fifo_pipe_write
	pipe_wait pipe_wait_readable pipe_wait_writable`)

// AwaitsPipe reports whether a stack waits for the other end of a pipe: to write something, or to
// read.
func AwaitsPipe(frames []recording.Frame) bool {
	return slices.Contains(pipeFunctions, awaitsIn(frames))
}

// WritesPipe reports whether a stack that waits for a pipe writes to it.
func WritesPipe(frames []recording.Frame) bool {
	return AwaitsPipe(frames) && strings.Contains(awaitsIn(frames), "writ")
}

// awaitsIn is the innermost function of the kernel on a stack without those of its locks, and
// without what the compiler put behind its name; "" where the stack does not end in the kernel.
func awaitsIn(frames []recording.Frame) string {
	for _, frame := range slices.Backward(frames) {
		switch {
		case frame.Kind != recording.KindKernel:
			return ""
		case !beginsWithAny(frame.Name, lockFunctions):
			name, _, _ := strings.Cut(frame.Name, ".")
			return name
		}
	}
	return ""
}
