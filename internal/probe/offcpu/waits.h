/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Stays off the CPU that are kept whole: the event and how it is filled. */
#pragma once

#include "stacks.h"

struct wait_event {
	__u64 start, blocked_ns, runqueue_ns, object;
	__u32 tgid, tid;
	__s32 call, stack, waker_stack;
	__u32 state;
	__u32 waker_tgid, waker_tid;
	__u32 runner_tgid, signature;
	__u32 sampled, weight;
	__u32 waker_kernel, still; /* still: off the CPU when the window ended */
	char waker_comm[16], runner_comm[16];
	struct sleep hop;
};
const struct wait_event *keep_wait_event_in_btf __attribute__((unused));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} waits SEC(".maps");

/* The system call that a task that is off the CPU is in, -1 when none: an interrupt or a fault
 * leaves -1. Read here, not by a hook on system calls: also calls from before the window count. */
static __always_inline __s32 call_of(struct task_struct *task, __u64 *object)
{
	struct pt_regs___culprit *regs = (void *)bpf_task_pt_regs(task);
	*object = 0;
	if ((task->flags & PF_KTHREAD) || !regs || call_in_progress(regs) < 0)
		return -1;
	*object = first_argument(regs);
	return call_in_progress(regs);
}

static __always_inline void fill_wait(struct wait_event *event, struct task_struct *task,
				      struct task_state *state, __u64 woken, __u64 now)
{
	event->start = state->off_start;
	event->blocked_ns = woken - state->off_start;
	event->runqueue_ns = now - woken;
	event->tgid = task->tgid;
	event->tid = task->pid;
	event->waker_stack = state->waker_stack;
	event->state = state->state;
	event->waker_tgid = state->waker_tgid;
	event->waker_tid = state->waker_tid;
	event->signature = state->signature;
	event->sampled = state->sampled;
	event->weight = state->weight;
	event->waker_kernel = state->waker_kernel;
	event->runner_tgid = 0;
	event->still = 0;
	__builtin_memcpy(event->waker_comm, state->waker_comm, 16);
	event->hop = state->hop;
	if (!state->hopped)
		event->hop.woken = 0;
}

static __always_inline void keep_wait(struct task_struct *task, struct task_struct *runner,
				      struct task_state *state, __s32 stack, __u64 object, __u64 woken, __u64 now)
{
	struct wait_event *event = bpf_ringbuf_reserve(&waits, sizeof(*event), 0);
	if (!event) {
		count_loss(LOST_WAITS);
		return;
	}
	fill_wait(event, task, state, woken, now);
	event->stack = stack;
	event->call = state->off_call;
	event->object = object;
	event->runner_comm[0] = 0;
	if (runner) {
		event->runner_tgid = runner->tgid;
		bpf_probe_read_kernel(event->runner_comm, 16, runner->comm);
	}
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}
