/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* An answer that the kernel keeps back after the call has returned: for Nagle's algorithm or a
 * cork, because it is sent again, or because the client takes no more. */
#pragma once

#include "turn.h"

#define UNSENT_TICKS 2 /* less is not told from none: lsndtime is in ticks of the kernel's clock */
#define NAGLE_OFF 1    /* TCP_NAGLE_OFF and TCP_NAGLE_CORK of include/net/tcp.h */
#define CORKED 2

enum unsent_by { UNSENT_SMALL = 1, UNSENT_RESENT, UNSENT_FULL };

static __always_inline __u32 unsent_why(const struct sock *sk, struct turn *turn)
{
	__u32 resent = BPF_CORE_READ((struct tcp_sock *)sk, total_retrans);
	bool again = resent != turn->resent;
	turn->resent = resent;
	if (again)
		return UNSENT_RESENT;
	__u32 nagle = bpf_core_field_exists(struct tcp_sock___flags, nonagle) ?
		BPF_CORE_READ_BITFIELD_PROBED((struct tcp_sock___flags *)sk, nonagle) : NAGLE_OFF;
	return (nagle & CORKED) || !(nagle & NAGLE_OFF) ? UNSENT_SMALL : UNSENT_FULL;
}

static __noinline int look_when_sent(struct sock *sk, struct turn *turn)
{
	__u32 ticks = (__u32)bpf_jiffies64() - turn->sent_tick;
	__u32 late = BPF_CORE_READ((struct tcp_sock *)sk, lsndtime) - turn->sent_tick;
	if (turn->role != SERVER || turn->of_unix || !turn->last_send || !turn->begin)
		return 0;
	if ((__s32)late < UNSENT_TICKS || late > ticks)
		return 0;
	turn->unsent_ns = (bpf_ktime_get_ns() - turn->last_send) * late / ticks;
	turn->unsent_by = unsent_why(sk, turn);
	return 0;
}

/* Before a request ends: how long its answer was kept back. Segments tell when they were sent last;
 * a request that follows at once on another leaves no time for it. */
static __always_inline void note_unsent(struct sock *sk, struct turn *turn)
{
	if ((__u32)bpf_jiffies64() - turn->sent_tick >= UNSENT_TICKS)
		look_when_sent(sk, turn);
}
