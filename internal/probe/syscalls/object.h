/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a file descriptor stands for: the path of a file, the peer of a socket, the kind of
 * anything else. bpf_d_path is not allowed in these programs, so the chain of dentries is read,
 * across mounts. */
#pragma once

#include "counts.h"

#define PATH_PARTS 18 /* directories of a path, from the file upwards; what is above shows as "…" */
#define PART_BYTES 80 /* of one name, longer ones are cut */
#define MAX_SOCKET_NAME 108
#define MAX_FD (1 << 20)
#define IFMT 0170000
#define IFSOCK 0140000
#define FAMILY_UNIX 1
#define FAMILY_INET 2
#define FAMILY_INET6 10
#define PROTOCOL_TCP 6

enum { ESTABLISHED = 1, SYN_SENT = 2, FIN_WAIT2 = 5, CLOSE_WAIT = 8 }; /* include/net/tcp_states.h */
enum { DIALLED = 1, TAKEN = 2 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qstr { const unsigned char *name; };
struct file_system_type { const char *name; };
struct super_block { __u32 s_dev; struct file_system_type *s_type; };
struct inode { unsigned short i_mode; unsigned long i_ino; struct super_block *i_sb; };
struct dentry { struct dentry *d_parent; struct qstr d_name; };
struct vfsmount { struct dentry *mnt_root; };
struct mount { struct mount *mnt_parent; struct dentry *mnt_mountpoint; struct vfsmount mnt; };
struct path { struct vfsmount *mnt; struct dentry *dentry; };
struct file { struct inode *f_inode; struct path f_path; void *private_data; };
struct fdtable { unsigned int max_fds; struct file **fd; };
struct files_struct { struct fdtable *fdt; };

struct in6_addr { __u8 in6_u[16]; };
struct sock_common {
	__u32 skc_daddr;
	__u16 skc_dport, skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
};
struct sock { struct sock_common __sk_common; __u16 sk_protocol, sk_type; };
struct tcp_sock { __u32 snd_una, snd_nxt; __u64 bytes_acked, bytes_sent, bytes_retrans; };
struct socket { struct sock *sk; };
struct sockaddr_un { unsigned short sun_family; char sun_path[108]; };
struct unix_address { int len; struct sockaddr_un name[0]; };
struct unix_sock { struct unix_address *addr; struct sock *peer; };

struct task_struct___files { struct files_struct *files; };

#pragma clang attribute pop

/* Of a socket; all zero for anything else. */
struct socket_id {
	__u16 family, protocol, type, state;
	__u16 own_port, peer_port; /* the own one in host order, the peer's in network order */
	/* DIALLED: it made the connection, which of a unix socket means that it is connected to a name
	 * and has none. TAKEN: a TCP socket that accept gave. 0: not known. */
	__u32 dials;
	__u8 peer[16];
};

/* The names of a path, from the file upwards, "" at a mount. Each has its own place: one after
 * the other would be a new state at every step for the verifier. Of a path that a program gave
 * there is one, over all places. */
struct path_names {
	__u32 given, cut; /* cut: there is more above */
	char fstype[16];
	char names[PATH_PARTS][PART_BYTES];
};

struct path_key {
	__u64 dentry, inode;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 2048);
	__type(key, struct path_key);
	__type(value, struct path_names);
} paths SEC(".maps");

/* Too large for a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct path_names);
} path_scratch SEC(".maps");

static __always_inline struct file *file_of(struct task_struct *task, __u64 descriptor)
{
	struct task_struct___files *with = (void *)task;
	struct file *file = 0;
	__u32 fd = descriptor;
	struct fdtable *table = BPF_CORE_READ(with, files, fdt);
	if (!table || fd >= MAX_FD || fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	struct file **files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), &files[fd]);
	return file;
}

/* One step up; false at the top. */
static __always_inline bool climb(struct dentry **dentry, struct mount **mount)
{
	struct dentry *parent = BPF_CORE_READ(*dentry, d_parent);
	if (*dentry != BPF_CORE_READ(*mount, mnt.mnt_root) && *dentry != parent) {
		*dentry = parent;
		return true;
	}
	struct mount *below = BPF_CORE_READ(*mount, mnt_parent);
	if (below == *mount || !below)
		return false;
	*dentry = BPF_CORE_READ(*mount, mnt_mountpoint);
	*mount = below;
	return true;
}

/* Unrolled: the compiler closes this loop by falling into it, which kernels before 6.2 refuse
 * (seen on 6.1). */
static __noinline void read_names(struct path_names *path, struct dentry *dentry, struct mount *mount)
{
	path->cut = 1;
#pragma clang loop unroll(full)
	for (int i = 0; i < PATH_PARTS; i++) {
		path->names[i][0] = 0;
		/* The root of a mount has no name of its own: the directory that it is mounted on has. */
		if (path->cut && dentry != BPF_CORE_READ(mount, mnt.mnt_root))
			bpf_probe_read_kernel_str(path->names[i], PART_BYTES, BPF_CORE_READ(dentry, d_name.name));
		if (path->cut && !climb(&dentry, &mount))
			path->cut = 0;
	}
}

/* Keeps the path of a file, once for all calls on it. */
static __always_inline void keep_path(struct file *file, struct path_key *kept)
{
	__u32 zero = 0;
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	struct vfsmount *mount = BPF_CORE_READ(file, f_path.mnt);
	struct path_names *path = bpf_map_lookup_elem(&path_scratch, &zero);
	struct path_key key = {.dentry = (__u64)dentry, .inode = BPF_CORE_READ(file, f_inode, i_ino)};
	*kept = key;
	if (!path || !dentry || !mount || bpf_map_lookup_elem(&paths, &key))
		return;
	bpf_probe_read_kernel_str(path->fstype, sizeof(path->fstype),
				  BPF_CORE_READ(file, f_inode, i_sb, s_type, name));
	path->given = 0;
	read_names(path, dentry, (void *)mount - bpf_core_field_offset(struct mount, mnt));
	if (bpf_map_update_elem(&paths, &key, path, BPF_ANY))
		count_loss(LOST_PATHS);
}

