//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Time off the CPU: every stay is timed and added up in the kernel; those of
 * wait_ns and more are also kept whole, with who woke the thread. Which stacks
 * are taken: stacks.h. */
#include "../bpf/calls.h"
#include "../bpf/switch.h"
#include "stacks.h"

const volatile __u64 wait_ns = 1000000;     /* keep a stay whole from here on */
const volatile __u64 stack_ns = 50000;      /* take kernel stacks from here on */
const volatile __u32 unwind = 0;            /* the unwinder is there */

__u32 over = 0; /* the window has ended, the programs are about to be detached */

struct total_key {
	__u32 tgid, tid;
	__s32 stack, call;
	__u32 state, signature;
};

struct total {
	__u64 count, ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct total_key);
	__type(value, struct total);
} totals SEC(".maps");

struct wait_event {
	__u64 start, blocked_ns, runqueue_ns, object;
	__u32 tgid, tid;
	__s32 call, stack, waker_stack;
	__u32 state;
	__u32 waker_tgid, waker_tid;
	__u32 runner_tgid, signature;
	__u32 sampled, weight;
	__u32 waker_kernel, still; /* still: off the CPU when the window ended */
	char waker_comm[16], runner_comm[16];
};
const struct wait_event *keep_wait_event_in_btf __attribute__((unused));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} unwinder SEC(".maps");

/* The system call that a task that is off the CPU is in, -1 when none: an interrupt or a fault sets
 * orig_ax to -1. Read here, not by a hook on system calls: also calls from before the window count. */
static __always_inline __s32 call_of(struct task_struct *task, __u64 *object)
{
	struct pt_regs___culprit *regs = (void *)bpf_task_pt_regs(task);
	*object = 0;
	if ((task->flags & PF_KTHREAD) || !regs || (__s64)regs->orig_ax < 0)
		return -1;
	*object = regs->di;
	return regs->orig_ax;
}

static __always_inline void add_total(struct task_struct *task, struct task_state *state, __s32 stack,
				      __s32 call, __u64 off_ns)
{
	struct total_key key = {.tgid = task->tgid, .tid = task->pid, .stack = stack, .call = call,
				.state = state->state, .signature = state->signature};
	struct total *known = bpf_map_lookup_elem(&totals, &key);
	if (known) {
		known->count += 1;
		known->ns += off_ns;
		return;
	}
	struct total first = {.count = 1, .ns = off_ns};
	if (bpf_map_update_elem(&totals, &key, &first, BPF_ANY))
		count_loss(LOST_TOTALS);
}

static __always_inline void fill_wait(struct wait_event *event, struct task_struct *task,
				      struct task_state *state, __u64 woken, __u64 now)
{
	event->start = state->off_start;
	event->blocked_ns = woken - state->off_start;
	event->runqueue_ns = now - woken;
	event->tgid = task->tgid;
	event->tid = task->pid;
	event->waker_stack = state->waker_stack;
	event->state = state->state;
	event->waker_tgid = state->waker_tgid;
	event->waker_tid = state->waker_tid;
	event->signature = state->signature;
	event->sampled = state->sampled;
	event->weight = state->weight;
	event->waker_kernel = state->waker_kernel;
	event->runner_tgid = 0;
	event->still = 0;
	__builtin_memcpy(event->waker_comm, state->waker_comm, 16);
}

