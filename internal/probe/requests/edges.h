/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where sockets begin and end, and where the window does. */
#pragma once

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(state_changed, struct sock *sk, int before, int now)
{
	if (over || sk->sk_protocol != PROTOCOL_TCP)
		return 0;
	if (now == SYN_SENT)
		forget_socket(sk); /* which was another's, if anybody's */
	if (now == LISTEN || now == SYN_SENT) { /* in the call of the process */
		struct task_struct *task = bpf_get_current_task_btf();
		if (is_stranger(task) || !state_of(task))
			return 0;
		if (now == LISTEN)
			listens(sk, task->tgid);
		return 0; /* its peer is not known yet: it is adopted when it sends */
	}
	if (now == ESTABLISHED && before == SYN_RECV) {
		__u32 service = listener_service(sk);
		struct turn *opened = service ? make_turn(sk, SERVER, service, 0) : 0;
		if (opened && by_calls) { /* a request may have come with the handshake: no other hook tells */
			opened->opening = 1;
			opened->ready = bpf_ktime_get_ns();
		}
		return 0;
	}
	if (now != CLOSED && now != FIN_WAIT1 && now != LAST_ACK)
		return 0;
	struct turn *turn = turn_of(sk);
	if (!turn)
		return 0;
	note_unsent(sk, turn);
	end_turn(turn);
	if (now == CLOSED)
		forget_socket(sk);
	return 0;
}

/* Two walks over the open files of the target when the window begins: first the listeners, then
 * the others. */
volatile __u32 listeners_only = 1;

/* The socket behind an open file of the target's that takes turns; NULL: it is something else. */
static __always_inline struct sock *stream_of(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	if (!task || !file || !state_of(task))
		return 0;
	struct socket *socket = bpf_sock_from_file(file);
	struct sock *sk = socket ? socket->sk : 0;
	return sk && is_stream(sk) ? sk : 0;
}

SEC("iter/task_file")
int open_sockets(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct sock *sk = stream_of(ctx);
	if (!task || !sk)
		return 0;
	if (listeners_only) {
		if (sk->__sk_common.skc_state == LISTEN)
			listens(sk, task->tgid);
		return 0;
	}
	if (!turn_of(sk))
		adopt(sk, task->tgid, false);
	return 0;
}

/* Ends an answer that is long over, and shows a request that has none when the window ends. */
static __always_inline int sweep_turn(struct bpf_iter_meta *meta, struct sock *sk, struct turn *turn)
{
	struct request_event event = {};
	__u64 now = bpf_ktime_get_ns();
	if (turn->epoch != epoch || !turn->begin)
		return 0;
	if (turn->role == CLIENT) {
		if (turn->first_recv && (over || now - turn->last_recv > IDLE_NS))
			finish_client(turn);
		return 0;
	}
	if (turn->last_send) {
		if (!over && now - turn->last_send <= IDLE_NS)
			return 0;
		if (sk)
			note_unsent(sk, turn);
		finish(turn);
		return 0;
	}
	if (!over)
		return 0;
	fill_event(&event, turn);
	event.in_progress = 1;
	bpf_seq_write(meta->seq, &event, sizeof(event));
	return 0;
}

SEC("iter/bpf_sk_storage_map")
int sweep(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct turn *turn = ctx->value;
	return ctx->sk && turn ? sweep_turn(ctx->meta, ctx->sk, turn) : 0;
}

SEC("iter/bpf_map_elem")
int sweep_by_address(struct bpf_iter__bpf_map_elem *ctx)
{
	struct socket_key *key = ctx->key;
	struct turn *turn = ctx->value;
	if (!key || !turn)
		return 0;
	sweep_turn(ctx->meta, 0, turn);
	if (key->number && !turn->begin && turn->protocol != HTTP2 && bpf_ktime_get_ns() - turn->last_recv > FORGET_NS) {
		struct socket_key unused = *key; /* a unix socket: it is adopted again if it is there */
		bpf_map_delete_elem(&turns_by_address, &unused);
		bpf_map_delete_elem(&connections_by_address, &unused);
	}
	return 0;
}

SEC("iter/task_file")
int sweep_files(struct bpf_iter__task_file *ctx)
{
	struct sock *sk = stream_of(ctx);
	struct turn *turn = sk ? turn_of(sk) : 0;
	return turn ? sweep_turn(ctx->meta, sk, turn) : 0;
}

/* Shows the streams that have no answer when the window ends. */
static __always_inline int sweep_connection(struct bpf_iter_meta *meta, const struct turn *turn,
					    struct connection *connection)
{
	if (turn->protocol != HTTP2 || turn->role != SERVER)
		return 0;
	for (__u32 i = 0; i < STREAMS; i++) {
		struct stream *stream = &connection->streams[i];
		struct request_event event = {};
		if (!stream->id)
			continue;
		event.begin = stream->begin;
		event.first_recv = stream->first_recv;
		event.last_recv = stream->last_recv;
		event.in = stream->in;
		event.out = stream->out;
		event.tgid = stream->tgid;
		event.reader = stream->reader;
		event.kind = stream->kind;
		event.no_wait = stream->no_wait;
		event.in_progress = 1;
		bpf_seq_write(meta->seq, &event, sizeof(event));
	}
	return 0;
}

SEC("iter/bpf_sk_storage_map")
int sweep_streams(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct connection *connection = ctx->value;
	struct sock *sk = ctx->sk;
	struct turn *turn = sk && connection ? turn_of(sk) : 0;
	return turn ? sweep_connection(ctx->meta, turn, connection) : 0;
}

SEC("iter/bpf_map_elem")
int sweep_streams_by_address(struct bpf_iter__bpf_map_elem *ctx)
{
	struct connection *connection = ctx->value;
	struct socket_key *of = ctx->key;
	if (!of || !connection)
		return 0;
	struct socket_key key = *of;
	struct turn *turn = bpf_map_lookup_elem(&turns_by_address, &key);
	return turn && turn->epoch == epoch ? sweep_connection(ctx->meta, turn, connection) : 0;
}

SEC("iter/task_file")
int sweep_streams_of_files(struct bpf_iter__task_file *ctx)
{
	struct sock *sk = stream_of(ctx);
	struct turn *turn = sk ? turn_of(sk) : 0;
	struct connection *connection = turn ? connection_of(sk) : 0;
	return connection ? sweep_connection(ctx->meta, turn, connection) : 0;
}
