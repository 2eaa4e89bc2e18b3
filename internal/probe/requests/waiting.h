/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Requests that a goroutine has read and not answered yet: what it waits for stands in its
 * process's memory, where goroutines.go looks for it. A timer of the kernel looks for old ones and
 * wakes the recorder: most of the time there are none, and a process that wakes by itself takes
 * some hundred microseconds each time. */
#pragma once

#include "socket.h"

#define WAITS_NS 1000000 /* most requests are answered by then */
#define MOST_NS 10000000000ull /* a connection that was closed leaves its slot */

volatile __u32 notes_goroutines = 0; /* a program in Go is among the target's services */
volatile __u64 look_every_ns = 5000000;

struct waiting {
	__u64 begin, since, goroutine; /* begin 0: answered */
	__u32 tgid, reader;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS); /* of two requests in one the later is looked at */
	__type(key, __u32);
	__type(value, struct waiting);
} waits SEC(".maps");

struct look_timer { struct bpf_timer timer; };
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct look_timer);
} look_timers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} old SEC(".maps");

static __always_inline struct waiting *slot_of(const struct turn *turn)
{
	__u32 at = turn->slot;
	return bpf_map_lookup_elem(&waits, &at);
}

/* Not inlined, as what is seldom: the stack of its caller is used up on 6.1. */
__noinline int note_goroutine(struct turn *turn)
{
	struct waiting *slot = turn ? slot_of(turn) : 0;
	if (!slot)
		return 0;
	slot->begin = 0;
	slot->since = turn->last_recv;
	slot->tgid = turn->tgid;
	slot->reader = turn->reader;
	slot->goroutine = user_goroutine((void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
	slot->begin = turn->begin;
	return 0;
}

__noinline int goroutine_answered(struct turn *turn)
{
	struct waiting *slot = turn ? slot_of(turn) : 0;
	if (slot && slot->begin == turn->begin)
		slot->begin = 0;
	return 0;
}

/* Ends the loop at the first slot with an old request. */
static long is_old(__u32 at, __u64 *now)
{
	struct waiting *slot = bpf_map_lookup_elem(&waits, &at);
	if (!slot || !slot->begin || *now - slot->since < WAITS_NS || *now - slot->since > MOST_NS)
		return 0;
	__u64 *wakes = bpf_ringbuf_reserve(&old, sizeof(*wakes), 0);
	if (wakes) {
		*wakes = *now;
		bpf_ringbuf_submit(wakes, BPF_RB_FORCE_WAKEUP);
	}
	return 1;
}

static int look_again(void *map, int *key, struct look_timer *again)
{
	__u64 now = bpf_ktime_get_ns();
	bpf_loop(SLOTS, is_old, &now, 0); /* which came with Linux 5.17, as what else this probe needs */
	if (notes_goroutines)
		bpf_timer_start(&again->timer, look_every_ns, 0);
	return 0;
}

SEC("syscall")
int begin_looks(void *context)
{
	__u32 zero = 0;
	struct look_timer *first = bpf_map_lookup_elem(&look_timers, &zero);
	if (!first)
		return 0;
	bpf_timer_init(&first->timer, &look_timers, 1 /* CLOCK_MONOTONIC */); /* or it was, in an earlier window */
	bpf_timer_set_callback(&first->timer, look_again);
	return bpf_timer_start(&first->timer, look_every_ns, 0);
}
