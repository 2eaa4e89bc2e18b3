/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The hop behind a wait: what the waker had itself just waited for.
 *
 * Of the target's own tasks the last sleep stands in their state. Of others (a journal's thread,
 * a worker of the kernel, a server on the other side of a socket) it is kept only once they have
 * woken the target, and until they have not for a while: strangers cost nothing. The first wait
 * that a helper ends has therefore no hop, but for the kernel threads of the journals, which are
 * watched from the beginning. */
#pragma once

#include "stacks.h"

#define TASK_NOLOAD 0x400 /* include/linux/sched.h: a worker that waits for work */
#define WATCHED_NS 86400000000000ull /* a day */
#define HELPS_NS 10000000000ull /* a helper that woke nobody for so long is none any more */

struct helper {
	__u64 off_start; /* went to sleep; 0 while it is awake */
	__u64 woken;
	__u64 used;      /* woke the target last, or is watched at least until */
	__u64 skip;      /* so many of its next wakings by the same thread go unseen, of short sleeps */
	struct sleep last_sleep;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct helper);
} helpers SEC(".maps");

static __always_inline struct helper *helper_of(struct task_struct *task)
{
	return task->bpf_storage ? bpf_task_storage_get(&helpers, task, 0, 0) : 0;
}

static __always_inline struct helper *make_helper(struct task_struct *task, __u64 now)
{
	struct helper *helper = bpf_task_storage_get(&helpers, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!helper)
		count_loss(LOST_HELPERS);
	else if ((__s64)(now - helper->used) > 0)
		helper->used = now;
	return helper;
}

/* The kernel's own threads, and whoever is in a system call: an interrupt may have come to the
 * others. */
static __always_inline bool can_help(struct task_struct *waker)
{
	if (!waker->pid)
		return false;
	if (waker->flags & PF_KTHREAD)
		return true;
	struct pt_regs___culprit *regs = (void *)bpf_task_pt_regs(waker);
	return regs && call_in_progress(regs) >= 0;
}

static __always_inline void helper_left_cpu(struct task_struct *task, struct helper *helper,
					    unsigned int task_state, __u64 now)
{
	if ((__s64)(now - helper->used) > (__s64)HELPS_NS) {
		bpf_task_storage_delete(&helpers, task);
		return;
	}
	helper->off_start = task_state && !(task_state & (TASK_NOLOAD | TASK_DEAD)) ? now : 0;
	helper->woken = 0;
}

static __always_inline void helper_got_cpu(struct task_struct *task, struct helper *helper)
{
	__u64 slept_ns = helper->woken - helper->off_start;
	if (helper->off_start && helper->woken > helper->off_start && slept_ns >= long_ns) {
		helper->last_sleep.woken = helper->woken;
		helper->last_sleep.slept_ns = slept_ns;
		helper->last_sleep.stack = stack_of_sleeper(task);
	}
	helper->off_start = 0;
}

/* The stack of who is running, which wakes somebody. */
static __always_inline __s32 stack_of_waker(void *ctx)
{
	__u32 slot = 0;
	struct stack_buffer *buffer = bpf_map_lookup_elem(&scratch, &slot);
	return buffer ? keep_stack(buffer, bpf_get_stack(ctx, buffer, sizeof(*buffer), 3)) : -1;
}

static __always_inline void helper_woken(void *ctx, struct task_struct *waker, struct helper *helper)
{
	__u64 now = bpf_ktime_get_ns();
	helper->woken = now;
	__u64 slept_ns = now - helper->off_start;
	if (slept_ns < long_ns)
		return;
	/* Of this stack only matters whether a timer, an interrupt or a thread woke: for the most part
	 * as the last time. */
	if (slept_ns < wait_ns && helper->skip && helper->last_sleep.waker_tid == waker->pid) {
		helper->skip--;
		return;
	}
	helper->skip = draw_skip();
	helper->last_sleep.waker_tid = waker->pid;
	helper->last_sleep.waker_stack = stack_of_waker(ctx);
	bpf_probe_read_kernel(helper->last_sleep.waker_comm, 16, waker->comm);
}

/* Remembers with a task of the target that is being woken what its waker has waited for
 * meanwhile. */
static __always_inline void remember_hop(struct task_struct *waker, struct task_state *state)
{
	struct task_state *waker_state = state_of(waker);
	struct sleep *behind = 0;
	if (waker_state) {
		behind = &waker_state->last_sleep;
	} else if (can_help(waker)) {
		struct helper *helper = make_helper(waker, state->woken);
		if (helper)
			behind = &helper->last_sleep;
	}
	if (!behind || behind->woken < state->off_start)
		return;
	state->hop = *behind;
	state->hopped = 1;
}

/* At the beginning of a window: who commits for others is watched before its first commit. */
static __always_inline void watch_journal(struct task_struct *task)
{
	char comm[4] = {};
	if (!(task->flags & PF_KTHREAD))
		return;
	bpf_probe_read_kernel(comm, sizeof(comm), task->comm);
	if (comm[0] == 'j' && comm[1] == 'b' && comm[2] == 'd' && comm[3] == '2')
		make_helper(task, bpf_ktime_get_ns() + WATCHED_NS);
}
