//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* System calls of the target, added up in the kernel per thread and call (counts.h); those of
 * slow_ns and more are also kept whole, with what they were on (object.h). */
#include "../bpf/book.h"
#include "../bpf/calls.h"
#include "../bpf/entry.h"
#include "counts.h"
#include "object.h"
#include "opened.h"

#define MAX_CALL 512

#define PROT_EXEC 4
#define ON_CPU_NS 1000000 /* what a call may compute after its first sleep, beside as long as it slept */

enum seen { SEEN = 1, TIMED_AT_ENTRY = 2 }; /* call_seen of a task */

/* How a task tells that its call is of the 32-bit kind: asm/thread_info.h. */
#define TS_COMPAT 2          /* x86: of status */
#define TIF_32BIT (1 << 22)  /* arm64: of flags */

const volatile __u64 slow_ns = 1000000;

/* What the arguments of a call mean, by number: see names.go. */
enum argument { ARG_NONE = 0, ARG_FD = 1, ARG_CONNECT = 2, ARG_RESULT = 3, ARG_PATH = 4, ARG_AT_PATH = 5,
		ARG_RESULT_AT = 6 };
const volatile __u8 arguments[MAX_CALL] = {};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct thread_info { unsigned long flags; __u32 status; };
struct task_struct___info { struct thread_info thread_info; };
#pragma clang attribute pop

struct slow_event {
	__u64 start, duration_ns;
	__u64 slept_ns, queued_ns, longest_ns;
	__s64 result;
	__u64 args[4]; /* the first four */
	struct path_key path;
	__u32 tgid, tid;
	__s32 call;
	__u32 waits, mode, unused;
	struct socket_id socket;
	char comm[16];
};
const struct slow_event *keep_slow_event_in_btf __attribute__((unused));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} slow SEC(".maps");

static __always_inline __s32 numbered(struct task_struct *task, __s32 call)
{
	struct task_struct___info *info = (void *)task;
#if defined(__TARGET_ARCH_x86)
	return info->thread_info.status & TS_COMPAT ? call | COMPAT : call;
#else
	return info->thread_info.flags & TIF_32BIT ? call | COMPAT : call;
#endif
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_entered, struct pt_regs___culprit *regs, long number)
{
	if (!whole_host && !may_be_target(regs))
		return 0;
	struct task_struct *task = bpf_get_current_task_btf();
	if (is_stranger(task))
		return 0;
	__s32 call = numbered(task, number);
	struct call_slot *slot = slot_of(task, call);
	if (slot && slot->skip && is_of(slot, task, call)) {
		slot->skip--;
		slot->runtime = task->se.sum_exec_runtime;
		return 0;
	}
	struct task_state *state = state_of(task);
	if (!state)
		return 0;
	state->call_seen = TIMED_AT_ENTRY;
	begin_call(state, call, bpf_ktime_get_ns());
	return 0;
}

/* The address that a connect that failed had asked for: its socket has no peer. */
static __always_inline void read_address(struct socket_id *id, void *address)
{
	if (id->family == FAMILY_INET) {
		bpf_probe_read_user(&id->peer_port, 2, address + 2); /* struct sockaddr_in */
		bpf_probe_read_user(id->peer, 4, address + 4);
	} else if (id->family == FAMILY_INET6) {
		bpf_probe_read_user(&id->peer_port, 2, address + 2); /* struct sockaddr_in6 */
		bpf_probe_read_user(id->peer, 16, address + 8);
	}
}

static __always_inline void tell_object(struct task_struct *task, struct slow_event *event, __s32 call)
{
	__u32 known = (__u32)call < MAX_CALL ? call : 0;
	asm volatile("" : "+r"(known)); /* kernels before 6.2 lose the bound of a number that was compared as 32 bits */
	__u8 argument = (__u32)call < MAX_CALL ? arguments[known & (MAX_CALL - 1)] : ARG_NONE;
	bool opened = event->result >= 0 && (argument == ARG_RESULT || argument == ARG_RESULT_AT);
	if (opened)
		event->mode = identify(task, event->result, &event->socket, &event->path);
	else if (argument == ARG_FD || argument == ARG_CONNECT)
		event->mode = identify(task, event->args[0], &event->socket, &event->path);
	else if (argument == ARG_PATH || argument == ARG_RESULT)
		keep_asked(event->args[0], event->start, &event->path);
	else if (argument == ARG_AT_PATH || argument == ARG_RESULT_AT)
		keep_asked(event->args[1], event->start, &event->path);
	if (argument == ARG_CONNECT && event->result < 0)
		read_address(&event->socket, (void *)event->args[1]);
}

