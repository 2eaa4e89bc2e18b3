//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Requests of the target's services, by whose turn it is on their sockets: from data that is
 * ready, read or not, to the last byte of the answer that is sent before the next request is
 * read. What the target asks of others is followed the same way, from the other end. */
#include "client.h"
#include "frames.h"
#include "listener.h"
#include "spell.h"
#include "unsent.h"
#include "waiting.h"

#define MSG_PEEK 2
#define IDLE_NS 100000000 /* after so long without another byte an answer is over */
#define FORGET_NS 10000000000ull

volatile __u32 over = 0; /* the window has ended, the programs are about to be detached */

/* A socket that nobody knows, in a call of the target: one that was made before the window, or
 * handed to it. */
static __always_inline struct turn *adopt(struct sock *sk, __u32 tgid, bool sends)
{
	__u8 state = OF_SOCKET(sk, __sk_common.skc_state);
	if (sends && asks_by_datagrams(sk))
		return make_turn(sk, CLIENT, service_of(sk, CLIENT, tgid), tgid);
	if (!is_stream(sk) || state == LISTEN)
		return 0;
	if (by_calls && state == CLOSED && OF_SOCKET(sk, __sk_common.skc_family) != FAMILY_UNIX)
		return 0; /* nothing would tell when to forget it */
	__u32 service = listener_service(sk);
	if (service)
		return make_turn(sk, SERVER, service, tgid);
	if (!sends && was_accepted(sk)) { /* its listener is closed, as that of a server that is about to end */
		listens(sk, tgid);
		return make_turn(sk, SERVER, listener_service(sk), tgid);
	}
	if (OF_SOCKET(sk, __sk_common.skc_family) == FAMILY_UNIX) {
		if (!unix_name(sk))
			return make_turn(sk, CLIENT, service_of(sk, CLIENT, tgid), tgid);
		listens(sk, tgid); /* its other connections have their wait, this one's first request has not */
		return make_turn(sk, SERVER, listener_service(sk), tgid);
	}
	return make_turn(sk, CLIENT, service_of(sk, CLIENT, tgid), tgid);
}

