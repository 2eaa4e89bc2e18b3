/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a thread waited for, summed up at each switch-in by what the system call that it was in is for. The probe of
 * requests takes the sums at a request's two ends. */
#pragma once

#include "task.h"

#define TASK_UNINTERRUPTIBLE 2 /* include/linux/sched.h */
#define CLASSED_CALLS 512      /* x86-64 has numbers below it */

/* By the number of the call, of x86-64; the others are OTHERWISE. */
static const __u8 class_of_call[CLASSED_CALLS] = {
	[202] = LOCKED, [449] = LOCKED, [455] = LOCKED, /* futex, futex_waitv, futex_wait */
	[35] = NAPPED, [230] = NAPPED,                  /* nanosleep, clock_nanosleep */
	/* read, write, readv, writev, connect, accept, sendto, recvfrom, sendmsg, recvmsg, accept4, recvmmsg, sendmmsg */
	[0] = ON_NET, [1] = ON_NET, [19] = ON_NET, [20] = ON_NET, [42] = ON_NET, [43] = ON_NET, [44] = ON_NET,
	[45] = ON_NET, [46] = ON_NET, [47] = ON_NET, [288] = ON_NET, [299] = ON_NET, [307] = ON_NET,
	/* poll, select, epoll_wait, pselect6, ppoll, epoll_pwait, io_uring_enter, epoll_pwait2 */
	[7] = ON_NET, [23] = ON_NET, [232] = ON_NET, [270] = ON_NET, [271] = ON_NET, [281] = ON_NET, [426] = ON_NET,
	[441] = ON_NET,
};

static __always_inline __u32 class_of_sleep(struct task_state *state)
{
	__s32 call = state->off_call;
	if (call < 0)
		return FAULTED;
	if (state->state & TASK_UNINTERRUPTIBLE)
		return ON_DISK;
	return call < CLASSED_CALLS ? class_of_call[call] : OTHERWISE;
}

static __always_inline void spend(struct task_state *state, __u64 slept_ns, __u64 queued_ns)
{
	__u32 class = slept_ns ? class_of_sleep(state) : QUEUED;
	state->spent_ns[QUEUED] += queued_ns;
	if (slept_ns && class < WAIT_CLASSES)
		state->spent_ns[class] += slept_ns;
	__u32 i = state->stay_count;
	if (i < STAYS && slept_ns) {
		struct stay *stay = &state->stays[i];
		stay->from = state->off_start;
		stay->slept_ns = slept_ns;
		stay->queued_ns = queued_ns;
		stay->class = class;
		state->stay_count = i + 1;
	}
}
