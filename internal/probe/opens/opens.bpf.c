//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Files of code that the target opens: programs, libraries, modules of scripts, archives of classes. Each file is told
 * once a window. What a file holds is told by its name alone: nothing of it is read here. */
#include "../bpf/edge.h"
#include "../bpf/member.h"

#define PATH_BYTES 384
#define IFMT 0170000
#define IFREG 0100000
#define OPENED_TO_RUN 0x20 /* include/linux/fs.h: __FMODE_EXEC */
#define TAIL 8             /* bytes of a name's end that are looked at */

enum loss { LOST_EVENTS = 0, LOST_PATHS = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qstr { __u32 len; const unsigned char *name; };
struct super_block { __u32 s_dev; };
struct inode { unsigned short i_mode; unsigned long i_ino; struct super_block *i_sb; };
struct dentry { struct qstr d_name; };
struct path { struct dentry *dentry; };
struct file { unsigned int f_flags; struct inode *f_inode; struct path f_path; };
struct ns_common { unsigned int inum; };
struct mnt_namespace { struct ns_common ns; };
struct nsproxy { struct mnt_namespace *mnt_ns; };
struct task_struct___opens { struct nsproxy *nsproxy; };

#pragma clang attribute pop

struct event {
	__u64 inode;
	__u32 device, tgid;
	__u32 mounts; /* number of the mount namespace that the path is of */
	__u32 length; /* of the path, with the zero behind it */
	char path[PATH_BYTES];
};
const struct event *keep_event_in_btf __attribute__((unused));

struct file_key {
	__u64 inode;
	__u32 device, mounts;
};

/* When a file was told last. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct file_key);
	__type(value, __u64);
} told SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

static __always_inline bool ends(__u64 tail, const char *with, __u32 length)
{
	__u64 wanted = 0;
	for (__u32 i = 0; i < length; i++)
		wanted |= (__u64)(__u8)with[i] << (8 * (TAIL - length + i));
	return tail >> (8 * (TAIL - length)) == wanted >> (8 * (TAIL - length));
}

#define ENDS(tail, with) ends(tail, with, sizeof(with) - 1)

/* Whether a name is that of code: by its end, or a library's by its begin, for behind it stands its version. */
static __always_inline bool is_code(struct dentry *dentry)
{
	const unsigned char *name = dentry->d_name.name;
	__u32 length = dentry->d_name.len;
	__u64 tail = 0, head = 0;
	if (length < 4 || length > 255 || bpf_probe_read_kernel(&head, 4, name))
		return false;
	if ((head & 0xffffff) == ('l' | 'i' << 8 | 'b' << 16) || (head & 0xffffff) == ('l' | 'd' << 8 | '-' << 16))
		return true;
	if (length < TAIL)
		bpf_probe_read_kernel((char *)&tail + TAIL - (length & (TAIL - 1)), length & (TAIL - 1), name);
	else
		bpf_probe_read_kernel(&tail, TAIL, name + length - TAIL);
	return ENDS(tail, ".py") || ENDS(tail, ".pyc") || ENDS(tail, ".so") || ENDS(tail, ".js") || ENDS(tail, ".mjs") ||
	       ENDS(tail, ".cjs") || ENDS(tail, ".node") || ENDS(tail, ".wasm") || ENDS(tail, ".jar") ||
	       ENDS(tail, ".war") || ENDS(tail, ".class") || ENDS(tail, ".rb") || ENDS(tail, ".php") ||
	       ENDS(tail, ".phar") || ENDS(tail, ".pm") || ENDS(tail, ".pl") || ENDS(tail, ".lua") ||
	       ENDS(tail, ".ko") || ENDS(tail, ".zip") || ENDS(tail, ".egg") || ENDS(tail, ".dll");
}

SEC("fentry/security_file_open")
int BPF_PROG(file_opened, struct file *file)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_ns();
	if (!is_target(task) || !within_window(now))
		return 0;
	struct inode *inode = file->f_inode;
	if ((inode->i_mode & IFMT) != IFREG)
		return 0;
	if (!(file->f_flags & OPENED_TO_RUN) && !is_code(file->f_path.dentry))
		return 0;
	struct nsproxy *spaces = ((struct task_struct___opens *)task)->nsproxy;
	struct mnt_namespace *mounts = spaces ? spaces->mnt_ns : 0;
	struct file_key key = {.inode = inode->i_ino, .device = inode->i_sb->s_dev, .mounts = mounts ? mounts->ns.inum : 0};
	__u64 *before = bpf_map_lookup_elem(&told, &key);
	if (before && *before >= begins)
		return 0;
	bpf_map_update_elem(&told, &key, &now, BPF_ANY);
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_loss(LOST_EVENTS);
		return 0;
	}
	event->inode = key.inode;
	event->device = key.device;
	event->mounts = key.mounts;
	event->tgid = task->tgid;
	int length = bpf_d_path(&file->f_path, event->path, sizeof(event->path));
	if (length <= 0) {
		count_loss(LOST_PATHS);
		bpf_ringbuf_discard(event, BPF_RB_NO_WAKEUP);
		return 0;
	}
	event->length = length;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}
