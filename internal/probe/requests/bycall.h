/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Sockets by the system calls of the target, for kernels without hooks on them (before Linux
 * 6.3). That data is ready, TCP tells when a segment comes in; of unix sockets nothing tells it,
 * so that their requests begin when they are read. Not seen: io_uring. */
#pragma once

#define FILE_TYPE 0170000 /* S_IFMT of include/uapi/linux/stat.h */
#define FILE_SOCKET 0140000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct fdtable { unsigned int max_fds; struct file **fd; };
struct files_struct { struct fdtable *fdt; };
struct task_struct___files { struct files_struct *files; };
struct sk_buff { char cb[48]; };
struct tcp_skb_cb { __u32 seq, end_seq; };
#pragma clang attribute pop

/* A segment of an established connection, before the kernel has put it to the others. */
SEC("tp_btf/tcp_probe")
int BPF_PROG(arrived, struct sock *sk, struct sk_buff *skb)
{
	struct tcp_skb_cb *segment = (void *)&skb->cb;
	__u32 from = BPF_CORE_READ(segment, seq), to = BPF_CORE_READ(segment, end_seq);
	if (from == to)
		return 0;
	struct turn *turn = turn_of(sk);
	if (!turn)
		return 0;
	__u32 next = BPF_CORE_READ((struct tcp_sock *)sk, rcv_nxt);
	if ((__s32)(to - next) <= 0 || (__s32)(from - next) > 0) /* it came again, or one before it is missing */
		return 0;
	if (turn->opening)
		turn->opening = turn->ready = 0;
	note_ready(turn);
	return 0;
}

/* The socket that a descriptor of the current task is of; NULL: none. */
static __always_inline struct sock *socket_of(struct task_struct *task, __u32 descriptor)
{
	struct file *file = 0;
	struct fdtable *table = BPF_CORE_READ((struct task_struct___files *)task, files, fdt);
	if (descriptor >= BPF_CORE_READ(table, max_fds))
		return 0;
	struct file **files = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), &files[descriptor]) || !file)
		return 0;
	if ((BPF_CORE_READ(file, f_inode, i_mode) & FILE_TYPE) != FILE_SOCKET)
		return 0;
	struct socket *socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

/* Between two windows of which one goes on with the other the target's tasks are strangers. */
volatile __u32 nobody_is_known = 0;

SEC("tp_btf/sys_exit")
int BPF_PROG(call_returned, struct pt_regs___culprit *regs, long result)
{
	if (result < 0 || over)
		return 0;
	__u64 descriptor = first_argument(regs), flags = 0;
	bool sends = false;
	switch (call_in_progress(regs)) {
	case CALL_READ:
	case CALL_READV:
		break;
	case CALL_RECVFROM:
		flags = fourth_argument(regs);
		break;
	case CALL_RECVMSG:
		flags = third_argument(regs);
		break;
	case CALL_SPLICE:
		descriptor = third_argument(regs);
	case CALL_WRITE:
	case CALL_WRITEV:
	case CALL_SENDTO:
	case CALL_SENDMSG:
	case CALL_SENDFILE:
		sends = true;
		break;
	default:
		return 0;
	}
	struct task_struct *task = bpf_get_current_task_btf();
	if (is_stranger(task) && !nobody_is_known)
		return 0;
	struct sock *sk = socket_of(task, descriptor);
	if (!sk)
		return 0;
	return sends ? after_sending(sk, result) : after_receiving(sk, result, flags);
}
