/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where sockets begin and end, and where the window does. */
#pragma once

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(state_changed, struct sock *sk, int before, int now)
{
	if (over || sk->sk_protocol != PROTOCOL_TCP)
		return 0;
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
		if (service)
			make_turn(sk, SERVER, service, 0);
		return 0;
	}
	if (now != CLOSED && now != FIN_WAIT1 && now != LAST_ACK)
		return 0;
	struct turn *turn = turn_of(sk);
	if (!turn)
		return 0;
	end_turn(turn);
	return 0;
}

/* Two walks over the open files of the target when the window begins: first the listeners, then the others. */
volatile __u32 listeners_only = 1;

SEC("iter/task_file")
int open_sockets(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	if (!task || !file || !state_of(task))
		return 0;
	struct socket *socket = bpf_sock_from_file(file);
	struct sock *sk = socket ? socket->sk : 0;
	if (!sk || !is_stream(sk))
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

/* Ends answers that are long over, and shows the requests that have none when the window ends. */
SEC("iter/bpf_sk_storage_map")
int sweep(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct turn *turn = ctx->value;
	struct request_event event = {};
	__u64 now = bpf_ktime_get_ns();
	if (!ctx->sk || !turn || turn->epoch != epoch || !turn->begin)
		return 0;
	if (turn->role == CLIENT) {
		if (turn->first_recv && (over || now - turn->last_recv > IDLE_NS))
			finish_client(turn);
		return 0;
	}
	if (turn->last_send) {
		if (over || now - turn->last_send > IDLE_NS)
			finish(turn);
		return 0;
	}
	if (!over)
		return 0;
	fill_event(&event, turn);
	event.in_progress = 1;
	bpf_seq_write(ctx->meta->seq, &event, sizeof(event));
	return 0;
}

/* Shows the streams that have no answer when the window ends. */
SEC("iter/bpf_sk_storage_map")
int sweep_streams(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct connection *connection = ctx->value;
	struct sock *sk = ctx->sk;
	if (!sk || !connection)
		return 0;
	struct turn *turn = turn_of(sk);
	if (!turn || turn->protocol != HTTP2 || turn->role != SERVER)
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
		bpf_seq_write(ctx->meta->seq, &event, sizeof(event));
	}
	return 0;
}
