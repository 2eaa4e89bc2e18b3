/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the kernel hands to a program behind a perf event. */
#pragma once

#if defined(__TARGET_ARCH_x86)
#include <linux/bpf_perf_event.h>
#else
/* asm/bpf_perf_event.h of arm64 */
struct bpf_perf_event_data {
	struct { __u64 regs[31], sp, pc, pstate; } regs;
	__u64 sample_period, addr;
};
#endif
