/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Services and kinds of requests. A service is a listening port of a network namespace, or the
 * path of a unix socket; seen from the other side it is where the target's own requests go to. A
 * kind is what its requests have in common. */
#pragma once

#include "../bpf/edge.h"
#include "../bpf/task.h"

#define FAMILY_UNIX 1
#define FAMILY_INET 2
#define FAMILY_INET6 10
#define SOCK_STREAM 1
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define PROTOCOL_MPTCP 262 /* Go's listeners, for one; their connections are TCP's */
#define UNIX_NAME 108 /* include/uapi/linux/un.h */

enum { ESTABLISHED = 1, SYN_SENT = 2, SYN_RECV = 3, FIN_WAIT1 = 4, CLOSED = 7, LAST_ACK = 9, LISTEN = 10 };
enum role { STRANGER = 0, SERVER = 1, CLIENT = 2, IGNORED = 3 };
enum loss { LOST_EVENTS, LOST_SERVICES, LOST_KINDS, LOST_SOCKETS };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr___requests { struct { unsigned char u6_addr8[16]; } in6_u; };
struct ns_common { unsigned int inum; };
struct net { struct ns_common ns; };
typedef struct { struct net *net; } possible_net_t;
struct sock_common {
	__be32 skc_daddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr___requests skc_v6_daddr;
};
struct sk_buff_head { __u32 qlen; };
struct socket;
struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
	__u16 sk_type, sk_protocol;
	struct socket *sk_socket;
	void *sk_bpf_storage;
};
struct tcp_sock { __u32 rcv_nxt, lsndtime, total_retrans; };
struct tcp_sock___flags { __u8 nonagle : 4; };
struct inet_bind_bucket { signed char fastreuse; };
struct inet_connection_sock { struct inet_bind_bucket *icsk_bind_hash; };
struct sockaddr_un { unsigned short sun_family; char sun_path[UNIX_NAME]; };
struct unix_address { int len; struct sockaddr_un name[0]; };
struct unix_sock { struct unix_address *addr; struct sock *peer; };
struct socket { struct sock *sk; };
struct inode { unsigned short i_mode; unsigned long i_ino; };
struct socket_alloc { struct inode vfs_inode; };
struct file { struct inode *f_inode; void *private_data; };
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};
struct bpf_map;
struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	struct sock *sk;
	void *value;
};

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key, *value;
};

#pragma clang attribute pop

/* Where the kernel has no hooks on sockets, system calls are followed in their place (bycall.h):
 * what they are about is an address, and no pointer that a program may look behind. */
const volatile __u32 by_calls = 0;

#define OF_SOCKET(sk, field) (by_calls ? BPF_CORE_READ(sk, field) : (sk)->field)

/* Of a unix socket the address has a hash of its name. Beside the port: DATAGRAMS. */
#define DATAGRAMS 0x10000
struct service_key {
	__u32 role, family, port, netns;
	__u8 address[16];
};

#define SERVICES 256

struct service {
	struct service_key key;
	__u32 tgid; /* who owned the first socket seen; 0: not known */
	__u32 requests_kind; /* where requests of no kind go */
	/* What turns say nothing of: sends that nobody asked for, requests given together with another,
	 * turns of connections that carry several streams, and those of which no wait was seen. */
	__u64 pushes, pipelined, multiplexed, adopted;
	char name[UNIX_NAME + 4];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SERVICES);
	__type(key, __u32);
	__type(value, struct service);
} services SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SERVICES);
	__type(key, struct service_key);
	__type(value, __u32);
} service_ids SEC(".maps");

volatile __u32 services_used = 1; /* 0 is none */
volatile __u32 kinds_used = 1;
volatile __u32 epoch = 0; /* number of the window: what sockets know from an earlier one is void */

static __always_inline struct service *service_at(__u32 at)
{
	return at ? bpf_map_lookup_elem(&services, &at) : 0;
}

static __always_inline bool is_stream(const struct sock *sk)
{
	__u16 family = OF_SOCKET(sk, __sk_common.skc_family);
	if (family == FAMILY_UNIX)
		return OF_SOCKET(sk, sk_type) == SOCK_STREAM;
	if (family != FAMILY_INET && family != FAMILY_INET6)
		return false;
	return OF_SOCKET(sk, sk_protocol) == PROTOCOL_TCP ||
	       (OF_SOCKET(sk, sk_protocol) == PROTOCOL_MPTCP && OF_SOCKET(sk, __sk_common.skc_state) == LISTEN);
}

/* A socket that asks one peer by datagrams, as a resolver does its name server: each answer is one.
 * Of others their calls name the peer. */
static __always_inline bool asks_by_datagrams(const struct sock *sk)
{
	__u16 family = OF_SOCKET(sk, __sk_common.skc_family);
	return !by_calls && (family == FAMILY_INET || family == FAMILY_INET6) &&
	       OF_SOCKET(sk, sk_protocol) == PROTOCOL_UDP && OF_SOCKET(sk, __sk_common.skc_dport);
}