/* Data that a call can take. */
static __always_inline void note_ready(struct turn *turn)
{
	if (turn->role == CLIENT ? turn->begin != 0 || turn->protocol == HTTP2 : !turn->ready)
		turn->ready = bpf_ktime_get_ns();
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(ready, struct sock *sk)
{
	struct turn *turn = turn_of(sk);
	if (!turn) {
		/* A unix socket that was accepted, and is read for the first time: TCP's are known by their
		 * state. */
		if (over || sk->__sk_common.skc_family != FAMILY_UNIX || sk->__sk_common.skc_state == LISTEN)
			return 0;
		__u32 service = listener_service(sk);
		turn = service ? make_turn(sk, SERVER, service, 0) : 0;
		if (!turn)
			return 0;
	}
	note_ready(turn);
	return 0;
}

/* What is read to its end leaves the queue at once; what came while the call held the socket is
 * in it by now. */
static __always_inline bool all_read(struct sock *sk) { return !OF_SOCKET(sk, sk_receive_queue.qlen); }

/* Whether what a call has read or sent is frames of streams, which are then followed; known: so
 * many bytes of the connection's first words came before. */
static __always_inline bool has_frames(struct sock *sk, struct turn *turn, int bytes, __u32 known, bool answers)
{
	if (turn->protocol != HTTP2)
		return false;
	follow_streams(sk, turn);
	follow_frames(sk, turn, bytes, turn->preface && known < PREFACE ? PREFACE - known : 0, answers);
	return true;
}

static __always_inline void begin_turn(struct turn *turn, struct task_struct *task, struct task_state *state,
				       int received, __u64 now)
{
	turn->begin = turn->ready ? turn->ready : now;
	turn->no_wait = !turn->ready;
	turn->head_length = 0;
	turn->head = 0;
	turn->first_recv = now;
	turn->tgid = task->tgid;
	turn->reader = task->pid;
	look(turn, task, received);
	turn->era = 0;
	if (!state)
		return;
	took_up(turn, state);
	state->requests += 1;
	turn->number = state->requests;
	state->downstream_service = 0;
	state->downstream_most_ns = 0;
}

/* What is seldom is kept out of the way of what comes with each request, whose code then fills
 * fewer lines of the cache. Here: a socket that is not known, in a call of anybody. */
static __noinline struct turn *adopt_of(struct sock *sk, struct task_struct *task, int sends)
{
	return !over && state_of(task) ? adopt(sk, task->tgid, sends) : 0;
}

static __noinline int other_end_closed(struct sock *sk)
{
	struct turn *turn = over ? 0 : turn_of(sk);
	if (!turn)
		return 0;
	note_unsent(sk, turn);
	end_turn(turn);
	return 0;
}

/* A call of the target's has received so much. */
static __always_inline int after_receiving(struct sock *sk, int ret, int flags)
{
	if (ret <= 0 || (flags & MSG_PEEK))
		return ret || (flags & MSG_PEEK) ? 0 : other_end_closed(sk);
	struct turn *turn = turn_of(sk);
	struct task_struct *task = bpf_get_current_task_btf();
	if (!turn) {
		turn = is_stranger(task) ? 0 : adopt_of(sk, task, false);
		if (!turn)
			return 0;
	}
	if (over)
		return 0;
	if (turn->protocol == HTTP2) {
		follow_frames(sk, turn, ret, 0, turn->role == CLIENT);
		if (turn->role == SERVER && all_read(sk))
			turn->ready = 0;
		return 0;
	}
	if (turn->role != SERVER)
		return turn->role == CLIENT ? client_received(turn, task, ret) : 0;
	__u64 now = bpf_ktime_get_ns();
	if (turn->last_send) {
		note_unsent(sk, turn);
		finish(turn);
	}
	__u32 known = turn->begin && !turn->first_send ? turn->head_length : 0;
	if (!turn->begin)
		begin_turn(turn, task, known_state_of(task), ret, now);
	else if (known)
		look(turn, task, ret);
	bool frames = has_frames(sk, turn, ret, known, false);
	if (all_read(sk)) /* else what is left is of a request that waits */
		turn->ready = 0;
	if (frames)
		return 0;
	turn->last_recv = now;
	turn->in += ret;
	if (notes_goroutines)
		note_goroutine(turn);
	return 0;
}

/* An interim answer, 100 Continue, ends nothing. */
static __always_inline bool is_interim(struct turn *turn, struct task_struct *task, int sent)
{
	__u8 byte[16];
	__u8 protocol = turn->protocol;
	if (sent < sizeof(byte) ||
	    (protocol != HTTP1 && protocol != REDIS && protocol != POSTGRES && protocol != MYSQL))
		return false;
	void *from = bytes_of_call(task);
	if (!from || bpf_probe_read_user(byte, sizeof(byte), from))
		return false;
	switch (protocol) {
	case HTTP1:
		if (*(__u32 *)byte != 0x50545448 || byte[8] != ' ') /* HTTP/1.x nnn */
			return false;
		turn->status = (byte[9] - '0') * 100 + (byte[10] - '0') * 10 + (byte[11] - '0');
		turn->failed = byte[9] == '5';
		return byte[9] == '1' && turn->status != 101;
	case REDIS:
		turn->failed = byte[0] == '-';
		return false;
	case POSTGRES:
		turn->failed = byte[0] == 'E' && !byte[1];
		return false;
	case MYSQL:
		turn->failed = byte[4] == 0xff;
		return false;
	}
	return false;
}

/* Sent though nobody asked. */
static __noinline int pushed(const struct turn *turn, __u64 now)
{
	struct service *service = service_at(turn->service);
	if (service && within_window(now))
		__sync_fetch_and_add(&service->pushes, 1);
	return 0;
}

static __always_inline int server_sent(struct turn *turn, struct task_struct *task, struct task_state *state,
					int sent, __u64 now)
{
	if (!turn->begin)
		return pushed(turn, now);
	if (!turn->first_send) {
		if (is_interim(turn, task, sent))
			return 0;
		turn->first_send = now;
		turn->writer = task->pid;
		if (state && turn->writer != turn->reader)
			took_up_elsewhere(turn, state);
		else if (state)
			turn->interleaved = state->requests != turn->number;
	}
	__u64 before = turn->last_send;
	turn->last_send = now;
	turn->out += sent;
	if (state && turn->writer == task->pid)
		answered(turn, state, now);
	if (turn->of_unix)
		book(turn, before, sent);
	if (notes_goroutines)
		goroutine_answered(turn);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(received, struct sock *sk, int ret, int flags)
{
	return after_receiving(sk, ret, flags);
}

/* A call of the target's has sent so much. */
static __always_inline int after_sending(struct sock *sk, int ret)
{
	if (ret <= 0)
		return 0;
	struct turn *turn = turn_of(sk);
	struct task_struct *task = bpf_get_current_task_btf();
	if (!turn) {
		turn = is_stranger(task) ? 0 : adopt_of(sk, task, true);
		if (!turn)
			return 0;
	}
	if (over)
		return 0;
	if (turn->protocol == HTTP2) {
		follow_frames(sk, turn, ret, 0, turn->role == SERVER);
		return 0;
	}
	if (turn->role == CLIENT) {
		if (client_sent(turn, task, ret))
			has_frames(sk, turn, ret, 0, false);
		return 0;
	}
	if (turn->role != SERVER)
		return 0;
	turn->sent_tick = bpf_jiffies64(); /* here, where it needs no stack: before Linux 6.2 that is short */
	return server_sent(turn, task, known_state_of(task), ret, bpf_ktime_get_ns());
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(sent, struct sock *sk, int ret, int flags)
{
	return after_sending(sk, ret);
}

#include "edges.h"
#include "bycall.h"
