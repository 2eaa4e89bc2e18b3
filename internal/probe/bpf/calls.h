/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the scheduler's hooks tell of the system call in progress; the hooks on system calls read
 * it.
 *
 * Of calls that come again and again and are quick, only some are timed at their entry (see
 * syscalls.bpf.c). One that turns out to block is timed from its first sleep: that far it was
 * quick. */
#pragma once

#include "spent.h"

#define ASLEEP 3 /* TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE: a sleep within a call, not a stop on its way out */

static __always_inline void begin_call(struct task_state *state, __s32 call, __u64 now)
{
	state->call = call;
	state->call_start = now;
	state->call_slept = 0;
	state->call_queued = 0;
	state->call_longest = 0;
	state->call_waits = 0;
}

/* At a switch-out, in a call or in none (-1). */
static __always_inline void call_left_cpu(struct task_state *state, __s32 call, __u64 now)
{
	if (call >= 0 && !state->call_start && (state->state & ASLEEP))
		begin_call(state, call, now);
}

/* At the switch-in. */
static __always_inline void call_got_cpu(struct task_state *state, __u64 slept_ns, __u64 queued_ns)
{
	spend(state, slept_ns, queued_ns);
	state->call_slept += slept_ns;
	state->call_queued += queued_ns;
	state->call_waits += slept_ns > 0;
	if (slept_ns > state->call_longest)
		state->call_longest = slept_ns;
}