/* Keeps the path that a call was given as its argument, as it was given. */
static __always_inline void keep_asked(__u64 address, __u64 now, struct path_key *kept)
{
	__u32 zero = 0;
	struct path_names *path = bpf_map_lookup_elem(&path_scratch, &zero);
	struct path_key key = {.dentry = address, .inode = now};
	if (!path || bpf_probe_read_user_str(path->names, sizeof(path->names), (void *)address) <= 1)
		return;
	path->fstype[0] = 0;
	path->given = 1;
	path->cut = 0;
	*kept = key;
	if (bpf_map_update_elem(&paths, &key, path, BPF_ANY))
		count_loss(LOST_PATHS);
}

/* A unix socket is named by the path that it, or its peer, is bound to. */
static __always_inline void keep_unix_name(struct sock *sock, struct socket_id *id, struct path_key *kept)
{
	__u32 zero = 0;
	struct unix_sock *own = (void *)sock;
	struct path_names *path = bpf_map_lookup_elem(&path_scratch, &zero);
	struct unix_address *address = BPF_CORE_READ(own, addr);
	if (!address) {
		struct unix_sock *peer = (void *)BPF_CORE_READ(own, peer);
		address = BPF_CORE_READ(peer, addr);
		id->dials = address ? DIALLED : 0;
	}
	struct path_key key = {.dentry = (__u64)address};
	*kept = key;
	if (!path || !address || bpf_map_lookup_elem(&paths, &key))
		return;
	const char *name = (void *)address + bpf_core_field_offset(struct unix_address, name) +
			   sizeof(unsigned short);
	__builtin_memcpy(path->fstype, "sockfs", 7);
	path->given = 1;
	path->cut = 0;
	if (bpf_probe_read_kernel_str(path->names, MAX_SOCKET_NAME, name) <= 1) {
		path->names[0][0] = '@'; /* an abstract name begins with 0; what it has behind a second one is left out */
		bpf_probe_read_kernel_str((char *)path->names + 1, MAX_SOCKET_NAME - 1, name + 1);
	}
	if (bpf_map_update_elem(&paths, &key, path, BPF_ANY))
		count_loss(LOST_PATHS);
}

/* Who made a TCP connection. The kernel does not keep that, but its books tell: whoever sent the
 * SYN has had one byte more acknowledged than it sent of data (tcpEStatsAppHCThruOctetsAcked of
 * RFC 4898 begins before the SYN on that side, behind it on the other: tcp_connect_init,
 * tcp_create_openreq_child). A FIN is one more: where it is not known whether it has been sent,
 * nothing is told. */
static __always_inline __u32 who_dialled(struct sock *sock, __u16 state)
{
	struct tcp_sock *tcp = (void *)sock;
	if (state != ESTABLISHED && state != SYN_SENT && state != CLOSE_WAIT && state != FIN_WAIT2)
		return 0;
	__u32 sent = BPF_CORE_READ(tcp, bytes_sent) - BPF_CORE_READ(tcp, bytes_retrans) + (state == FIN_WAIT2);
	__u32 under_way = BPF_CORE_READ(tcp, snd_nxt) - BPF_CORE_READ(tcp, snd_una);
	__u32 more = (__u32)BPF_CORE_READ(tcp, bytes_acked) + under_way - sent;
	return more == 1 ? DIALLED : more == 0 ? TAKEN : 0;
}

static __always_inline void read_socket(struct file *file, struct socket_id *id, struct path_key *key)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sock = BPF_CORE_READ(socket, sk);
	id->family = BPF_CORE_READ(sock, __sk_common.skc_family);
	id->state = BPF_CORE_READ(sock, __sk_common.skc_state);
	id->protocol = BPF_CORE_READ(sock, sk_protocol);
	id->type = BPF_CORE_READ(sock, sk_type);
	if (id->family == FAMILY_UNIX && bpf_core_type_exists(struct unix_sock)) {
		keep_unix_name(sock, id, key);
		return;
	}
	id->own_port = BPF_CORE_READ(sock, __sk_common.skc_num);
	id->peer_port = BPF_CORE_READ(sock, __sk_common.skc_dport);
	if (id->protocol == PROTOCOL_TCP && bpf_core_field_exists(struct tcp_sock, bytes_retrans)) /* Linux 4.19 */
		id->dials = who_dialled(sock, id->state);
	if (id->family == FAMILY_INET)
		bpf_probe_read_kernel(id->peer, 4, &sock->__sk_common.skc_daddr);
	if (id->family == FAMILY_INET6)
		bpf_probe_read_kernel(id->peer, 16, &sock->__sk_common.skc_v6_daddr);
}

/* Tells what a descriptor of the current task is; returns the mode of its inode, 0 when there is
 * none. */
static __always_inline __u32 identify(struct task_struct *task, __u64 descriptor, struct socket_id *id,
				      struct path_key *key)
{
	struct file *file = file_of(task, descriptor);
	if (!file)
		return 0;
	__u32 mode = BPF_CORE_READ(file, f_inode, i_mode);
	if ((mode & IFMT) == IFSOCK)
		read_socket(file, id, key);
	else
		keep_path(file, key);
	return mode;
}
