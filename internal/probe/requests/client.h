/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the target asks of others, seen from its end of the connection. */
#pragma once

#include "look.h"

/* The sleep of a thread since it asked another service was for its answer. */
static __always_inline void was_for(const struct turn *turn, struct task_state *state)
{
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
}

/* The answer of another service, or a part of it. */
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
	if (state && turn->writer == task->pid)
		was_for(turn, state);
	if (turn->datagrams && --turn->questions == 0)
		finish_client(turn); /* nothing tells when such a socket is closed */
	return 0;
}

/* Who is not answered asks the same again, some seconds later (glibc 5, musl 2.5, c-ares 2), or
 * gives up. */
#define AGAIN_NS 500000000
#define GAVE_UP_NS 15000000000ull

static __always_inline void one_more_question(struct turn *turn, __u64 now)
{
	if (now - turn->asked > AGAIN_NS)
		turn->questions = 0;
	if (now - turn->asked > GAVE_UP_NS)
		turn->begin = turn->first_recv = 0;
	turn->questions += 1;
	turn->asked = now;
}

/* Returns whether a request begins. */
static __noinline int client_sent(struct turn *turn, struct task_struct *task, int sent)
{
	struct task_state *state = state_of(task);
	bool begins = false;
	if (turn->datagrams)
		one_more_question(turn, bpf_ktime_get_ns());
	else if (turn->first_recv)
		finish_client(turn);
	turn->writer = task->pid;
	if (state)
		turn->base_ns[ON_NET] = state->spent_ns[ON_NET];
	if (!turn->begin) {
		begins = true;
		turn->begin = bpf_ktime_get_ns();
		turn->head_length = 0;
		turn->head = 0;
		if (turn->datagrams)
			turn->kind = find_kind(turn->service, 0);
		else
			look(turn, task, sent);
	}
	turn->out += sent;
	return begins;
}
