//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Page faults and reclaim of the target. The kernel counts faults exactly per
 * thread; this samples their stacks, and times the reclaim that the target's own
 * threads have to do. */
#include "../bpf/edge.h"
#include "../bpf/member.h"

#define UNWIND_EVERY_NS 4000000ull /* one unwinding in this time per CPU … */
#define UNWIND_BURST 64            /* … but so many at once */

enum loss { LOST_SAMPLES = 0, LOST_ACCOUNTS = 1, LOST_UNWINDER = 2 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct___faults {
	unsigned long min_flt, maj_flt;
};

#pragma clang attribute pop

/* A fault whose stack is being unwound. */
struct sample {
	__u64 time;
	__u32 tgid, tid, major;
	__u32 weight; /* how many it stands for: those before it that were over the budget, too */
};
const struct sample *keep_sample_in_btf __attribute__((unused));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} unwinder SEC(".maps");

struct budget {
	__u64 paid;         /* unwindings are paid for up to this time */
	__u32 skipped, tid; /* samples of that thread that were over the budget */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct budget);
} budgets SEC(".maps");

/* What a thread had when the window began: none of one that was born in it. */
struct before {
	__u64 minor, major;
	__u64 reclaims_since; /* 0: does not */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct before);
} befores SEC(".maps");

/* The faults of the window, of threads that have ended in it. */
struct total {
	__u64 minor, major;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32); /* tgid */
	__type(value, struct total);
} ended SEC(".maps");

/* The same of a thread that is there, shown by the walk at the window's end. */
struct remaining {
	__u32 tgid, tid;
	struct total total;
};
const struct remaining *keep_remaining_in_btf __attribute__((unused));

struct reclaim_key {
	__u32 tgid, tid, group, unused; /* group: for a memory cgroup's limit, else for the host's memory */
};

struct reclaim {
	__u64 count, total_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct reclaim_key);
	__type(value, struct reclaim);
} reclaims SEC(".maps");

/* Takes a token of this CPU's bucket: how many faults the one that is taken stands for, 0 when
 * there is none. */
static __always_inline __u32 take_token(__u32 tid, __u64 now)
{
	__u32 zero = 0;
	struct budget *budget = bpf_map_lookup_elem(&budgets, &zero);
	if (!budget)
		return 0;
	__u32 skipped = budget->tid == tid ? budget->skipped : 0;
	budget->tid = tid;
	if (budget->paid > now) {
		budget->skipped = skipped + 1;
		return 0;
	}
	__u64 oldest = now - UNWIND_BURST * UNWIND_EVERY_NS;
	budget->paid = (budget->paid < oldest ? oldest : budget->paid) + UNWIND_EVERY_NS;
	budget->skipped = 0;
	return skipped + 1;
}

static __always_inline void sample(void *ctx, __u32 major)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_ns();
	if (!is_target(task) || !within_window(now))
		return;
	__u32 weight = take_token(task->pid, now);
	if (!weight)
		return;
	struct sample *sample = bpf_ringbuf_reserve(&samples, sizeof(*sample), 0);
	if (!sample) {
		count_loss(LOST_SAMPLES);
		return;
	}
	sample->time = now;
	sample->tgid = task->tgid;
	sample->tid = task->pid;
	sample->major = major;
	sample->weight = weight;
	bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
	bpf_tail_call(ctx, &unwinder, 0);
	count_loss(LOST_UNWINDER);
}

SEC("perf_event")
int sample_minor(struct bpf_perf_event_data *ctx)
{
	sample(ctx, 0);
	return 0;
}

SEC("perf_event")
int sample_major(struct bpf_perf_event_data *ctx)
{
	sample(ctx, 1);
	return 0;
}

/* What a thread faulted since the window began. */
static __always_inline struct total faults_of(struct task_struct *task)
{
	struct task_struct___faults *counts = (void *)task;
	struct before *before = bpf_task_storage_get(&befores, task, 0, 0);
	struct total total = {.minor = counts->min_flt, .major = counts->maj_flt};
	if (before) {
		total.minor -= before->minor;
		total.major -= before->major;
	}
	return total;
}

SEC("tp_btf/sched_process_exit")
int thread_ends(unsigned long long *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	if (!within_window(bpf_ktime_get_ns()) || !is_target(task))
		return 0;
	struct total total = faults_of(task);
	__u32 tgid = task->tgid;
	struct total *known = bpf_map_lookup_elem(&ended, &tgid);
	if (known) {
		__sync_fetch_and_add(&known->minor, total.minor);
		__sync_fetch_and_add(&known->major, total.major);
	} else if (bpf_map_update_elem(&ended, &tgid, &total, BPF_ANY)) {
		count_loss(LOST_ACCOUNTS);
	}
	return 0;
}

static __always_inline void reclaim_begins(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_ns();
	if (!within_window(now) || !is_target(task))
		return;
	struct before *before = bpf_task_storage_get(&befores, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (before)
		before->reclaims_since = now;
	else
		count_loss(LOST_ACCOUNTS);
}

static __always_inline void reclaim_ends(__u32 group)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct before *before = bpf_task_storage_get(&befores, task, 0, 0);
	if (!before || !before->reclaims_since)
		return;
	struct reclaim_key key = {.tgid = task->tgid, .tid = task->pid, .group = group};
	struct reclaim first = {.count = 1, .total_ns = bpf_ktime_get_ns() - before->reclaims_since};
	bool counts = within_window(before->reclaims_since);
	before->reclaims_since = 0;
	if (!counts)
		return;
	struct reclaim *known = bpf_map_lookup_elem(&reclaims, &key);
	if (known) {
		known->count += 1; /* of one thread: nobody else writes */
		known->total_ns += first.total_ns;
	} else if (bpf_map_update_elem(&reclaims, &key, &first, BPF_ANY)) {
		count_loss(LOST_ACCOUNTS);
	}
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int group_reclaim_begins(unsigned long long *ctx) { reclaim_begins(); return 0; }

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int group_reclaim_ends(unsigned long long *ctx) { reclaim_ends(1); return 0; }

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int direct_reclaim_begins(unsigned long long *ctx) { reclaim_begins(); return 0; }

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int direct_reclaim_ends(unsigned long long *ctx) { reclaim_ends(0); return 0; }

/* The two walks over all threads of the host, started from user space. */

SEC("iter/task")
int window_begins(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_struct___faults *counts = (void *)task;
	if (!task || task->exit_state || !is_target(task))
		return 0;
	struct before *before = bpf_task_storage_get(&befores, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!before) {
		count_loss(LOST_ACCOUNTS);
		return 0;
	}
	before->minor = counts->min_flt;
	before->major = counts->maj_flt;
	before->reclaims_since = 0;
	return 0;
}

SEC("iter/task")
int window_ends(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	if (!task || task->exit_state || !is_target(task))
		return 0;
	struct remaining remaining = {.tgid = task->tgid, .tid = task->pid, .total = faults_of(task)};
	bpf_seq_write(ctx->meta->seq, &remaining, sizeof(remaining));
	return 0;
}
