/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Loops of which each step is a call. bpf_loop came with Linux 5.17; before it, a walk over the elements of a map does
 * the same. A step that returns 1 is the last one; each ends the loop by itself, for the map may have more elements. */
#pragma once

#include "../bpf/kernel.h"

#define STEPS 1024

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STEPS);
	__type(key, __u32);
	__type(value, __u64);
} steps SEC(".maps");

struct bpf_map;

/* Makes step a function that LOOP can call. */
#define LOOPS(step)                                                                              \
	static long step##_of(struct bpf_map *map, const __u32 *i, __u64 *unused, void *of)      \
	{                                                                                        \
		return step(*i, of);                                                             \
	}

#define LOOP(count, step, of)                                                                    \
	do {                                                                                     \
		if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))                 \
			bpf_loop(count, step, of, 0);                                            \
		else                                                                             \
			bpf_for_each_map_elem(&steps, step##_of, of, 0);                         \
	} while (0)
