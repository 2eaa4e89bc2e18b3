/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a thread waited for, summed up at each switch-in by what the system call that it was in
 * is for. The probe of requests takes the sums at a request's two ends. */
#pragma once

#include "task.h"

#define TASK_UNINTERRUPTIBLE 2 /* include/linux/sched.h */
#define CLASSED_CALLS 512      /* the numbers of all machines are below it */

/* By the number of the call; the others are OTHERWISE. */
static const __u8 class_of_call[CLASSED_CALLS] = {
	[CALL_FUTEX] = LOCKED, [CALL_FUTEX_WAITV] = LOCKED, [CALL_FUTEX_WAIT] = LOCKED,
	[CALL_NANOSLEEP] = NAPPED, [CALL_CLOCK_NANOSLEEP] = NAPPED,
	[CALL_READ] = ON_NET, [CALL_WRITE] = ON_NET, [CALL_READV] = ON_NET, [CALL_WRITEV] = ON_NET,
	[CALL_CONNECT] = ON_NET, [CALL_ACCEPT] = ON_NET, [CALL_SENDTO] = ON_NET, [CALL_RECVFROM] = ON_NET,
	[CALL_SENDMSG] = ON_NET, [CALL_RECVMSG] = ON_NET, [CALL_ACCEPT4] = ON_NET, [CALL_RECVMMSG] = ON_NET,
	[CALL_SENDMMSG] = ON_NET, [CALL_PSELECT6] = ON_NET, [CALL_PPOLL] = ON_NET, [CALL_EPOLL_PWAIT] = ON_NET,
	[CALL_IO_URING_ENTER] = ON_NET, [CALL_EPOLL_PWAIT2] = ON_NET,
#ifdef CALL_POLL
	[CALL_POLL] = ON_NET, [CALL_SELECT] = ON_NET, [CALL_EPOLL_WAIT] = ON_NET,
#endif
};

static __always_inline __u32 class_of_sleep(struct task_state *state)
{
	__s32 call = state->off_call;
	if (call < 0)
		return FAULTED;
	if (state->state & TASK_UNINTERRUPTIBLE)
		return ON_DISK;
	__u32 class = call < CLASSED_CALLS ? class_of_call[call] : OTHERWISE;
	return class == LOCKED && state->timed ? NAPPED : class; /* Java's and Python's sleeps are waits for a futex */
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
