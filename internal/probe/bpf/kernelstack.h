/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Kernel stacks, each kept once, by a hash of its addresses. A map of
 * BPF_MAP_TYPE_STACK_TRACE would lose one of two stacks that fall into the same
 * of its buckets: of 100 stacks in 8192 buckets, some in almost every other
 * window. Who includes this has count_loss, and LOST_STACKS for those that do not
 * fit. */
#pragma once

#include "kernel.h"

#define DEPTH 32 /* kernelStackDepth of kernelstack.go */

struct stack_buffer {
	__u64 address[DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, __s32);
	__type(value, struct stack_buffer);
} kernel_stacks SEC(".maps");

/* Slot 0 belongs to hooks that do not interrupt each other; slot 1 to a program that they do
 * interrupt. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct stack_buffer);
} scratch SEC(".maps");

/* Keeps the stack in scratch and returns its id, -1 when there is none. */
static __always_inline __s32 keep_stack(struct stack_buffer *buffer, long bytes)
{
	__u64 hash = 0;
	if (bytes <= 0)
		return -1;
	for (int i = 0; i < DEPTH; i++) {
		if (i * sizeof(__u64) >= bytes)
			buffer->address[i] = 0;
		else
			hash = (hash ^ buffer->address[i]) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 29;
	}
	__s32 id = hash >> 33;
	if (!bpf_map_lookup_elem(&kernel_stacks, &id) &&
	    bpf_map_update_elem(&kernel_stacks, &id, buffer, BPF_ANY)) {
		count_loss(LOST_STACKS);
		return -1;
	}
	return id;
}
