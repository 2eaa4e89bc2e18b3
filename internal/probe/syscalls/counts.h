/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Counting system calls at a bounded cost.
 *
 * What a call costs more is what counts: reading the clock twice takes longer than all the rest.
 * So each CPU keeps a table of the calls that its threads make, which needs no look-up in a
 * hash. Of a call that a thread has made SURE times in a row quicker than QUICK_LOG only one of
 * about sixteen, at random, is timed; all are counted. What sleeps is timed anyhow, from its
 * first sleep (../bpf/calls.h): only a quick call can go untimed, and user space gives those the
 * distribution of the quick ones that were timed. */
#pragma once

#include "../bpf/buckets.h"
#include "../bpf/task.h"

#define SLOTS 1024
#define QUICK_LOG 13 /* 8 µs */
#define SURE 16
#define MAX_ERRNO 4095

enum loss { LOST_CALLS = 0, LOST_SLOW = 1, LOST_PATHS = 2, LOST_ERRORS = 3, LOST_OPENED = 4 };

/* The cpu keeps two CPUs from adding to one entry at once. */
struct call_key {
	__u32 tgid, tid;
	__s32 call;
	__u32 cpu;
};

struct call_total {
	__u64 bytes, total_ns, quick_ns; /* quick_ns: the part of total_ns below QUICK_LOG */
	__u64 count;
	__u32 errors;
	__u32 buckets[BUCKETS]; /* of the calls that were timed */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct call_key);
	__type(value, struct call_total);
} calls SEC(".maps");

/* One call of one thread on one CPU. An older one that falls into the same slot moves into
 * calls. */
struct call_slot {
	__u32 tgid, tid;
	__s32 call;
	__u32 skip;    /* so many of the next calls are not timed */
	__u32 sure;    /* quick ones in a row */
	__u32 random;
	__u64 runtime; /* of the thread when it entered an untimed call: the same at its end unless it was interrupted */
	struct call_total total;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct call_slot);
} slots SEC(".maps");

struct error_key {
	__u32 tgid;
	__s32 call, error;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct error_key);
	__type(value, __u64);
} errors SEC(".maps");

static __always_inline struct call_slot *slot_of(struct task_struct *task, __s32 call)
{
	__u32 i = ((__u32)task->pid * 0x9e3779b1u ^ (__u32)call * 0x85ebca6bu) >> 22; /* 10 bits: SLOTS */
	return bpf_map_lookup_elem(&slots, &i);
}

static __always_inline bool is_of(struct call_slot *slot, struct task_struct *task, __s32 call)
{
	return slot->call == call && slot->tid == task->pid && slot->tgid == task->tgid;
}

static __always_inline void add_totals(struct call_total *to, struct call_total *part)
{
	to->bytes += part->bytes;
	to->total_ns += part->total_ns;
	to->quick_ns += part->quick_ns;
	to->count += part->count;
	to->errors += part->errors;
	for (int i = 0; i < BUCKETS; i++)
		to->buckets[i] += part->buckets[i];
}

/* Makes a slot that of another call; what it held moves on. */
static __always_inline void take_slot(struct call_slot *slot, struct task_struct *task, __s32 call)
{
	if (slot->tid) {
		struct call_key key = {.tgid = slot->tgid, .tid = slot->tid, .call = slot->call,
				       .cpu = bpf_get_smp_processor_id()};
		struct call_total *known = bpf_map_lookup_elem(&calls, &key);
		if (known)
			add_totals(known, &slot->total);
		else if (bpf_map_update_elem(&calls, &key, &slot->total, BPF_ANY))
			count_loss(LOST_CALLS);
	}
	__builtin_memset(slot, 0, sizeof(*slot));
	slot->tgid = task->tgid;
	slot->tid = task->pid;
	slot->call = call;
	slot->random = task->pid;
}

static __always_inline void count_error(struct call_slot *slot, long result)
{
	struct error_key key = {.tgid = slot->tgid, .call = slot->call, .error = -result};
	__u64 one = 1, *known = bpf_map_lookup_elem(&errors, &key);
	slot->total.errors += 1;
	if (!known && bpf_map_update_elem(&errors, &key, &one, BPF_NOEXIST)) {
		known = bpf_map_lookup_elem(&errors, &key); /* another CPU was first */
		if (!known)
			count_loss(LOST_ERRORS);
	}
	if (known)
		__sync_fetch_and_add(known, 1);
}

static __always_inline void count_call(struct call_slot *slot, long result)
{
	slot->total.count += 1;
	if (result >= 0)
		slot->total.bytes += result;
	else if (result >= -MAX_ERRNO && slot->call != CALL_SIGRETURN) /* below: an address */
		count_error(slot, result);
}

/* Adds the time of a call, and decides how many of the next ones go untimed: evenly between none
 * and 31, so that no pattern of the program can hide between the timed ones. */
static __always_inline void add_time(struct call_slot *slot, __u64 took_ns)
{
	__u32 bucket = bucket_of(took_ns);
	slot->total.total_ns += took_ns;
	slot->total.buckets[bucket] += 1;
	if (bucket >= QUICK_LOG) {
		slot->sure = 0;
		slot->skip = 0;
		return;
	}
	slot->total.quick_ns += took_ns;
	slot->sure += 1;
	if (slot->sure <= SURE)
		return;
	slot->random = slot->random * 1664525 + 1013904223;
	slot->skip = slot->random >> 27;
}
