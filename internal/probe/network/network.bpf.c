//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* TCP connections of the host: opened, refused, accepted, sent again, reset, by
 * owner and peer, added up in the kernel. Nothing of this runs per packet. */
#include "../bpf/edge.h"
#include "../bpf/member.h"

#define AF_INET 2
#define IPPROTO_TCP 6
#define IPPROTO_MPTCP 262 /* Go's listeners, for one; its connections are TCP's, and seen as such */

enum { ESTABLISHED = 1, SYN_SENT = 2, SYN_RECV = 3, CLOSED = 7, LISTEN = 10 }; /* include/net/tcp_states.h */
enum what { CONNECT = 1, FAILED = 2, ACCEPT = 3, RETRANSMIT = 4, RESET = 5 };
enum loss { LOST_TOTALS = 0, LOST_OWNERS = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr___culprit {
	struct {
		unsigned char u6_addr8[16];
	} in6_u;
};

typedef struct {
	void *net;
} possible_net_t;

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr___culprit skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

struct socket {
	struct sock *sk;
};

struct file {
	void *private_data;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

#pragma clang attribute pop

/* Whose a connection is. */
struct owner {
	__u64 asked; /* for a connection at; 0 when it is there */
	__u32 tgid, target;
	__u32 accepted, unused; /* the other end has opened it: its port says nothing */
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64); /* the address of the sock */
	__type(value, struct owner);
} owners SEC(".maps");

struct listener_key {
	__u64 net;
	__u32 port, unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct listener_key);
	__type(value, struct owner);
} listeners SEC(".maps");

struct total_key {
	__u32 what, tgid;
	__u32 family, port;
	__u8 address[16];
};

struct total {
	__u64 count, total_ns;
	__u32 target, unused;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, struct total_key);
	__type(value, struct total);
} totals SEC(".maps");

static __always_inline void fill_owner(struct owner *owner, struct task_struct *task, __u32 target)
{
	owner->tgid = task->tgid;
	owner->target = target;
	bpf_probe_read_kernel(owner->comm, sizeof(owner->comm), task->group_leader->comm);
}

static __always_inline struct listener_key listener_of(const struct sock *sk)
{
	struct listener_key key = {.net = (__u64)sk->__sk_common.skc_net.net, .port = sk->__sk_common.skc_num};
	return key;
}

/* The address of one end; of whom the other end has called only the host, because its port is a
 * new one each time. */
static __always_inline void fill_peer(struct total_key *key, const struct sock *sk, struct owner *owner)
{
	key->family = sk->__sk_common.skc_family;
	if (key->what == ACCEPT) {
		key->port = sk->__sk_common.skc_num;
		if (key->family == AF_INET)
			*(__be32 *)key->address = sk->__sk_common.skc_rcv_saddr;
		else
			bpf_probe_read_kernel(key->address, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		return;
	}
	if (!owner || !owner->accepted)
		key->port = __builtin_bswap16(sk->__sk_common.skc_dport);
	if (key->family == AF_INET)
		*(__be32 *)key->address = sk->__sk_common.skc_daddr;
	else
		bpf_probe_read_kernel(key->address, 16, &sk->__sk_common.skc_v6_daddr);
}

static __always_inline void add(__u32 what, const struct sock *sk, struct owner *owner, __u64 took_ns)
{
	struct total_key key = {.what = what, .tgid = owner ? owner->tgid : 0};
	struct total first = {.count = 1, .total_ns = took_ns};
	if (!within_window(bpf_ktime_get_ns()))
		return;
	fill_peer(&key, sk, owner);
	struct total *known = bpf_map_lookup_elem(&totals, &key);
	if (known) {
		__sync_fetch_and_add(&known->count, 1);
		__sync_fetch_and_add(&known->total_ns, took_ns);
		return;
	}
	if (owner) {
		first.target = owner->target;
		__builtin_memcpy(first.comm, owner->comm, sizeof(first.comm));
	}
	if (bpf_map_update_elem(&totals, &key, &first, BPF_ANY))
		count_loss(LOST_TOTALS);
}

static __always_inline void keep(__u64 key, struct owner *owner)
{
	if (bpf_map_update_elem(&owners, &key, owner, BPF_ANY))
		count_loss(LOST_OWNERS);
}

/* In the process that asks: connect(2), listen(2). */
static __always_inline void asked(const struct sock *sk, int now_state)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct owner owner = {.asked = now_state == SYN_SENT ? bpf_ktime_get_ns() : 0};
	fill_owner(&owner, task, is_target(task));
	if (now_state == SYN_SENT) {
		keep((__u64)sk, &owner);
		return;
	}
	struct listener_key key = listener_of(sk);
	owner.accepted = 1;
	if (bpf_map_update_elem(&listeners, &key, &owner, BPF_ANY))
		count_loss(LOST_OWNERS);
}

/* In whatever runs when the answer arrives. */
static __always_inline void answered(const struct sock *sk, __u32 what)
{
	__u64 key = (__u64)sk;
	struct owner *owner = bpf_map_lookup_elem(&owners, &key);
	if (!owner || !owner->asked)
		return; /* asked before the window */
	__u64 now = bpf_ktime_get_ns();
	add(what, sk, owner, now - owner->asked);
	owner->asked = 0;
}

static __always_inline void accepted(const struct sock *sk)
{
	struct listener_key key = listener_of(sk);
	struct owner *listener = bpf_map_lookup_elem(&listeners, &key);
	add(ACCEPT, sk, listener, 0);
	if (listener)
		keep((__u64)sk, listener);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(state_changed, const struct sock *sk, int before, int now)
{
	__u64 key = (__u64)sk;
	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (now == SYN_SENT || now == LISTEN)
		asked(sk, now);
	else if (now == ESTABLISHED && before == SYN_SENT)
		answered(sk, CONNECT);
	else if (now == ESTABLISHED && before == SYN_RECV)
		accepted(sk);
	else if (now == CLOSED && before == SYN_SENT)
		answered(sk, FAILED);
	if (now == CLOSED)
		bpf_map_delete_elem(&owners, &key);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(sent_again, const struct sock *sk)
{
	__u64 key = (__u64)sk;
	add(RETRANSMIT, sk, bpf_map_lookup_elem(&owners, &key), 0);
	return 0;
}

SEC("tp_btf/tcp_receive_reset")
int BPF_PROG(was_reset, struct sock *sk)
{
	__u64 key = (__u64)sk;
	add(RESET, sk, bpf_map_lookup_elem(&owners, &key), 0);
	return 0;
}

/* Learns whose the sockets are that are there when the window begins, over all open files of the
 * host. */
SEC("iter/task_file")
int window_begins(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	if (!task || !file)
		return 0;
	struct socket *socket = bpf_sock_from_file(file);
	if (!socket)
		return 0;
	struct sock *sk = socket->sk;
	if (!sk || (sk->sk_protocol != IPPROTO_TCP && sk->sk_protocol != IPPROTO_MPTCP))
		return 0;
	struct listener_key key = listener_of(sk);
	struct owner owner = {};
	__u8 state = sk->__sk_common.skc_state;
	fill_owner(&owner, task, is_target(task));
	if (state == LISTEN) {
		owner.accepted = 1;
		bpf_map_update_elem(&listeners, &key, &owner, BPF_NOEXIST);
	} else if (state != CLOSED && state != SYN_SENT) {
		owner.accepted = !!bpf_map_lookup_elem(&listeners, &key);
		keep((__u64)sk, &owner);
	}
	return 0;
}
