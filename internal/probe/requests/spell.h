/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the thread that answers waited for, from when it took a request up to its last byte. */
#pragma once

#include "turn.h"

/* Of a task in a call on a socket that is known: it is a target's, mostly. */
static __always_inline struct task_state *known_state_of(struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	return state || !whole_host ? state : state_of(task);
}

static __always_inline void took_up(struct turn *turn, struct task_state *state)
{
	for (int i = 0; i < WAIT_CLASSES; i++)
		turn->base_ns[i] = state->spent_ns[i];
	turn->base_downstream_ns = state->downstream_ns;
	turn->era = era;
}

/* When the thread that answers took the request up: before, it sleeps for want of work or answers
 * another. A sleep that the request fell into was for want of work; a later one is its own. */
static __noinline int took_up_elsewhere(struct turn *turn, struct task_state *state)
{
	for (int i = 0; i < WAIT_CLASSES; i++)
		turn->base_ns[i] = state->answered_spent_ns[i];
	turn->base_downstream_ns = state->answered_downstream_ns;
	turn->on_worker = 0;
	turn->era = era;
	if (state->answered >= turn->first_recv) {
		turn->on_worker = state->answered;
		return 0;
	}
	for (int i = 0; i < STAYS; i++) {
		struct stay *stay = &state->stays[i];
		__u64 to = stay->from + stay->slept_ns + stay->queued_ns;
		if (i >= state->stay_count || stay->from > turn->first_recv)
			return 0;
		if (stay->class < WAIT_CLASSES)
			turn->base_ns[stay->class] += stay->slept_ns;
		turn->base_ns[QUEUED] += stay->queued_ns;
		if (to > turn->first_recv) {
			turn->on_worker = to;
			return 0;
		}
	}
	return 0;
}

static __always_inline void answered(struct turn *turn, struct task_state *state, __u64 now)
{
	for (int i = 0; i < WAIT_CLASSES; i++) {
		turn->used_ns[i] = state->spent_ns[i] - turn->base_ns[i];
		state->answered_spent_ns[i] = state->spent_ns[i];
	}
	turn->used_downstream_ns = state->downstream_ns - turn->base_downstream_ns;
	turn->followed = turn->era == era && (turn->reader == turn->writer || turn->on_worker);
	turn->downstream = state->downstream_service;
	state->answered = now;
	state->answered_downstream_ns = state->downstream_ns;
	state->stay_count = 0;
}
