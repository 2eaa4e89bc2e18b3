/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the target asks of others, seen from its end of the connection. */
#pragma once

#include "look.h"

/* The answer of another service: the sleep of the thread since it asked was for it. */
static __noinline int client_received(struct turn *turn, struct task_struct *task, int received)
{
	struct task_state *state = state_of(task);
	__u64 now = bpf_ktime_get_ns();
	if (!turn->begin)
		return 0;
	turn->last_recv = turn->ready ? turn->ready : now;
	if (!turn->first_recv)
		turn->first_recv = turn->last_recv;
	turn->in += received;
	if (!state || turn->writer != task->pid)
		return 0;
	__u64 from = turn->base_ns[ON_NET];
	if (state->downstream_until_ns > from)
		from = state->downstream_until_ns; /* another answer has had that sleep */
	__u64 slept_ns = state->spent_ns[ON_NET] > from ? state->spent_ns[ON_NET] - from : 0;
	state->downstream_ns += slept_ns;
	state->downstream_until_ns = state->spent_ns[ON_NET];
	if (slept_ns > state->downstream_most_ns) {
		state->downstream_most_ns = slept_ns;
		state->downstream_service = turn->service;
	}
	return 0;
}

/* Returns whether a request begins. */
static __noinline int client_sent(struct turn *turn, struct task_struct *task, int sent)
{
	struct task_state *state = state_of(task);
	bool begins = false;
	if (turn->first_recv)
		finish_client(turn);
	turn->writer = task->pid;
	if (state)
		turn->base_ns[ON_NET] = state->spent_ns[ON_NET];
	if (!turn->begin) {
		begins = true;
		turn->begin = bpf_ktime_get_ns();
		turn->head_length = 0;
		turn->head = 0;
		look(turn, task, sent);
	}
	turn->out += sent;
	return begins;
}
