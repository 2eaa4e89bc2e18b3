/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The arguments of sched_switch, which differ between kernels. */
#pragma once

#include "kernel.h"

/* Kernels before 5.18 do not pass the state that the task left with (commit fa2c3254d7cf): there
 * it is read from the task, where a waking at the same moment may have changed it. */
const volatile __u32 switch_shows_state = 1;

static __always_inline bool was_preempted(unsigned long long *ctx) { return ctx[0]; }
static __always_inline struct task_struct *who_left(unsigned long long *ctx) { return (void *)ctx[1]; }
static __always_inline struct task_struct *who_came(unsigned long long *ctx) { return (void *)ctx[2]; }
static __always_inline unsigned int left_with_state(unsigned long long *ctx)
{
	return switch_shows_state ? (unsigned int)ctx[3] : who_left(ctx)->__state;
}
