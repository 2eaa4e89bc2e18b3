/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What is added up of each kind of request. */
#pragma once

#include "head.h"
#include "sketch.h"

#define KINDS 512

/* Shared by all CPUs. */
struct kind {
	__u32 service, protocol;
	__u64 hash;
	__u32 head_length, unused;
	__u8 head[HEAD];   /* of the first one */
	__u32 latency[LATENCIES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, __u32);
	__type(value, struct kind);
} kinds SEC(".maps");

/* What is handed over in full, set by user space as it learns what is usual. */
struct limit {
	__u64 over_ns;     /* from here on a request is slow */
	__u32 sample_mask; /* of the others one in mask + 1 */
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, __u32);
	__type(value, struct limit);
} limits SEC(".maps");

/* By CPU: an addition that an interrupt falls into may be lost, which the counts, atomic ones,
 * must not be. */
struct kind_sums {
	__u64 errors, bytes_in, bytes_out;
	__u64 wait_ns, upload_ns, serve_ns, answer_ns, total_ns, unsent_ns;
	__u64 handed, handed_ns;  /* answered by another thread than read them; the time until that one took them up */
	__u64 interleaved;        /* the thread read others before it answered */
	__u64 unfollowed, unfollowed_ns; /* when the answering thread took them up is not known */
	__u64 spent_ns[WAIT_CLASSES], downstream_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, __u32);
	__type(value, struct kind_sums);
} sums SEC(".maps");

struct kind_key {
	__u64 hash;
	__u32 service, protocol;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, KINDS);
	__type(key, struct kind_key);
	__type(value, __u32);
} kind_ids SEC(".maps");

/* with_head: its first bytes name it. */
__noinline __u32 make_kind(__u32 service, __u32 protocol, __u64 hash, int with_head)
{
	__u32 zero = 0;
	struct kind_key key = {.service = service, .protocol = protocol, .hash = hash};
	struct head *head = with_head ? bpf_map_lookup_elem(&heads, &zero) : 0;
	__u32 at = __sync_fetch_and_add(&kinds_used, 1);
	struct kind *kind = at < KINDS ? bpf_map_lookup_elem(&kinds, &at) : 0;
	if (!kind) {
		__sync_fetch_and_add(&kinds_used, -1);
		count_loss(LOST_KINDS);
		return 0;
	}
	kind->service = key.service;
	kind->protocol = key.protocol;
	kind->hash = key.hash;
	kind->head_length = 0;
	if (head && hash) {
		kind->head_length = head->length;
		__builtin_memcpy(kind->head, head->byte, HEAD);
	}
	if (bpf_map_update_elem(&kind_ids, &key, &at, BPF_NOEXIST)) {
		__u32 *known = bpf_map_lookup_elem(&kind_ids, &key); /* another CPU was first */
		return known ? *known : 0;
	}
	return at;
}

/* The kind of a request; those that find no room are of the kind that has no name. */
__noinline __u32 find_kind(__u32 service, int with_head)
{
	__u32 zero = 0;
	struct kind_key key = {.service = service};
	struct head *head = with_head ? bpf_map_lookup_elem(&heads, &zero) : 0;
	if (head) {
		key.protocol = head->protocol;
		key.hash = head->hash;
	}
	__u32 *known = bpf_map_lookup_elem(&kind_ids, &key);
	if (known)
		return *known;
	__u32 made = make_kind(service, key.protocol, key.hash, with_head);
	if (made || !key.hash)
		return made;
	key.hash = 0;
	known = bpf_map_lookup_elem(&kind_ids, &key);
	return known ? *known : make_kind(service, key.protocol, 0, 0);
}
