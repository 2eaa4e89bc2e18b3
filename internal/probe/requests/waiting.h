/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Requests that a goroutine has read and not answered yet: what it waits for stands in its
 * process's memory, where goroutines.go looks for it. */
#pragma once

#include "turn.h"

#define WAITS_NS 1000000 /* most requests are answered by then */

volatile __u32 notes_goroutines = 0; /* a program in Go is among the target's services */

struct unanswered {
	__u64 begin, goroutine;
	__u32 tgid, reader;
};
const struct unanswered *keep_unanswered_in_btf __attribute__((unused));

static __always_inline int show_waiting(struct bpf_iter_meta *meta, const struct turn *turn)
{
	struct unanswered shown = {.begin = turn->begin, .goroutine = turn->goroutine,
					.tgid = turn->tgid, .reader = turn->reader};
	if (turn->epoch != epoch || turn->role != SERVER || !turn->begin || turn->last_send || !turn->goroutine ||
	    bpf_ktime_get_ns() - turn->last_recv < WAITS_NS)
		return 0;
	bpf_seq_write(meta->seq, &shown, sizeof(shown));
	return 0;
}

SEC("iter/bpf_sk_storage_map")
int waiting(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct turn *turn = ctx->value;
	return ctx->sk && turn ? show_waiting(ctx->meta, turn) : 0;
}

SEC("iter/bpf_map_elem")
int waiting_by_address(struct bpf_iter__bpf_map_elem *ctx)
{
	struct turn *turn = ctx->value;
	return ctx->key && turn ? show_waiting(ctx->meta, turn) : 0;
}
