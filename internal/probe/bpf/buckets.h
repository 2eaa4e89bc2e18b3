/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Latencies by powers of two. */
#pragma once

#include "kernel.h"

#define BUCKETS 40 /* of 2^i ns: the last holds nine minutes and more */

static __always_inline __u32 bucket_of(__u64 value)
{
	__u32 log = 0;
	if (value >> 32) { log += 32; value >>= 32; }
	if (value >> 16) { log += 16; value >>= 16; }
	if (value >> 8) { log += 8; value >>= 8; }
	if (value >> 4) { log += 4; value >>= 4; }
	if (value >> 2) { log += 2; value >>= 2; }
	log += value >> 1;
	return log < BUCKETS ? log : BUCKETS - 1;
}
