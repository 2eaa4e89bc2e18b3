/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The frames of connections of HTTP/2, followed through the calls that read and send them: a
 * frame may begin in one call and end in another, and a call may have its bytes in many places. */
#pragma once

#include "socket.h"

#define FRAME_HEAD 9
#define LONGEST_FRAME (1 << 20)
#define PIECES 1024      /* of one call: parts of frames, and of the caller's vectors */
#define PREFACE 24       /* PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n */
#define LAST_FRAME 0x10  /* the highest type that anybody sends */

__noinline int frame_begins(struct connection *connection, __u32 answers)
{
	if (!connection)
		return 0;
	struct way *way = answers ? &connection->answers : &connection->asks;
	const __u8 *head = way->head;
	way->head_length = 0;
	way->left = (__u32)head[0] << 16 | (__u32)head[1] << 8 | head[2];
	way->type = head[3];
	way->flags = head[4];
	way->stream = (__u32)(head[5] & 0x7f) << 24 | (__u32)head[6] << 16 | (__u32)head[7] << 8 | head[8];
	if (way->left > LONGEST_FRAME || way->type > LAST_FRAME) {
		way->lost = 1;
		return 0;
	}
	if (way->type == HEADERS) {
		way->length = 0;
		way->cut = 0;
		way->padded = way->flags & 8;
		way->with_priority = way->flags & 0x20;
	}
	if (way->type != DATA && way->type != HEADERS)
		return 0;
	way->ends = way->flags & END_STREAM;
	struct stream *stream = stream_at(connection, way->stream);
	if (stream->id != way->stream)
		return 0;
	if (answers)
		stream->out += way->left;
	else
		stream->in += way->left;
	return 0;
}

/* Keeps what there is room for of the fields in a frame. */
__noinline int keep_fields(struct way *way, __u64 from, __u32 take)
{
	if (!way)
		return 0;
	__u32 at = way->length & (BLOCK - 1), room = BLOCK - at;
	if (way->length >= BLOCK || take > room) {
		way->cut = 1;
		if (way->length >= BLOCK)
			return 0;
		take = room;
	}
	asm volatile("" : "+r"(take)); /* the verifier is to see the bound */
	if (!take || take > BLOCK - at)
		return 0;
	__u64 bytes = take;
	asm volatile("" : "+r"(bytes)); /* kernels before 6.2 lose a bound that was compared as 32 bits */
	if (bytes > BLOCK)
		return 0;
	if (bpf_probe_read_user(way->block + at, bytes, (void *)from))
		way->cut = 1;
	way->length = at + take;
	return 0;
}

/* The bytes of a call, in the caller's memory. */
struct walk {
	struct connection *connection;
	struct way *way;
	struct turn *turn;
	__u64 now;
	unsigned long at, vectors; /* what is read next; the vectors behind it, if there are any */
	__u32 here, left;          /* bytes at this place, and of the whole call */
	__u32 answers;             /* they are of answers */
};

struct user_vector { unsigned long base, length; };

static __always_inline bool next_vector(struct walk *walk)
{
	struct user_vector vector;
	if (!walk->vectors || bpf_probe_read_user(&vector, sizeof(vector), (void *)walk->vectors))
		return false;
	walk->vectors += sizeof(vector);
	walk->at = vector.base;
	walk->here = vector.length < walk->left ? vector.length : walk->left;
	return true;
}

/* What is not in the caller's memory, as of sendfile: the inside of a frame, or nobody knows. */
static __always_inline void unseen(struct walk *walk)
{
	struct way *way = walk->way;
	if (way->left < walk->left || way->type == HEADERS || way->type == CONTINUATION) {
		way->lost = 1;
		return;
	}
	way->left -= walk->left;
	if (!way->left)
		frame_ends(walk->connection, walk->turn, walk->answers, walk->now);
}

