/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* A turn: what comes in on a socket until nobody sends any more is one request and its answer. */
#pragma once

#include "kind.h"

/* Number of the window in which sums of threads are comparable: sockets are followed from window
 * to window where one goes on with another, threads are not. */
volatile __u32 era = 0;

struct turn {
	/* What each event looks at, in two lines of the cache: the kernel puts a pointer before it. */
	__u64 ready;      /* data came that no call has taken; of a client the last that came */
	__u64 begin;      /* of the request in progress: its first data (of a client: it was sent); 0: none */
	__u32 epoch;
	__u8 role, protocol;
	__u8 head_length; /* of a head that was too short */
	__u8 of_unix;     /* a unix socket */
	__u64 first_recv, last_recv, first_send, last_send;
	__u64 in, out;
	__u32 tgid, reader, writer;
	__u32 service, kind;
	__u32 number;     /* of the requests that its thread has read */
	__u32 era;        /* in which base_ns was read */
	__u16 status;
	__u8 interleaved, failed, no_wait;
	__u8 booked;      /* it is counted already */
	__u8 followed;    /* what its thread waited for is known */
	__u8 opening;     /* ready is when the connection was made: by calls, until a segment comes */
	/* The last head whose kind was found: one that begins like it is of the same kind. */
	__u32 known_length; /* of what was read; 0: any */
	__u32 covered;    /* bytes that the kind depends on; 0: none is known */
	__u32 sent_tick;  /* of the kernel's clock at last_send: unsent.h */
	__u64 known[KNOWN_WORDS];
	__u64 draw;       /* pseudo-random: which ordinary requests are handed over */
	__u64 base_ns[WAIT_CLASSES], base_downstream_ns; /* what its thread had waited for when it took it up */
	__u64 used_ns[WAIT_CLASSES], used_downstream_ns; /* from then on to the last byte */
	__u64 on_worker;  /* the answering thread took it up */
	__u32 downstream, slot; /* the service that most of it was waited for; of waiting.h */
	__u8 frames, preface; /* turns in a row that look like frames; it began with HTTP/2's first words */
	__u8 datagrams, questions; /* each that comes back answers one of these */
	__u64 head, asked; /* asked: the last of these */
	__u64 unsent_ns;    /* the answer lay in the socket after last_send */
	__u32 unsent_by, resent; /* resent: segments of the connection that were sent again, as last looked at */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct turn);
} turns SEC(".maps");

/* A request in full. */
struct request_event {
	__u64 begin, first_recv, last_recv, first_send, last_send, on_worker;
	__u64 in, out;
	__u64 used_ns[WAIT_CLASSES], used_downstream_ns;
	__u32 tgid, reader, writer, kind;
	__u32 status, slow, weight, downstream;
	__u32 interleaved, failed, in_progress, no_wait;
	__u32 followed, unsent_by;
	__u64 unsent_ns;
};
const struct request_event *keep_request_event_in_btf __attribute__((unused));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} requests SEC(".maps");

static __always_inline void fill_event(struct request_event *event, const struct turn *turn)
{
	event->begin = turn->begin;
	event->first_recv = turn->first_recv;
	event->last_recv = turn->last_recv;
	event->first_send = turn->first_send;
	event->last_send = turn->last_send;
	event->on_worker = turn->on_worker;
	event->in = turn->in;
	event->out = turn->out;
	for (int i = 0; i < WAIT_CLASSES; i++)
		event->used_ns[i] = turn->used_ns[i];
	event->used_downstream_ns = turn->used_downstream_ns;
	event->tgid = turn->tgid;
	event->reader = turn->reader;
	event->writer = turn->writer;
	event->kind = turn->kind;
	event->status = turn->status;
	event->downstream = turn->downstream;
	event->interleaved = turn->interleaved;
	event->failed = turn->failed;
	event->no_wait = turn->no_wait;
	event->followed = turn->followed;
	event->unsent_by = turn->unsent_by;
	event->unsent_ns = turn->unsent_ns;
	event->slow = event->weight = event->in_progress = 0;
}

/* A number for each request of a connection (Knuth's MMIX, upper half): the kernel's is slower. */
static __always_inline __u32 next_draw(struct turn *turn)
{
	turn->draw = turn->draw * 6364136223846793005ull + 1442695040888963407ull;
	return turn->draw >> 32;
}

