/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Requests of connections of HTTP/2 in the clear, gRPC among them: each stream is one, from the
 * frame that opens it to the last byte of the frame that ends its answer. */
#pragma once

#include "path.h"
#include "turn.h"

#define STREAMS 128      /* of one connection that are followed at once; a power of two */

enum frame { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION };
#define END_STREAM 1
#define END_HEADERS 4

struct stream {
	__u64 begin, first_recv, last_recv, first_send;
	__u64 in, out;
	__u32 id; /* 0: none is here */
	__u32 kind, reader, tgid;
	__u32 status, failed, no_wait, unused;
};

struct connection {
	struct way asks, answers;
	__u32 last_stream; /* the highest that was opened */
	__u32 unused;
	struct stream streams[STREAMS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct turn);
} ended_streams SEC(".maps");

static __always_inline void count_unfollowed(struct turn *turn)
{
	struct service *service = service_at(turn->service);
	if (service)
		__sync_fetch_and_add(&service->multiplexed, 1);
}

static __always_inline struct stream *stream_at(struct connection *connection, __u32 id)
{
	return &connection->streams[(id >> 1) & (STREAMS - 1)];
}

/* Books a stream whose answer is over as a turn of its own. */
static __always_inline void stream_ends(struct turn *turn, struct stream *stream, __u64 now)
{
	__u32 zero = 0;
	struct turn *ended = bpf_map_lookup_elem(&ended_streams, &zero);
	stream->id = 0;
	if (!ended || !within_window(stream->begin))
		return;
	__u64 end = turn->role == CLIENT && turn->ready > stream->begin ? turn->ready : now;
	__u64 first = stream->first_send && stream->first_send < end ? stream->first_send : end;
	ended->begin = stream->begin;
	ended->first_recv = turn->role == CLIENT ? first : stream->first_recv;
	ended->last_recv = stream->last_recv < first ? stream->last_recv : first;
	ended->first_send = first;
	ended->last_send = end;
	ended->in = stream->in;
	ended->out = stream->out;
	ended->kind = stream->kind;
	ended->tgid = stream->tgid;
	ended->reader = stream->reader;
	ended->writer = (__u32)bpf_get_current_pid_tgid();
	ended->service = turn->service;
	ended->role = turn->role;
	ended->status = stream->status;
	ended->failed = stream->failed;
	ended->no_wait = stream->no_wait;
	add_turn(ended);
}

/* A stream that opens: its request began when its first data was ready, or, of a client's, is
 * sent. */
static __always_inline void stream_opens(struct connection *connection, struct turn *turn, __u64 now)
{
	struct way *way = &connection->asks;
	__u32 id = way->stream;
	struct stream *stream = stream_at(connection, id);
	if (stream->id == id || id <= connection->last_stream)
		return; /* fields behind the body */
	connection->last_stream = id;
	__u32 kind = stream_kind(way, turn->service);
	if (stream->id) { /* more at once than there is room for */
		count_unfollowed(turn);
		return;
	}
	__u64 ready = turn->role == SERVER ? turn->ready : 0;
	stream->begin = ready ? ready : now;
	stream->no_wait = turn->role == SERVER && !ready;
	stream->first_recv = stream->last_recv = now;
	stream->first_send = stream->in = stream->out = 0;
	stream->status = stream->failed = 0;
	stream->reader = (__u32)bpf_get_current_pid_tgid();
	stream->tgid = bpf_get_current_pid_tgid() >> 32;
	stream->kind = kind;
	stream->id = id;
}

/* The fields that begin an answer, or end one of gRPC's. */
static __always_inline void answer_fields(struct way *way, struct stream *stream, __u64 now)
{
	if (way->status >= 100 && way->status < 200)
		return;
	if (way->status)
		stream->status = way->status;
	stream->failed |= way->failed;
	if (!stream->first_send)
		stream->first_send = now;
}

/* All header fields of a request, or of an answer, are there. */
static __always_inline void fields_end(struct connection *connection, struct turn *turn, struct way *way,
				       __u32 answers, __u64 now)
{
	read_fields(way);
	if (!answers) {
		stream_opens(connection, turn, now);
	} else {
		struct stream *stream = stream_at(connection, way->stream);
		if (stream->id == way->stream)
			answer_fields(way, stream, now);
	}
	if (way->cut)
		way->inserted = 0; /* what was put into the table behind the cut is not known */
}

__noinline int frame_ends(struct connection *connection, struct turn *turn, __u32 answers, __u64 now)
{
	if (!connection || !turn)
		return 0;
	struct way *way = answers ? &connection->answers : &connection->asks;
	__u32 id = way->stream, type = way->type;
	if (type == PUSH_PROMISE)
		way->inserted = 0; /* it has fields, too */
	bool fields = type == HEADERS || type == CONTINUATION;
	if (fields && !(way->flags & END_HEADERS))
		return 0;
	if (fields)
		fields_end(connection, turn, way, answers, now);
	struct stream *stream = stream_at(connection, id);
	if (!(id & 1) || stream->id != id)
		return 0;
	if (type == RST_STREAM) {
		stream->failed |= answers != 0;
		stream_ends(turn, stream, now);
		return 0;
	}
	if (!fields && type != DATA)
		return 0;
	if (!answers) {
		stream->last_recv = now;
		return 0;
	}
	if (!fields && !stream->first_send)
		stream->first_send = now;
	if (way->ends)
		stream_ends(turn, stream, now);
	return 0;
}