static long walk_piece(__u32 i, void *of)
{
	struct walk *walk = of;
	struct way *way = walk->way;
	if (!walk->left)
		return 1;
	if (!walk->here) {
		if (next_vector(walk))
			return 0;
		unseen(walk);
		walk->left = 0;
		return 1;
	}
	__u32 length = way->head_length & 15;
	__u32 want = way->left ? way->left : FRAME_HEAD - length;
	__u32 take = want < walk->here ? want : walk->here;
	if (!way->left) {
		if (length >= FRAME_HEAD || take > FRAME_HEAD)
			return 1;
		asm volatile("" : "+r"(take)); /* those kernels are to see the mask */
		take &= 15;
		if (take > 16 - length || bpf_probe_read_user(way->head + length, take, (void *)walk->at)) {
			way->lost = 1;
			return 1;
		}
		way->head_length = length + take;
	} else if (way->type == HEADERS || way->type == CONTINUATION) {
		keep_fields(way, walk->at, take);
	}
	walk->at += take;
	walk->here -= take;
	walk->left -= take;
	if (way->left) {
		way->left -= take;
		if (way->left)
			return 0;
	} else {
		if (way->head_length < FRAME_HEAD)
			return 0;
		frame_begins(walk->connection, walk->answers);
		if (way->lost)
			return 1;
		if (way->left)
			return 0;
	}
	frame_ends(walk->connection, walk->turn, walk->answers, walk->now);
	return way->lost != 0;
}

/* The bytes that a call has read or sent; false where they cannot be found. */
static __always_inline void find_bytes(struct walk *walk)
{
	struct pt_regs___culprit *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	unsigned long call = call_in_progress(regs), at = second_argument(regs);
	if (call == CALL_RECVMSG || call == CALL_SENDMSG) {
		if (!bpf_probe_read_user(&at, sizeof(at), (void *)(at + 16))) /* msghdr.msg_iov */
			walk->vectors = at;
	} else if (call == CALL_READV || call == CALL_WRITEV) {
		walk->vectors = at;
	} else if (call == CALL_READ || call == CALL_RECVFROM || call == CALL_WRITE || call == CALL_SENDTO) {
		walk->at = at;
		walk->here = walk->left;
	}
}

/* Whether what a call has begins with the head of a frame: after what was not seen it is begun
 * anew. */
static __always_inline bool begins_anew(struct walk *walk)
{
	__u8 head[FRAME_HEAD];
	if (!walk->here && !next_vector(walk))
		return false;
	if (walk->here < FRAME_HEAD || bpf_probe_read_user(head, sizeof(head), (void *)walk->at))
		return false;
	return !head[0] && head[3] <= WINDOW_UPDATE && !(head[5] & 0x80);
}

/* All streams of a connection are let go of. */
static long forget_stream(__u32 i, void *of)
{
	struct connection *connection = *(struct connection **)of;
	connection->streams[i & (STREAMS - 1)].id = 0;
	return 0;
}

static __always_inline void begin_way(struct way *way)
{
	way->left = way->inserted = way->length = 0;
	way->head_length = way->lost = way->type = way->ends = way->cut = 0;
}

/* Follows the frames of one call. skip: so many bytes at its begin are none. */
__noinline int walk_frames(struct connection *connection, struct turn *turn, __u32 bytes, __u32 skip, __u32 answers)
{
	if (!connection || !turn)
		return 0;
	struct walk walk = {.connection = connection, .turn = turn, .now = bpf_ktime_get_ns(), .left = bytes,
			    .answers = answers};
	walk.way = answers ? &connection->answers : &connection->asks;
	find_bytes(&walk);
	if (walk.way->lost) {
		if (!begins_anew(&walk))
			return 0;
		begin_way(walk.way);
		bpf_loop(STREAMS, forget_stream, &connection, 0);
	}
	if (skip) { /* the client's first words: they are like the inside of a frame that says nothing */
		walk.way->left = skip;
		walk.way->type = PING;
		walk.way->stream = 0;
	}
	bpf_loop(PIECES, walk_piece, &walk, 0);
	if (walk.left || walk.way->lost) {
		walk.way->lost = 1;
		count_unfollowed(turn);
	}
	return 0;
}

static __always_inline void follow_frames(struct sock *sk, struct turn *turn, __u32 bytes, __u32 skip, __u32 answers)
{
	walk_frames(connection_of(sk), turn, bytes, skip, answers);
}

/* A connection turns out to be one of HTTP/2. */
static __always_inline void follow_streams(struct sock *sk, struct turn *turn)
{
	struct connection *connection = make_connection(sk);
	turn->begin = turn->first_recv = turn->last_recv = turn->first_send = turn->last_send = 0;
	turn->frames = 0;
	if (!connection) {
		count_loss(LOST_SOCKETS);
		return;
	}
	begin_way(&connection->asks);
	begin_way(&connection->answers);
	connection->last_stream = 0;
	bpf_loop(STREAMS, forget_stream, &connection, 0);
}
