/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What differs between the machines that culprit runs on: where the registers of user mode are
 * kept while a task is in the kernel, and the numbers of the system calls that programs look at.
 * Included by kernel.h. */
#pragma once

/* A flavour: the name without ___culprit is what is looked up in the kernel's BTF. */
#if defined(__TARGET_ARCH_x86)

struct pt_regs___culprit {
	unsigned long ip, sp, di, si, dx, r10, r8, r14, orig_ax;
} __attribute__((preserve_access_index));

/* Where Go keeps the goroutine that runs, from 1.17 on (cmd/compile/abi-internal.md). */
static __always_inline __u64 user_goroutine(struct pt_regs___culprit *regs) { return regs->r14; }

static __always_inline __u64 user_ip(struct pt_regs___culprit *regs) { return regs->ip; }
static __always_inline __u64 user_sp(struct pt_regs___culprit *regs) { return regs->sp; }

/* Negative outside of any call: an interrupt or a fault in user mode leaves -1, and so does the
 * end of a call that a signal's return has replaced. */
static __always_inline long call_in_progress(struct pt_regs___culprit *regs) { return regs->orig_ax; }

static __always_inline __u64 first_argument(struct pt_regs___culprit *regs) { return regs->di; }
static __always_inline __u64 second_argument(struct pt_regs___culprit *regs) { return regs->si; }
static __always_inline __u64 third_argument(struct pt_regs___culprit *regs) { return regs->dx; }
static __always_inline __u64 fourth_argument(struct pt_regs___culprit *regs) { return regs->r10; }
static __always_inline __u64 fifth_argument(struct pt_regs___culprit *regs) { return regs->r8; }

#define CALL_READ 0
#define CALL_WRITE 1
#define CALL_OPEN 2
#define CALL_POLL 7
#define CALL_MMAP 9
#define CALL_SIGRETURN 15
#define CALL_READV 19
#define CALL_WRITEV 20
#define CALL_SELECT 23
#define CALL_NANOSLEEP 35
#define CALL_SENDFILE 40
#define CALL_CONNECT 42
#define CALL_ACCEPT 43
#define CALL_SENDTO 44
#define CALL_RECVFROM 45
#define CALL_SENDMSG 46
#define CALL_RECVMSG 47
#define CALL_FUTEX 202
#define CALL_CLOCK_NANOSLEEP 230
#define CALL_EXIT_GROUP 231
#define CALL_EPOLL_WAIT 232
#define CALL_OPENAT 257
#define CALL_PSELECT6 270
#define CALL_PPOLL 271
#define CALL_EPOLL_PWAIT 281
#define CALL_ACCEPT4 288
#define CALL_RECVMMSG 299
#define CALL_SPLICE 275
#define CALL_SENDMMSG 307

#elif defined(__TARGET_ARCH_arm64)

struct pt_regs___culprit {
	__u64 regs[31], sp, pc;
	__u64 orig_x0; /* the first argument: regs[0] holds the result at a call's end */
	__s32 syscallno;
} __attribute__((preserve_access_index));

/* As above, in any version. */
static __always_inline __u64 user_goroutine(struct pt_regs___culprit *regs) { return regs->regs[28]; }

static __always_inline __u64 user_ip(struct pt_regs___culprit *regs) { return regs->pc; }
static __always_inline __u64 user_sp(struct pt_regs___culprit *regs) { return regs->sp; }
static __always_inline long call_in_progress(struct pt_regs___culprit *regs) { return regs->syscallno; }
static __always_inline __u64 first_argument(struct pt_regs___culprit *regs) { return regs->orig_x0; }
static __always_inline __u64 second_argument(struct pt_regs___culprit *regs) { return regs->regs[1]; }
static __always_inline __u64 third_argument(struct pt_regs___culprit *regs) { return regs->regs[2]; }
static __always_inline __u64 fourth_argument(struct pt_regs___culprit *regs) { return regs->regs[3]; }
static __always_inline __u64 fifth_argument(struct pt_regs___culprit *regs) { return regs->regs[4]; }

/* include/uapi/asm-generic/unistd.h, which has no open, poll, select and epoll_wait. */
#define CALL_EPOLL_PWAIT 22
#define CALL_OPENAT 56
#define CALL_READ 63
#define CALL_WRITE 64
#define CALL_READV 65
#define CALL_WRITEV 66
#define CALL_SENDFILE 71
#define CALL_PSELECT6 72
#define CALL_PPOLL 73
#define CALL_SPLICE 76
#define CALL_EXIT_GROUP 94
#define CALL_FUTEX 98
#define CALL_NANOSLEEP 101
#define CALL_CLOCK_NANOSLEEP 115
#define CALL_SIGRETURN 139
#define CALL_ACCEPT 202
#define CALL_CONNECT 203
#define CALL_SENDTO 206
#define CALL_RECVFROM 207
#define CALL_SENDMSG 211
#define CALL_RECVMSG 212
#define CALL_MMAP 222
#define CALL_ACCEPT4 242
#define CALL_RECVMMSG 243
#define CALL_SENDMMSG 269

#endif /* programs that look at neither are compiled once for all machines */

/* The same on all machines: since Linux 5.1 new calls have one number. */
#define CALL_IO_URING_ENTER 426
#define CALL_EPOLL_PWAIT2 441
#define CALL_FUTEX_WAITV 449
#define CALL_FUTEX_WAKE 454
#define CALL_FUTEX_WAIT 455
#define CALL_FUTEX_REQUEUE 456

/* Marks the number of a call of the 32-bit kind. */
#define COMPAT (1 << 29)
