/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The code and the registers of samples in user mode, for the addresses that the code works on.
 * Only of processes with several threads, and of those that share memory with other processes:
 * the rest has nobody to share a line with. */
#pragma once

#include "../bpf/sampled.h"

#if defined(__TARGET_ARCH_x86)
#define CODE_BEFORE 64 /* the instruction before is found by decoding from here on */
#define CODE_AFTER 16  /* the longest instruction has 15 bytes */
#define USER_MODE 3    /* privilege level in cs */
#define REGISTERS 16   /* by their numbers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15 */
#else
#define CODE_BEFORE 4 /* all instructions have four bytes */
#define CODE_AFTER 4
#define KERNEL_MODE 0xc /* exception level in pstate: PSR_MODE_EL1t */
#define COMPAT_MODE 0x10
#define REGISTERS 32 /* x0 to x30, sp */
#endif

struct operand {
	__u64 time, ip;
	__u64 regs[REGISTERS];
	__u64 thread; /* what the thread's own memory is counted from: the base of FS, tpidr_el0 */
	__u64 other;  /* the base of GS; 0 on arm64 */
	__u64 data;   /* what the processor says was accessed; 0: a sample of the clock */
	__u32 tgid, tid;
	__u8 code[CODE_BEFORE + CODE_AFTER];
};

/* A flavour: the name without ___threads is what is looked up in the kernel's BTF. */
struct signal_struct___threads {
	int nr_threads;
} __attribute__((preserve_access_index));

/* A flavour, too. The kernel keeps these when a thread is started and when it leaves the CPU:
 * what a thread has set since then by an instruction of its own is not there. */
#if defined(__TARGET_ARCH_x86)
struct thread_struct___bases {
	unsigned long fsbase, gsbase;
} __attribute__((preserve_access_index));
#else
struct user___thread {
	unsigned long tp_value;
} __attribute__((preserve_access_index));

struct thread_struct___bases {
	struct user___thread uw;
} __attribute__((preserve_access_index));
#endif

struct task_struct___bases {
	struct thread_struct___bases thread;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 19);
} operands SEC(".maps");

/* Processes that map memory which others map as well: common.go looks for them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} sharing SEC(".maps");

#if defined(__TARGET_ARCH_x86)
static __always_inline bool in_user_mode(struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.cs & USER_MODE) == USER_MODE;
}

static __always_inline void keep_registers(struct operand *kept, struct bpf_perf_event_data *ctx)
{
	kept->ip = ctx->regs.rip;
	kept->regs[0] = ctx->regs.rax;
	kept->regs[1] = ctx->regs.rcx;
	kept->regs[2] = ctx->regs.rdx;
	kept->regs[3] = ctx->regs.rbx;
	kept->regs[4] = ctx->regs.rsp;
	kept->regs[5] = ctx->regs.rbp;
	kept->regs[6] = ctx->regs.rsi;
	kept->regs[7] = ctx->regs.rdi;
	kept->regs[8] = ctx->regs.r8;
	kept->regs[9] = ctx->regs.r9;
	kept->regs[10] = ctx->regs.r10;
	kept->regs[11] = ctx->regs.r11;
	kept->regs[12] = ctx->regs.r12;
	kept->regs[13] = ctx->regs.r13;
	kept->regs[14] = ctx->regs.r14;
	kept->regs[15] = ctx->regs.r15;
}

static __always_inline void keep_bases(struct operand *kept, struct task_struct___bases *task)
{
	kept->thread = task->thread.fsbase;
	kept->other = task->thread.gsbase;
}
#else
static __always_inline bool in_user_mode(struct bpf_perf_event_data *ctx)
{
	return !(ctx->regs.pstate & (KERNEL_MODE | COMPAT_MODE));
}

static __always_inline void keep_registers(struct operand *kept, struct bpf_perf_event_data *ctx)
{
	kept->ip = ctx->regs.pc;
	kept->regs[31] = ctx->regs.sp;
#pragma clang loop unroll(full)
	for (int i = 0; i < 31; i++)
		kept->regs[i] = ctx->regs.regs[i];
}

static __always_inline void keep_bases(struct operand *kept, struct task_struct___bases *task)
{
	kept->thread = task->thread.uw.tp_value;
	kept->other = 0;
}
#endif

/* false when it did not fit. */
static __always_inline bool keep_operand(struct bpf_perf_event_data *ctx, struct task_struct *task, __u64 data)
{
	struct signal_struct___threads *group = (void *)task->signal;
	__u32 tgid = task->tgid;
	if (!in_user_mode(ctx) || (group->nr_threads < 2 && !bpf_map_lookup_elem(&sharing, &tgid)))
		return true;
	struct operand *kept = bpf_ringbuf_reserve(&operands, sizeof(*kept), 0);
	if (!kept)
		return false;
	kept->time = bpf_ktime_get_ns();
	kept->tgid = tgid;
	kept->tid = task->pid;
	kept->data = data;
	keep_registers(kept, ctx);
	keep_bases(kept, (void *)task);
	if (bpf_probe_read_user(kept->code, CODE_BEFORE, (void *)(kept->ip - CODE_BEFORE)) ||
	    bpf_probe_read_user(kept->code + CODE_BEFORE, CODE_AFTER, (void *)kept->ip)) {
		bpf_ringbuf_discard(kept, BPF_RB_NO_WAKEUP); /* at the edge of mapped code */
		return true;
	}
	bpf_ringbuf_submit(kept, BPF_RB_NO_WAKEUP);
	return true;
}
