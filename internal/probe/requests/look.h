/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Of which kind a request is that begins on a socket. */
#pragma once

#include "turn.h"

#define FRAMES_SURE 2

/* Streams of several requests lie about turns: a connection that looks like one twice is
 * followed by its frames. */
static __always_inline bool name_protocol(struct turn *turn, struct head *head)
{
	struct service *service = service_at(turn->service);
	if (head->protocol == HTTP2) {
		turn->frames++;
		turn->preface = *(__u32 *)head->byte == 0x20495250;
		if (turn->preface || turn->frames >= FRAMES_SURE)
			turn->protocol = HTTP2;
		else
			head->protocol = OTHER;
	} else if (turn->protocol != HTTP2) {
		turn->frames = 0;
		if (head->protocol != OTHER || turn->protocol == UNKNOWN)
			turn->protocol = head->protocol;
		else
			head->protocol = turn->protocol == TLS ? TLS : OTHER;
	}
	if (!holds_several())
		return false;
	if (service)
		__sync_fetch_and_add(&service->pipelined, 1);
	return true;
}

/* A request that begins like the last one on its socket is of its kind: what most connections
 * send. */
static __always_inline bool looks_the_same(struct turn *turn, struct task_struct *task, int received)
{
	__u64 word[KNOWN_WORDS];
	__s32 covered = turn->covered;
	if (!covered || turn->head_length || (turn->known_length ? turn->known_length != received : received < covered))
		return false;
	void *from = bytes_of_call(task);
	if (!from || bpf_probe_read_user(word, sizeof(word), from))
		return false;
	for (int i = 0; i < KNOWN_WORDS; i++, covered -= 8) {
		__u64 differs = word[i] ^ turn->known[i];
		if (covered <= 8)
			return !(differs & first_bytes(covered));
		if (differs)
			return false;
	}
	return true;
}

/* What the kind of this head depends on is kept for the next one. */
static __always_inline void remember(struct turn *turn, const struct head *head, int received)
{
	__u32 covered = head->covered;
	turn->covered = 0;
	if (covered > 8 * KNOWN_WORDS || covered > head->length || turn->frames || turn->protocol == HTTP2)
		return;
	/* Of these the length tells that there is one request, or even which protocol it is. */
	turn->known_length = head->protocol == HTTP1 || head->protocol == TLS ? 0 : received;
	for (int i = 0; i < KNOWN_WORDS; i++)
		turn->known[i] = ((__u64 *)head->byte)[i];
	turn->covered = covered;
}

/* Its first bytes name it. Not inlined: most requests do without. */
static __noinline int look_closely(struct turn *turn, int received)
{
	bool again = turn->head_length;
	struct head *head = read_head(received, turn->head, turn->head_length);
	turn->covered = 0;
	turn->head = 0;
	turn->head_length = 0;
	if (head && head->length < SHORT) { /* one byte: Go asks whether the client is there; MySQL's length */
		turn->head_length = head->length;
		turn->head = *(__u64 *)head->byte;
	}
	if (head) {
		bool several = name_protocol(turn, head);
		head->covered = 0;
		head->hash = turn->protocol == HTTP2 ? 0 : kind_hash();
		if (!several && !again)
			remember(turn, head, received);
	}
	if (turn->protocol != HTTP2)
		turn->kind = find_kind(turn->service, !!head);
	return 0;
}

static __always_inline void look(struct turn *turn, struct task_struct *task, int received)
{
	if (!looks_the_same(turn, task, received))
		look_closely(turn, received);
}
