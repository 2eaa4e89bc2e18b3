//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* On-CPU samples: of the target, handed to the unwinder; of everybody else, counted per process. */
#include "../bpf/task.h"
#include "operands.h"

enum loss { LOST_PROCESSES = 0, LOST_UNWINDER = 1, LOST_OPERANDS = 2 };

const struct operand *keep_operand_in_btf __attribute__((unused));

/* Samples of one process, of the target or not, unwound or not. */
struct tally {
	__u64 samples;
	__u32 target, unused;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct tally);
} taken SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} unwinder SEC(".maps");

/* The name is that of the latest sample: a process that executes another program goes by that. */
static __always_inline void count_known(struct tally *known, struct task_struct *task)
{
	__sync_fetch_and_add(&known->samples, 1);
	bpf_probe_read_kernel(known->comm, sizeof(known->comm), task->group_leader->comm);
}

static __always_inline void count_sample(struct task_struct *task, __u32 target)
{
	__u32 tgid = task->tgid;
	struct tally first = {.target = target};
	struct tally *known = bpf_map_lookup_elem(&taken, &tgid);
	if (!known) {
		bpf_map_update_elem(&taken, &tgid, &first, BPF_NOEXIST); /* another CPU may be first */
		known = bpf_map_lookup_elem(&taken, &tgid);
	}
	if (known)
		count_known(known, task);
	else
		count_loss(LOST_PROCESSES);
}

SEC("perf_event")
int sample_cpu(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	if (!task->tgid) /* idle */
		return 0;
	if (!state_of(task)) {
		count_sample(task, 0);
		return 0;
	}
	count_sample(task, 1);
	if (!keep_operand(ctx, task, 0))
		count_loss(LOST_OPERANDS);
	bpf_tail_call(ctx, &unwinder, 0);
	count_loss(LOST_UNWINDER);
	return 0;
}

/* An access to memory that the processor itself has sampled, with its address. */
SEC("perf_event")
int sample_memory(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	if (!task->tgid || !ctx->addr || !state_of(task))
		return 0;
	if (!keep_operand(ctx, task, ctx->addr))
		count_loss(LOST_OPERANDS);
	return 0;
}
