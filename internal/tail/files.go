package tail

import (
	"strings"

	"culprit/internal/cause"
	"culprit/recording"
)

// syncFunctions are the kernel's that force data to disk.
var syncFunctions = []string{"vfs_fsync_range", "__x64_sys_fsync", "__x64_sys_fdatasync", "do_fsync",
	"file_write_and_wait_range", "__x64_sys_msync", "ksys_sync", "__do_sys_syncfs"}

// fileRules say by the kernel's functions what a thread sleeps for, the most specific first.
var fileRules = []struct {
	names []string
	cause cause.ID
}{
	{[]string{"balance_dirty_pages"}, cause.FileDirtyThrottle},
	{[]string{"reclaim_throttle", "shrink_folio_list", "try_charge_memcg", "try_to_free_mem_cgroup_pages",
		"mem_cgroup_handle_over_high"}, cause.MemoryReclaim},
	{[]string{"do_get_write_access", "wait_transaction_locked", "add_transaction_credits"}, cause.FileJournal},
	{syncFunctions, cause.FileSync},
	{[]string{"jbd2_log_wait_commit"}, cause.FileJournal},
	{[]string{"blk_throtl", "rq_qos_throttle", "__rq_qos_throttle", "blkcg_maybe_throttle"}, cause.DiskThrottled},
	{[]string{"rwsem_down_write_slowpath"}, cause.FileInodeLock},
	{[]string{"filemap_fault", "filemap_read", "page_cache_ra", "folio_wait_bit_common", "swap_read"},
		cause.MemoryPageIn},
	{[]string{"folio_wait_writeback", "__filemap_get_folio"}, cause.FileWriteback},
	{[]string{"io_schedule", "blk_mq_get_tag", "submit_bio_wait", "__iomap_dio_rw"}, cause.DiskSlow},
}

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

// file: uninterruptible in a system call, or asleep in a page fault.
func (r *reader) file(part *recording.RequestPart, frames []recording.Frame, b bucket) bucket {
	if syncCalls[part.Syscall] {
		b.cause = cause.FileSync
		return b
	}
	for _, rule := range fileRules {
		if inKernel(frames, rule.names) {
			b.cause = rule.cause
			return b
		}
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
