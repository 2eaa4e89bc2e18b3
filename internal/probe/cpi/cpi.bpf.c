//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Samples of the target by cycles and by instructions: every so many of them its stack is taken. */
#include "../bpf/member.h"
#include "../bpf/sampled.h"

enum loss { LOST_SAMPLES = 0, LOST_UNWINDER = 1 };

/* A sample whose stack is being unwound. */
struct sample {
	__u64 time;
	__u64 period; /* how many it stands for */
	__u32 tgid, tid;
	__u32 instructions; /* of these, else of cycles */
	__u32 unused;
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

static __always_inline void sample(struct bpf_perf_event_data *ctx, __u32 instructions)
{
	struct task_struct *task = bpf_get_current_task_btf();
	if (!task->tgid || !is_target(task)) /* idle, or another's */
		return;
	struct sample *sample = bpf_ringbuf_reserve(&samples, sizeof(*sample), 0);
	if (!sample) {
		count_loss(LOST_SAMPLES);
		return;
	}
	sample->time = bpf_ktime_get_ns();
	sample->period = ctx->sample_period;
	sample->tgid = task->tgid;
	sample->tid = task->pid;
	sample->instructions = instructions;
	sample->unused = 0;
	bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
	bpf_tail_call(ctx, &unwinder, 0);
	count_loss(LOST_UNWINDER);
}

SEC("perf_event")
int sample_cycles(struct bpf_perf_event_data *ctx)
{
	sample(ctx, 0);
	return 0;
}

SEC("perf_event")
int sample_instructions(struct bpf_perf_event_data *ctx)
{
	sample(ctx, 1);
	return 0;
}
