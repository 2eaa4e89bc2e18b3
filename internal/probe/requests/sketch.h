/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Latencies in buckets whose width is a 32nd of their power of two: their middle is at most 1.6
 * % off. */
#pragma once

#include "../bpf/kernel.h"

#define SUB 5
#define SUBS (1 << SUB)
#define LATENCIES (SUBS * 37) /* the last one holds 73 minutes and more */

static __always_inline __u32 latency_bucket(__u64 ns)
{
	__u32 log = 0;
	__u64 left = ns;
	if (ns < SUBS)
		return ns;
	if (left >> 32) { log += 32; left >>= 32; }
	if (left >> 16) { log += 16; left >>= 16; }
	if (left >> 8) { log += 8; left >>= 8; }
	if (left >> 4) { log += 4; left >>= 4; }
	if (left >> 2) { log += 2; left >>= 2; }
	log += left >> 1;
	__u32 bucket = ((log - SUB + 1) << SUB) + ((ns >> (log - SUB)) & (SUBS - 1));
	return bucket < LATENCIES ? bucket : LATENCIES - 1;
}