/* Adds up a stay that is over; a long one is also kept whole. */
static __always_inline void end_stay(struct task_struct *task, struct task_struct *runner, struct task_state *state,
				     __s32 stack, __s32 call, __u64 object, __u64 now)
{
	__u64 off_ns = now - state->off_start;
	/* Nobody blocks without being woken: where no waking was seen it came before the switch-out was. */
	__u64 woken = state->woken ? state->woken : state->off_start;
	add_total(task, state, stack, call, off_ns);
	call_got_cpu(state, woken < now ? woken - state->off_start : off_ns, woken < now ? now - woken : 0);
	if (off_ns < wait_ns && !state->sampled)
		return;
	struct wait_event *event = bpf_ringbuf_reserve(&waits, sizeof(*event), 0);
	if (!event) {
		count_loss(LOST_WAITS);
		return;
	}
	fill_wait(event, task, state, woken < now ? woken : now, now);
	event->stack = stack;
	event->call = call;
	event->object = object;
	event->runner_comm[0] = 0;
	if (runner) {
		event->runner_tgid = runner->tgid;
		bpf_probe_read_kernel(event->runner_comm, 16, runner->comm);
	}
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

static __always_inline void got_cpu(struct task_struct *task, struct task_struct *runner, __u64 now)
{
	struct task_state *state = state_of(task);
	if (!state || !state->off_start)
		return;
	__u64 object;
	__u32 slot = 0;
	__s32 stack = -1, call = call_of(task, &object);
	if (now - state->off_start >= stack_ns) {
		struct stack_buffer *buffer = bpf_map_lookup_elem(&scratch, &slot);
		if (buffer)
			stack = keep_stack(buffer, bpf_get_task_stack(task, buffer, sizeof(*buffer), 0));
	}
	end_stay(task, runner, state, stack, call, object, now);
	state->off_start = 0;
}

/* Some switch-ins reach no program and count as no miss (seen on 6.18: of a thousand one, always behind the
 * same threads of another process). What the task has run since, by the scheduler's account, tells when
 * it was; where it waited, its user stack still tells; who ran before is not known. */
static __always_inline void came_unseen(struct task_struct *task, struct task_state *state, __u64 now)
{
	__u64 came = now - (task->se.sum_exec_runtime - state->ran_ns);
	if (came > state->off_start && came <= now)
		end_stay(task, 0, state, -1, -1, 0, came);
}

static __always_inline void left_cpu(struct task_struct *task, bool preempt, unsigned int task_state,
				     __u64 now)
{
	struct task_state *state = state_of(task);
	if (!state)
		return;
	if (state->off_start)
		came_unseen(task, state, now);
	state->ran_ns = task->se.sum_exec_runtime;
	state->off_start = now;
	state->woken = preempt || !task_state ? now : 0;
	state->state = preempt ? 0 : task_state;
	call_left_cpu(task, state, now);
	state->waker_stack = -1;
	state->waker_tid = 0;
	state->waker_kernel = 0;
	state->sampled = 0;
	if (unwind && !(task_state & TASK_DEAD) && !(task->flags & PF_KTHREAD))
		choose_unwinding(state, task->pid, signature_of(task), now);
}

SEC("tp_btf/sched_switch")
int switched(unsigned long long *ctx)
{
	if (over)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	left_cpu(who_left(ctx), was_preempted(ctx), left_with_state(ctx), now);
	got_cpu(who_came(ctx), who_left(ctx), now);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	struct task_state *state = state_of(task);
	if (!state || !state->off_start || state->woken)
		return 0;
	struct task_struct *waker = bpf_get_current_task_btf();
	__u32 slot = 0;
	state->woken = bpf_ktime_get_ns();
	state->waker_tgid = waker->tgid;
	state->waker_tid = waker->pid;
	state->waker_kernel = !!(waker->flags & PF_KTHREAD);
	bpf_probe_read_kernel(state->waker_comm, 16, waker->comm);
	if (state->woken - state->off_start >= stack_ns) {
		struct stack_buffer *buffer = bpf_map_lookup_elem(&scratch, &slot);
		if (buffer)
			state->waker_stack = keep_stack(
				buffer, bpf_get_stack(ctx, buffer, sizeof(*buffer), 3));
	}
	return 0;
}

SEC("perf_event")
int unwind_switch(struct bpf_perf_event_data *ctx)
{
	struct task_state *state = state_of(bpf_get_current_task_btf());
	if (!state || state->sampled != 2)
		return 0;
	state->sampled = 1;
	bpf_tail_call(ctx, &unwinder, 0);
	count_loss(LOST_UNWINDER);
	return 0;
}

/* The two walks over all threads of the host, started from user space. */

/* Times the targets that are off the CPU when the window begins. A switch-in at the same moment leaves
 * off_start set on a running task: the next switch-out sets it anew, window_ends looks at on_cpu. */
SEC("iter/task")
int window_begins(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	over = 0;
	if (!task || task->exit_state)
		return 0;
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!state || state->off_start || task->on_cpu)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	state->ran_ns = task->se.sum_exec_runtime;
	state->state = task->__state;
	state->woken = state->state ? 0 : now;
	state->waker_stack = -1;
	state->off_start = now;
	return 0;
}

/* Shows the targets that are still off the CPU when the window ends. */
SEC("iter/task")
int window_ends(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	over = 1;
	if (!task || task->exit_state || task->on_cpu)
		return 0;
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!state || !state->off_start)
		return 0;
	__u32 slot = 1;
	__u64 now = bpf_ktime_get_ns();
	struct wait_event event = {};
	struct stack_buffer *buffer = bpf_map_lookup_elem(&scratch, &slot);
	if (!buffer)
		return 0;
	fill_wait(&event, task, state, state->woken ? state->woken : now, now);
	event.stack = keep_stack(buffer, bpf_get_task_stack(task, buffer, sizeof(*buffer), 0));
	event.call = call_of(task, &event.object);
	event.still = 1;
	if (!bpf_seq_write(ctx->meta->seq, &event, sizeof(event))) /* else the kernel calls again with more room */
		state->off_start = 0;
	return 0;
}
