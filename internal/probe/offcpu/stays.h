/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where the time off the CPU is added up: totals per place, the rhythm of each place, the futexes.
 *
 * A place is a thread, a system call, a state and the signature of the user stack; with the
 * kernel stack it is the key of the totals. Stays without one, the short and the unseen
 * (stacks.h), are first added up in the task's own state: a thread that blocks again and again
 * at the same few places touches no map. They are moved to the maps when another place needs
 * their room, when the task ends and when the window does. */
#pragma once

#include "stacks.h"

#define INTERVALS 32        /* kept of one place */
#define INTERVAL_UNIT_NS 16 /* so that 32 bits hold a minute */

struct total_key {
	__u32 tgid, tid;
	__s32 stack, call;
	__u32 state, signature;
};

struct total {
	__u64 count, ns;
	__u64 looked_ns; /* of ns what was looked at for others too: by this the unseen time of the place is shared out */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768);
	__type(key, struct total_key);
	__type(value, struct total);
} totals SEC(".maps");

/* The time of a process whose places did not fit: all of it, without a stack. A host that starts
 * processes all the time has more places than any map. */
struct rest {
	__u64 count, ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768);
	__type(key, __u32); /* tgid */
	__type(value, struct rest);
} rests SEC(".maps");

__u64 unkept = 0; /* stays of processes that fit nowhere */

/* How often a thread was woken out of its sleeps at one place, whatever the kernel did there
 * meanwhile: of the key only thread, call and signature count. */
struct rhythm {
	__u64 last;     /* wake-up */
	__u64 count;    /* of sleeps but the first */
	__u64 seen;     /* of them those whose interval was offered to the sample */
	__u64 awake_ns; /* run before these sleeps, each since the sleep before */
	__u32 interval[INTERVALS];  /* a fair sample of all, in INTERVAL_UNIT_NS */
	__s32 waker_stack[4];       /* of the latest wakings */
	__s32 stack;                /* of the latest sleep */
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, struct total_key);
	__type(value, struct rhythm);
} rhythms SEC(".maps");

struct futex_key {
	__u64 address;
	__u32 tgid, tid; /* of the waiter */
};

struct futex {
	__u64 count, ns, max_ns;
	__s32 stack;     /* of the longest wait */
	__u32 signature;
	__u32 waker_tgid, waker_tid; /* who ended most of the waits: a majority vote (Boyer and Moore 1981) */
	__s32 waker_stack;
	__u32 votes;
	char waker_comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, struct futex_key);
	__type(value, struct futex);
} futexes SEC(".maps");

static __always_inline bool is_futex(__s32 call) { return call == CALL_FUTEX || call == CALL_FUTEX_WAIT; }

static const struct rest no_rest;
static const struct rhythm no_rhythm;
static const struct futex no_futex;

/* Its threads run on several CPUs at once. */
static __always_inline void add_rest(__u32 tgid, __u64 count, __u64 off_ns)
{
	struct rest *rest = bpf_map_lookup_elem(&rests, &tgid);
	count_loss(LOST_TOTALS);
	if (!rest) {
		bpf_map_update_elem(&rests, &tgid, &no_rest, BPF_NOEXIST);
		rest = bpf_map_lookup_elem(&rests, &tgid);
	}
	if (!rest) {
		__sync_fetch_and_add(&unkept, count);
		return;
	}
	__sync_fetch_and_add(&rest->count, count);
	__sync_fetch_and_add(&rest->ns, off_ns);
}

__noinline int add_total(struct total_key *of, __u64 count, __u64 off_ns, __u64 looked_ns)
{
	struct total first = {.count = count, .ns = off_ns, .looked_ns = looked_ns};
	if (!of)
		return 0;
	struct total_key key = *of; /* 6.1 takes no key from an argument */
	struct total *known = bpf_map_lookup_elem(&totals, &key);
	if (known) {
		known->count += count;
		known->ns += off_ns;
		known->looked_ns += looked_ns;
	} else if (bpf_map_update_elem(&totals, &key, &first, BPF_ANY)) {
		add_rest(key.tgid, count, off_ns);
	}
	return 0;
}

/* Of the key of a rhythm the stack and the state do not count. */
static __always_inline struct rhythm *rhythm_of(struct total_key *at)
{
	struct total_key key = {.tgid = at->tgid, .tid = at->tid, .call = at->call, .stack = -1,
				.signature = at->signature};
	struct rhythm *rhythm = bpf_map_lookup_elem(&rhythms, &key);
	if (rhythm)
		return rhythm;
	if (bpf_map_update_elem(&rhythms, &key, &no_rhythm, BPF_NOEXIST))
		count_loss(LOST_RHYTHMS);
	return bpf_map_lookup_elem(&rhythms, &key);
}

/* Moves into the maps what was added up at a place. */
__noinline int move_place(struct place *place, __u32 tgid, __u32 tid)
{
	if (!place)
		return 0;
	struct total_key key = {.tgid = tgid, .tid = tid, .stack = -1, .call = place->call,
				.state = place->state, .signature = place->signature};
	if (place->count)
		add_total(&key, place->count, place->off_ns, 0);
	if (place->unseen) {
		key.stack = NOT_TAKEN;
		add_total(&key, place->unseen, place->unseen_ns, 0);
	}
	struct rhythm *rhythm = place->sleeps ? rhythm_of(&key) : 0;
	if (rhythm) {
		rhythm->last = place->woken;
		rhythm->count += place->sleeps;
		rhythm->awake_ns += place->awake_ns;
	}
	place->count = place->unseen = place->sleeps = 0;
	place->off_ns = place->unseen_ns = place->awake_ns = 0;
	return 0;
}

