/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Files of code that the target opens: libraries, modules of scripts, archives of classes, each
 * once a window. What a file holds is told by its name alone: nothing of it is read here. */
#pragma once

#include "object.h"

#define IFREG 0100000
#define TAIL 8 /* bytes of a name's end that are looked at */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct qstr___length { __u32 len; const unsigned char *name; };
struct dentry___name { struct qstr___length d_name; };
struct ns_common { unsigned int inum; };
struct mnt_namespace { struct ns_common ns; };
struct nsproxy { struct mnt_namespace *mnt_ns; };
struct task_struct___spaces { struct nsproxy *nsproxy; };
#pragma clang attribute pop

struct opened_key {
	__u64 inode;
	__u32 device;
	__u32 mounts; /* number of the mount namespace that the path is of */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, struct opened_key);
	__type(value, struct path_names);
} opened SEC(".maps");

static __always_inline bool ends(__u64 tail, const char *with, __u32 length)
{
	__u64 wanted = 0;
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < length; i++)
		wanted |= (__u64)(__u8)with[i] << (8 * (TAIL - length + i));
	return tail >> (8 * (TAIL - length)) == wanted >> (8 * (TAIL - length));
}

#define ENDS(tail, with) ends(tail, with, sizeof(with) - 1)

/* Whether a name is that of code: by its end, or a library's by its begin, for behind it stands
 * its version. */
static __always_inline bool is_code(struct dentry *dentry)
{
	struct dentry___name *named = (void *)dentry;
	const unsigned char *name = BPF_CORE_READ(named, d_name.name);
	__u32 length = BPF_CORE_READ(named, d_name.len), head = 0;
	__u64 tail = 0;
	if (length < 4 || length > 255 || bpf_probe_read_kernel(&head, sizeof(head), name))
		return false;
	head &= 0xffffff;
	if (head == ('l' | 'i' << 8 | 'b' << 16) || head == ('l' | 'd' << 8 | '-' << 16))
		return true;
	if (length < TAIL) { /* of "a.py" the whole name, moved to the end */
		bpf_probe_read_kernel(&tail, TAIL, name); /* names have room for more, or another follows: it is cut off */
		tail <<= 8 * (TAIL - length);
	} else {
		bpf_probe_read_kernel(&tail, TAIL, name + length - TAIL);
	}
	return ENDS(tail, ".py") || ENDS(tail, ".pyc") || ENDS(tail, ".so") || ENDS(tail, ".js") || ENDS(tail, ".mjs") ||
	       ENDS(tail, ".cjs") || ENDS(tail, ".node") || ENDS(tail, ".wasm") || ENDS(tail, ".jar") ||
	       ENDS(tail, ".war") || ENDS(tail, ".class") || ENDS(tail, ".rb") || ENDS(tail, ".php") ||
	       ENDS(tail, ".phar") || ENDS(tail, ".pm") || ENDS(tail, ".pl") || ENDS(tail, ".lua");
}

static __always_inline void note_opened(struct task_struct *task, __s32 call, long result)
{
	bool opens = call == CALL_OPENAT;
#ifdef CALL_OPEN
	opens |= call == CALL_OPEN;
#endif
	if (!opens || result < 0)
		return;
	struct file *file = file_of(task, result);
	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & IFMT) != IFREG)
		return;
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	struct vfsmount *mount = BPF_CORE_READ(file, f_path.mnt);
	if (!dentry || !mount || !is_code(dentry))
		return;
	struct task_struct___spaces *spaces = (void *)task;
	struct opened_key key = {.inode = BPF_CORE_READ(file, f_inode, i_ino),
				 .device = BPF_CORE_READ(file, f_inode, i_sb, s_dev),
				 .mounts = BPF_CORE_READ(spaces, nsproxy, mnt_ns, ns.inum)};
	__u32 zero = 0;
	struct path_names *path = bpf_map_lookup_elem(&path_scratch, &zero);
	if (!path || bpf_map_lookup_elem(&opened, &key))
		return;
	path->fstype[0] = 0;
	path->given = 0;
	read_names(path, dentry, (void *)mount - bpf_core_field_offset(struct mount, mnt));
	if (bpf_map_update_elem(&opened, &key, path, BPF_ANY))
		count_loss(LOST_OPENED);
}