static __always_inline void hand_over(struct turn *turn, __u64 latency)
{
	__u32 at = turn->kind;
	struct limit *limit = bpf_map_lookup_elem(&limits, &at);
	if (!limit)
		return;
	bool slow = latency >= limit->over_ns;
	__u32 mask = limit->sample_mask;
	if (!slow && mask && (next_draw(turn) & mask))
		return;
	struct request_event *event = bpf_ringbuf_reserve(&requests, sizeof(*event), 0);
	if (!event) {
		count_loss(LOST_EVENTS);
		return;
	}
	fill_event(event, turn);
	event->slow = slow;
	event->weight = slow ? 1 : mask + 1;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

static __always_inline void add_spent(struct kind_sums *sum, const struct turn *turn)
{
	if (!turn->followed) {
		sum->unfollowed += 1;
		sum->unfollowed_ns += turn->last_send - turn->last_recv;
		return;
	}
	if (turn->reader != turn->writer) {
		sum->handed += 1;
		sum->handed_ns += turn->on_worker - turn->first_recv;
	}
	sum->interleaved += turn->interleaved;
	for (int i = 0; i < WAIT_CLASSES; i++)
		sum->spent_ns[i] += turn->used_ns[i];
	sum->downstream_ns += turn->used_downstream_ns;
}

__noinline int add_turn(struct turn *turn)
{
	if (!turn)
		return 0;
	__u32 at = turn->kind;
	__u64 latency = turn->last_send - turn->begin;
	struct kind *kind = at ? bpf_map_lookup_elem(&kinds, &at) : 0;
	struct kind_sums *sum = bpf_map_lookup_elem(&sums, &at);
	if (!kind || !sum)
		return 0;
	__u64 bucket = latency_bucket(latency);
	asm volatile("" : "+r"(bucket)); /* kernels before 6.2 lose the bound of a number that was compared as 32 bits */
	if (bucket < LATENCIES)
		__sync_fetch_and_add(&kind->latency[bucket], 1);
	sum->errors += turn->failed;
	sum->bytes_in += turn->in;
	sum->bytes_out += turn->out;
	sum->total_ns += latency;
	sum->wait_ns += turn->first_recv - turn->begin;
	if (turn->role == SERVER) {
		sum->upload_ns += turn->last_recv - turn->first_recv;
		sum->serve_ns += turn->first_send - turn->last_recv;
		sum->answer_ns += turn->last_send - turn->first_send;
		sum->unsent_ns += turn->unsent_ns;
		add_spent(sum, turn);
	}
	hand_over(turn, latency); /* of a client: what requests of event loops and tasks waited for is among them */
	return 0;
}

static __noinline int is_of_streams(const struct turn *turn)
{
	struct service *service = service_at(turn->service);
	if (service)
		__sync_fetch_and_add(&service->multiplexed, 1);
	return 0;
}

/* Ends the request in progress, if it was answered. */
static __always_inline void finish(struct turn *turn)
{
	if (turn->begin && turn->last_send >= turn->begin && within_window(turn->begin)) {
		if (turn->frames) /* perhaps: a turn says nothing of them */
			is_of_streams(turn);
		else if (!turn->booked)
			add_turn(turn);
	}
	turn->booked = 0;
	turn->begin = turn->last_send = turn->first_send = 0;
	turn->in = turn->out = 0;
	turn->on_worker = 0;
	turn->status = 0;
	turn->failed = turn->interleaved = turn->no_wait = turn->followed = 0;
	turn->unsent_ns = turn->unsent_by = 0;
}

/* Of a client the request is what it sent: first_recv and last_send are the answer's arrival. */
static __always_inline void finish_client(struct turn *turn)
{
	if (turn->begin && turn->first_recv) {
		turn->last_send = turn->last_recv;
		if (turn->last_send < turn->begin)
			turn->last_send = turn->begin;
		if (turn->first_recv < turn->begin)
			turn->first_recv = turn->begin;
		finish(turn);
	}
	turn->begin = turn->first_recv = turn->last_recv = turn->ready = turn->last_send = 0;
	turn->in = turn->out = 0;
}

static __always_inline void end_turn(struct turn *turn)
{
	if (turn->role == CLIENT)
		finish_client(turn);
	else if (turn->last_send)
		finish(turn);
}

/* Of a unix socket nothing tells the end: an answer counts at its begin, and grows by each send. */
__noinline int book(struct turn *turn, __u64 before, int sent)
{
	if (!turn)
		return 0;
	__u32 at = turn->kind;
	if (!within_window(turn->begin))
		return 0;
	if (!turn->booked) {
		turn->booked = 1;
		add_turn(turn);
		return 0;
	}
	struct kind *kind = at ? bpf_map_lookup_elem(&kinds, &at) : 0;
	struct kind_sums *sum = bpf_map_lookup_elem(&sums, &at);
	__u64 was = latency_bucket(before - turn->begin), is = latency_bucket(turn->last_send - turn->begin);
	asm volatile("" : "+r"(was), "+r"(is)); /* as above */
	if (!kind || !sum || was >= LATENCIES || is >= LATENCIES)
		return 0;
	__sync_fetch_and_add(&kind->latency[was], -1);
	__sync_fetch_and_add(&kind->latency[is], 1);
	sum->bytes_out += sent;
	sum->answer_ns += turn->last_send - before;
	sum->total_ns += turn->last_send - before;
	hand_over(turn, turn->last_send - turn->begin);
	return 0;
}