static __always_inline void move_places(struct task_struct *task, struct task_state *state)
{
	for (int i = 0; i < PLACES; i++)
		move_place(&state->places[i], task->tgid, task->pid);
}

/* Makes one of the places that of the stay, and says which. */
__noinline __u32 make_place(struct task_state *state, __u32 tgid, __u32 tid)
{
	if (!state)
		return 0;
	__u32 i = which_place(state);
	if (i >= PLACES) {
		i = 1 + (state->next_place++ & (SLEEPS - 1));
		state->at[i] = place_number(state);
	}
	struct place *place = &state->places[i];
	if (is_at(place, state))
		return i;
	move_place(place, tgid, tid);
	place->signature = state->signature;
	place->call = state->off_call;
	place->state = state->state;
	place->sure = place->skip = 0;
	return i;
}

/* The place where the task left the CPU. */
static __always_inline struct place *take_place(struct task_struct *task, struct task_state *state)
{
	__u64 i = make_place(state, task->tgid, task->pid);
	asm volatile("" : "+r"(i)); /* the verifier is to see the check of what is used */
	return &state->places[i < PLACES ? i : 0];
}

/* Adds the time between two wake-ups at a place: a reservoir (Vitter's algorithm R) holds a fair
 * sample. */
static __always_inline void add_rhythm(struct total_key *key, struct place *place, struct task_state *state,
				       __u64 woken)
{
	struct rhythm *rhythm = rhythm_of(key);
	if (!rhythm)
		return;
	__u64 last = place->sleeps ? place->woken : rhythm->last;
	rhythm->last = woken;
	if (!last)
		return;
	rhythm->count += place->sleeps + 1;
	rhythm->awake_ns += place->awake_ns + state->awake_ns;
	place->sleeps = place->awake_ns = 0;
	__u64 units = (woken - last) / INTERVAL_UNIT_NS;
	__u64 slot = rhythm->seen;
	rhythm->stack = key->stack;
	rhythm->seen += 1;
	rhythm->waker_stack[slot & 3] = state->last_sleep.waker_stack;
	if (slot >= INTERVALS)
		slot = (__u64)bpf_get_prandom_u32() * rhythm->seen >> 32;
	asm volatile("" : "+r"(slot)); /* the verifier is to see the check of what is used */
	if (slot < INTERVALS)
		rhythm->interval[slot] = units > 0xffffffff ? 0xffffffff : units;
}

static __always_inline void add_futex(struct total_key *place, struct task_state *state, __u64 address, __u64 ns)
{
	struct futex_key key = {.address = address, .tgid = place->tgid, .tid = place->tid};
	struct futex *futex = bpf_map_lookup_elem(&futexes, &key);
	if (!futex) {
		if (bpf_map_update_elem(&futexes, &key, &no_futex, BPF_NOEXIST))
			count_loss(LOST_FUTEXES);
		futex = bpf_map_lookup_elem(&futexes, &key);
		if (!futex)
			return;
	}
	futex->count += 1;
	futex->ns += ns;
	if (ns > futex->max_ns) {
		futex->max_ns = ns;
		futex->stack = state->last_sleep.stack;
		futex->signature = place->signature;
	}
	if (state->waker_stack == NOT_TAKEN)
		return; /* the vote is among those that were looked at */
	if (futex->votes && futex->waker_tid != state->waker_tid) {
		futex->votes -= 1;
		return;
	}
	futex->votes += 1;
	if (futex->waker_tid == state->waker_tid && futex->waker_stack >= 0)
		return;
	futex->waker_tid = state->waker_tid;
	futex->waker_tgid = state->waker_tgid;
	futex->waker_stack = state->waker_stack;
	__builtin_memcpy(futex->waker_comm, state->waker_comm, 16);
}

/* What is kept of a sleep of long_ns and more; of an unseen one with the stacks that its place
 * showed last. */
__noinline int end_sleep(struct total_key *key, struct place *place, struct task_state *state, __u64 object,
			 __u64 woken)
{
	if (!key || !place || !state)
		return 0;
	bool unseen = key->stack == NOT_TAKEN;
	__u64 slept_ns = woken - state->off_start;
	state->last_sleep.woken = woken;
	state->last_sleep.slept_ns = slept_ns;
	state->last_sleep.stack = unseen ? place->stack : key->stack;
	state->last_sleep.waker_stack = state->waker_stack == NOT_TAKEN ? place->waker_stack : state->waker_stack;
	state->last_sleep.waker_tid = state->waker_tid;
	__builtin_memcpy(state->last_sleep.waker_comm, state->waker_comm, 16);
	if (unseen) {
		place->sleeps += 1;
		place->awake_ns += state->awake_ns;
		place->woken = woken;
	} else {
		add_rhythm(key, place, state, woken);
	}
	if (is_futex(key->call))
		add_futex(key, state, object, slept_ns);
	return 0;
}
