package tail

import (
	"strings"

	"culprit/internal/cause"
	"culprit/recording"
)

// syncFunctions are the kernel's that force data to disk.
var syncFunctions = []string{"vfs_fsync_range", "__x64_sys_fsync", "__x64_sys_fdatasync", "do_fsync",
	"file_write_and_wait_range", "__x64_sys_msync", "ksys_sync", "__do_sys_syncfs"}

// The kernel's functions in which a thread waits for a limit of I/O, and for a device.
var (
	limitFunctions = []string{"blk_throtl", "rq_qos_throttle", "__rq_qos_throttle", "blkcg_maybe_throttle"}
	diskFunctions  = []string{"io_schedule", "blk_mq_get_tag", "submit_bio_wait", "__iomap_dio_rw",
		"folio_wait_bit_common"}
)

// syncCalls force data to disk.
var syncCalls = map[string]bool{"fsync": true, "fdatasync": true, "msync": true, "sync": true, "syncfs": true,
	"sync_file_range": true}

// syncsOf finds the processes whose calls that force data to disk take most of the time that their
// requests wait for files. Waits too short to be kept whole have no call: a sync takes half a
// millisecond on a fast disk.
func syncsOf(rec *recording.Recording) map[int32]bool {
	waited, synced := map[int32]int64{}, map[int32]int64{}
	for i := range rec.Requests {
		if row := &rec.Requests[i]; row.Side == recording.SideServer {
			waited[row.Pid] += row.DiskNs
		}
	}
	for i := range rec.Syscalls {
		if call := &rec.Syscalls[i]; syncCalls[call.Name] {
			synced[call.Pid] += call.TotalNs
		}
	}
	syncs := map[int32]bool{}
	for pid, ns := range waited {
		syncs[pid] = ns > 0 && synced[pid] > ns/2
	}
	return syncs
}

// file: uninterruptible in a system call, or asleep in a page fault. Memory is reclaimed, and a
// writer is stopped, for whoever asks; what else a sync waits for is the sync's.
func (r *reader) file(part *recording.RequestPart, frames []recording.Frame, b bucket) bucket {
	stall, _ := cause.StallOf(frames, r.stack(part.WakerStack))
	switch {
	case stall == cause.MemoryReclaim || stall == cause.FileDirtyThrottle:
		b.cause = stall
	case syncCalls[part.Syscall] || inKernel(frames, syncFunctions):
		b.cause = cause.FileSync
	case inKernel(frames, limitFunctions):
		b.cause = cause.DiskThrottled
	case stall != "":
		b.cause = stall
	case inKernel(frames, diskFunctions):
		b.cause = cause.DiskSlow
	}
	return b
}

func inKernel(frames []recording.Frame, names []string) bool {
	for i := range frames {
		if frames[i].Kind != recording.KindKernel {
			continue
		}
		for _, name := range names {
			if strings.HasPrefix(frames[i].Name, name) {
				return true
			}
		}
	}
	return false
}
