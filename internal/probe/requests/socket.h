/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What is kept of a socket. Where hooks give the socket it is kept with it, and goes with it.
 * Where system calls are followed it is in tables by the socket's address, and goes when the
 * connection ends. */
#pragma once

#include "streams.h"

#define SOCKETS 32768    /* that are known by their address at once */
#define CONNECTIONS 1024 /* of HTTP/2 among them */

/* Of a unix socket, whose end nothing tells, the number says whether the address is another's by
 * now; else it is 0. */
struct socket_key {
	__u64 address, number;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SOCKETS);
	__type(key, struct socket_key);
	__type(value, struct turn);
} turns_by_address SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CONNECTIONS);
	__type(key, struct socket_key);
	__type(value, struct connection);
} connections_by_address SEC(".maps");

const struct turn no_turn = {};

/* Too large for a constant of the program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct connection);
} no_connection SEC(".maps");

static __always_inline struct socket_key key_of(const struct sock *sk)
{
	struct socket_key key = {.address = (__u64)sk};
	if (BPF_CORE_READ(sk, __sk_common.skc_family) == FAMILY_UNIX) {
		struct socket_alloc *socket = (void *)BPF_CORE_READ(sk, sk_socket);
		key.number = BPF_CORE_READ(socket, vfs_inode.i_ino);
	}
	return key;
}

static __noinline struct turn *turn_at(const struct sock *sk)
{
	struct socket_key key = key_of(sk);
	return bpf_map_lookup_elem(&turns_by_address, &key);
}

static __noinline struct turn *make_turn_at(const struct sock *sk)
{
	struct socket_key key = key_of(sk);
	bpf_map_update_elem(&turns_by_address, &key, &no_turn, BPF_NOEXIST); /* or it is there already */
	return bpf_map_lookup_elem(&turns_by_address, &key);
}

static __noinline struct connection *connection_at(const struct sock *sk)
{
	struct socket_key key = key_of(sk);
	return bpf_map_lookup_elem(&connections_by_address, &key);
}

static __noinline struct connection *make_connection_at(const struct sock *sk)
{
	__u32 zero = 0;
	struct socket_key key = key_of(sk);
	struct connection *nothing = bpf_map_lookup_elem(&no_connection, &zero);
	if (nothing)
		bpf_map_update_elem(&connections_by_address, &key, nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&connections_by_address, &key);
}

/* A connection has ended. What lies with a socket goes with it. */
static __always_inline void forget_socket(const struct sock *sk)
{
	if (!by_calls)
		return;
	struct socket_key key = key_of(sk);
	bpf_map_delete_elem(&turns_by_address, &key);
	bpf_map_delete_elem(&connections_by_address, &key);
}

/* What is known of a socket; NULL for a stranger's: with hooks by one load where no program
 * keeps anything for it. */
static __always_inline struct turn *turn_of(struct sock *sk)
{
	if (!by_calls && !sk->sk_bpf_storage)
		return 0;
	struct turn *turn = by_calls ? turn_at(sk) : bpf_sk_storage_get(&turns, sk, 0, 0);
	return turn && turn->epoch == epoch ? turn : 0;
}

static __always_inline struct connection *connection_of(struct sock *sk)
{
	return by_calls ? connection_at(sk) : bpf_sk_storage_get(&connections, sk, 0, 0);
}

static __always_inline struct connection *make_connection(struct sock *sk)
{
	return by_calls ? make_connection_at(sk) :
			  bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
}

#define SLOTS 1024 /* of waiting.h, given in turn */
volatile __u32 slots_given = 0;

/* Gives a socket its role; a listener, or what is none of the target's, has none. */
static __always_inline struct turn *make_turn(struct sock *sk, __u32 role, __u32 service, __u32 tgid)
{
	struct turn *turn = by_calls ? make_turn_at(sk) :
				       bpf_sk_storage_get(&turns, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!turn) {
		count_loss(LOST_SOCKETS);
		return 0;
	}
	turn->begin = turn->first_recv = turn->last_recv = turn->first_send = turn->last_send = turn->ready = 0;
	turn->in = turn->out = turn->on_worker = 0;
	turn->service = service;
	turn->role = service ? role : IGNORED;
	turn->tgid = tgid;
	turn->protocol = UNKNOWN;
	turn->frames = 0;
	turn->status = 0;
	turn->interleaved = turn->failed = turn->no_wait = turn->booked = turn->followed = turn->opening = 0;
	turn->covered = turn->head_length = 0;
	turn->head = 0;
	turn->datagrams = !is_stream(sk);
	turn->questions = 0;
	turn->asked = 0;
	turn->of_unix = OF_SOCKET(sk, __sk_common.skc_family) == FAMILY_UNIX;
	turn->draw = (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
	turn->slot = __sync_fetch_and_add(&slots_given, 1) % SLOTS;
	turn->epoch = epoch;
	return turn;
}