/* Whether the port of a connection was bound and not picked by connect(), which marks its ports
 * by -1 (__inet_hash_connect): the connection was accepted, or, seldom, its client chose where
 * it comes from. */
static __always_inline bool was_accepted(const struct sock *sk)
{
	if (OF_SOCKET(sk, __sk_common.skc_family) == FAMILY_UNIX ||
	    !bpf_core_field_exists(struct inet_bind_bucket, fastreuse))
		return false;
	struct inet_bind_bucket *bucket = BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_bind_hash);
	return bucket && BPF_CORE_READ(bucket, fastreuse) >= 0;
}

static __always_inline struct unix_address *unix_name(const struct sock *sk)
{
	return BPF_CORE_READ((struct unix_sock *)sk, addr);
}

static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	return (hash ^ value) * 0x9e3779b97f4a7c15ull + (hash >> 29);
}

struct name_scratch { char text[128]; };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct name_scratch);
} name_scratch SEC(".maps");

/* Not inlined, as other loops here: the verifier looks at it once, and not again for each way
 * that leads to it. */
__noinline __u64 hash_name(void)
{
	__u32 zero = 0;
	__u64 hash = 0x1234567;
	struct name_scratch *name = bpf_map_lookup_elem(&name_scratch, &zero);
	if (!name)
		return 0;
	for (int i = 0; i < UNIX_NAME / 4; i++)
		hash = mix(hash, ((__u32 *)name->text)[i]);
	return hash;
}

/* The name of a unix socket, its hash into the key. */
static __always_inline struct name_scratch *read_unix_name(struct unix_address *address, struct service_key *key)
{
	__u32 zero = 0;
	struct name_scratch *name = bpf_map_lookup_elem(&name_scratch, &zero);
	if (!name || !address)
		return 0;
	__builtin_memset(name, 0, sizeof(*name));
	const char *from = (void *)address + bpf_core_field_offset(struct unix_address, name) + sizeof(unsigned short);
	__s32 len = BPF_CORE_READ(address, len) - (__s32)sizeof(unsigned short);
	if (len <= 0)
		return 0;
	__u32 take = len > UNIX_NAME ? UNIX_NAME : len;
	bpf_probe_read_kernel(name->text, take & 127, from);
	*(__u64 *)key->address = hash_name();
	return name;
}

__noinline __u32 new_service(struct service_key *of, __u32 tgid, __u32 named)
{
	__u32 zero = 0;
	if (!of)
		return 0;
	struct service_key key = *of;
	__u32 *known = bpf_map_lookup_elem(&service_ids, &key);
	if (known)
		return *known;
	__u32 at = __sync_fetch_and_add(&services_used, 1);
	struct service *service = at < SERVICES ? bpf_map_lookup_elem(&services, &at) : 0;
	if (!service) {
		__sync_fetch_and_add(&services_used, -1);
		count_loss(LOST_SERVICES);
		return 0;
	}
	service->key = key;
	service->tgid = tgid;
	service->requests_kind = 0;
	service->pushes = service->pipelined = service->multiplexed = service->adopted = 0;
	struct name_scratch *name = named ? bpf_map_lookup_elem(&name_scratch, &zero) : 0;
	if (name)
		__builtin_memcpy(service->name, name->text, sizeof(service->name));
	else
		service->name[0] = service->name[1] = 0;
	if (bpf_map_update_elem(&service_ids, &key, &at, BPF_NOEXIST)) {
		known = bpf_map_lookup_elem(&service_ids, &key); /* another CPU was first */
		return known ? *known : 0;
	}
	return at;
}

/* The service of a socket in a role; 0: none, or no room. */
static __always_inline __u32 service_of(const struct sock *sk, __u32 role, __u32 tgid)
{
	struct service_key key = {.role = role, .family = OF_SOCKET(sk, __sk_common.skc_family)};
	if (key.family == FAMILY_UNIX) {
		struct unix_address *address = unix_name(sk);
		if (role == CLIENT)
			address = unix_name((void *)BPF_CORE_READ((struct unix_sock *)sk, peer));
		return read_unix_name(address, &key) ? new_service(&key, tgid, 1) : 0;
	}
	key.netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	if (role == SERVER) {
		key.family = FAMILY_INET; /* one port for both */
		key.port = OF_SOCKET(sk, __sk_common.skc_num);
		return new_service(&key, tgid, 0);
	}
	key.port = __builtin_bswap16(OF_SOCKET(sk, __sk_common.skc_dport));
	if (asks_by_datagrams(sk))
		key.port |= DATAGRAMS;
	if (key.family == FAMILY_INET)
		*(__be32 *)key.address = OF_SOCKET(sk, __sk_common.skc_daddr);
	else
		bpf_probe_read_kernel(key.address, 16, &sk->__sk_common.skc_v6_daddr);
	return new_service(&key, tgid, 0);
}
