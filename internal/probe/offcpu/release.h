/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Who ends a wait for a futex. */
#pragma once

#include "stacks.h"

/* Whoever ends a long wait for a futex is about to return from its release: where to, the
 * unwinder tells. */
static __always_inline void show_release(struct task_struct *waker, __u64 now)
{
	struct task_state *state = by_breakpoint ? state_of(waker) : 0;
	if (!state || !pay(1, now, RELEASE_EVERY_NS))
		return;
	state->releasing = 1;
	unwind_trigger = now;
	state->releasing = 0; /* the breakpoint may have been lost to a debugger */
}

/* Who wakes in an interrupt, a timer's, is whoever runs there. A thread that ends a wait for a
 * futex releases it, or exits. */
static __always_inline bool releases(struct task_struct *waker)
{
	struct pt_regs___culprit *regs = (void *)bpf_task_pt_regs(waker);
	long call = call_in_progress(regs);
	return call == CALL_FUTEX || call == CALL_FUTEX_WAKE || call == CALL_FUTEX_REQUEUE ||
	       (waker->flags & PF_EXITING);
}