static __always_inline void keep_slow(struct task_struct *task, struct task_state *state,
				      struct pt_regs___culprit *regs, __s32 call, long result, __u64 took_ns)
{
	struct slow_event *event = bpf_ringbuf_reserve(&slow, sizeof(*event), 0);
	if (!event) {
		count_loss(LOST_SLOW);
		return;
	}
	__builtin_memset(event, 0, sizeof(*event));
	event->start = state->call_start;
	event->duration_ns = took_ns;
	event->slept_ns = state->call_slept;
	event->queued_ns = state->call_queued;
	event->longest_ns = state->call_longest;
	event->waits = state->call_waits;
	event->result = result;
	event->args[0] = first_argument(regs);
	event->args[1] = second_argument(regs);
	event->args[2] = third_argument(regs);
	event->args[3] = fourth_argument(regs);
	event->tgid = task->tgid;
	event->tid = task->pid;
	event->call = call;
	bpf_probe_read_kernel(event->comm, sizeof(event->comm), task->comm);
	tell_object(task, event, call);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

static __always_inline void announce_code(void *ctx, struct pt_regs___culprit *regs, __s32 call, long address)
{
	if (!announce || call != CALL_MMAP || !(third_argument(regs) & PROT_EXEC) || (int)fifth_argument(regs) < 0)
		return;
	__u64 id = bpf_get_current_pid_tgid();
	if (books && bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma) && book_mapping(id >> 32, address, 0))
		return;
	if (books)
		books_no_longer(id >> 32);
	announce_process(ctx, id);
}

/* Whether the first sleep that an untimed call is timed from was its own. What a thread does on
 * its way out, the last close of a file for one, comes after the end of its call: a sleep there
 * would be taken for one of a later call. Since a call's own first sleep it has for the most
 * part slept. */
static __always_inline bool slept_itself(struct task_state *state, __s32 call, __u64 took_ns)
{
	__u64 off_ns = state->call_slept + state->call_queued;
	return state->call == (call & ~COMPAT) && took_ns <= 2 * off_ns + ON_CPU_NS;
}

/* The end of a call that was timed, or that was interrupted or slept. */
static __always_inline void end_call(struct task_struct *task, struct call_slot *slot,
				     struct pt_regs___culprit *regs, __s32 call, long result)
{
	struct task_state *state = state_of(task);
	if (!state || !state->call_seen) /* of a task: its first call began before the window, or its parent made it */
		return;
	bool at_entry = state->call_seen == TIMED_AT_ENTRY;
	state->call_seen = SEEN;
	if (!is_of(slot, task, call))
		take_slot(slot, task, call);
	slot->runtime = 0;
	count_call(slot, result);
	if (!state->call_start) /* only a tick of the clock came in between */
		return;
	__u64 took_ns = bpf_ktime_get_ns() - state->call_start;
	if (at_entry || slept_itself(state, call, took_ns)) {
		add_time(slot, took_ns);
		if (took_ns >= slow_ns)
			keep_slow(task, state, regs, call, result, took_ns);
	}
	state->call_start = 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_left, struct pt_regs___culprit *regs, long result)
{
	if (!whole_host && !may_be_target(regs))
		return 0;
	struct task_struct *task = bpf_get_current_task_btf();
	if (is_stranger(task))
		return 0;
	__s32 number = call_in_progress(regs); /* -1: those that a signal had interrupted are back */
	__s32 call = numbered(task, number < 0 ? CALL_SIGRETURN : number);
	struct call_slot *slot = slot_of(task, call);
	if (!slot)
		return 0;
	if (slot->runtime && slot->runtime == task->se.sum_exec_runtime && is_of(slot, task, call)) {
		slot->runtime = 0;
		count_call(slot, result);
	} else {
		end_call(task, slot, regs, call, result);
	}
	announce_code(ctx, regs, call, result);
	note_opened(task, call, result);
	return 0;
}

/* Requests that the target gave to io_uring: no system call of their own. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} submissions SEC(".maps");

SEC("tp_btf/io_uring_submit_req")
int submitted(void *ctx)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&submissions, &zero);
	if (count && state_of(bpf_get_current_task_btf()))
		*count += 1;
	return 0;
}
