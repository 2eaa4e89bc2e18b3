/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where the target listens. */
#pragma once

#include "service.h"

/* Of TCP by namespace and port; of unix sockets by the address that an accepted socket shares with
 * its listener. */
struct listener_key {
	__u64 where;
	__u32 port, unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, struct listener_key);
	__type(value, __u32); /* the service */
} listeners SEC(".maps");

static __always_inline struct listener_key listener_of(const struct sock *sk)
{
	struct listener_key key = {};
	if (OF_SOCKET(sk, __sk_common.skc_family) == FAMILY_UNIX) {
		key.where = (__u64)unix_name(sk);
		return key;
	}
	key.where = (__u64)OF_SOCKET(sk, __sk_common.skc_net.net);
	key.port = OF_SOCKET(sk, __sk_common.skc_num);
	return key;
}

static __always_inline __u32 listener_service(const struct sock *sk)
{
	struct listener_key key = listener_of(sk);
	if (!key.where)
		return 0;
	__u32 *known = bpf_map_lookup_elem(&listeners, &key);
	return known ? *known : 0;
}

/* A socket of the target listens. */
static __always_inline void listens(const struct sock *sk, __u32 tgid)
{
	struct listener_key key = listener_of(sk);
	if (!key.where || bpf_map_lookup_elem(&listeners, &key))
		return;
	__u32 service = service_of(sk, SERVER, tgid);
	if (service && bpf_map_update_elem(&listeners, &key, &service, BPF_ANY))
		count_loss(LOST_SERVICES);
}
