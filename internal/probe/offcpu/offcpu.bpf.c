//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Time off the CPU: every stay is timed and added up in the kernel (stays.h);
 * those of wait_ns and more are also kept whole, with who woke the thread and
 * what that one had waited for (hops.h). Which stacks are taken: stacks.h. */
#include "../bpf/calls.h"
#include "../bpf/switch.h"
#include "stays.h"
#include "hops.h"
#include "waits.h"
#include "release.h"

const volatile __u32 unwind = 0; /* the unwinder is there */

__u64 window_start = 0;
__u32 over = 0; /* the window has ended, the programs are about to be detached */

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} unwinder SEC(".maps");

/* Adds up a stay that is over; a long one is also kept whole. unseen is when it was woken, where
 * no waking was seen. */
static __always_inline void end_stay(struct task_struct *task, struct task_struct *runner, struct task_state *state,
				     __s32 stack, __u64 object, __u64 unseen, __u64 now)
{
	__u64 off_ns = now - state->off_start;
	struct place *place = take_place(task, state);
	__u64 woken = state->woken ? state->woken : unseen;
	struct total_key key = {.tgid = task->tgid, .tid = task->pid, .stack = stack, .call = state->off_call,
				.state = state->state, .signature = state->signature};
	if (woken > now)
		woken = now;
	if (stack == NOT_TAKEN) {
		place->unseen += 1;
		place->unseen_ns += off_ns;
	} else {
		add_total(&key, 1, off_ns, stack >= 0 && off_ns < wait_ns ? off_ns : 0);
	}
	call_got_cpu(state, woken - state->off_start, now - woken);
	if (woken - state->off_start >= long_ns)
		end_sleep(&key, place, state, object, woken);
	if (off_ns >= long_ns && stack != NOT_TAKEN)
		looked(place, state, stack, off_ns >= wait_ns);
	if (off_ns >= wait_ns || state->sampled)
		keep_wait(task, runner, state, stack, object, woken, now);
}

static __always_inline void end_short_stay(struct task_struct *task, struct task_state *state, __u64 off_ns)
{
	__u64 slept_ns = state->woken ? state->woken - state->off_start : 0;
	struct place *place = take_place(task, state);
	if (slept_ns > off_ns)
		slept_ns = off_ns;
	place->count += 1;
	place->off_ns += off_ns;
	call_got_cpu(state, slept_ns, off_ns - slept_ns);
	state->streak += 1;
}

static __always_inline void got_cpu(struct task_struct *task, struct task_struct *runner, struct task_state *state,
				    __u64 now)
{
	__u64 object, off_ns = now - state->off_start;
	__s32 stack = -1;
	if (!state->off_start)
		return;
	if (off_ns < long_ns && !state->sampled) {
		end_short_stay(task, state, off_ns);
		state->off_start = 0;
		return;
	}
	state->streak = off_ns < long_ns ? state->streak + 1 : 0;
	call_of(task, &object);
	if (off_ns >= long_ns)
		stack = off_ns >= wait_ns || looks(state) ? stack_of_sleeper(task) : NOT_TAKEN;
	/* Nobody blocks without being woken: where no waking was seen it came before the switch-out
	 * was. */
	end_stay(task, runner, state, stack, object, state->off_start, now);
	state->off_start = 0;
}

/* Who wants to know of a thread's last switch, see Shared.Ends. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} thread_ends SEC(".maps");

/* Some switch-ins reach no program and count as no miss (seen on 6.18: of a thousand one, always
 * behind the same threads of another process, in whose context a timer's wakings go unseen as
 * well). What the task has run since, and waited for a CPU, by the scheduler's account, tells
 * when it was; where it waited, its user stack. */
static __always_inline void came_unseen(struct task_struct *task, struct task_state *state, __u64 now)
{
	__u64 came = now - (task->se.sum_exec_runtime - state->ran_ns);
	__u64 delayed_ns = task->sched_info.run_delay - state->delayed_ns, off_ns = came - state->off_start;
	if (came > state->off_start && came <= now)
		end_stay(task, 0, state, -1, 0, came - (delayed_ns < off_ns ? delayed_ns : off_ns), came);
}

/* Where user mode was left, and whether that is worth an unwinding. */
static __always_inline void look_at(struct task_struct *task, struct task_state *state, unsigned int task_state,
				    __u64 now)
{
	struct pt_regs___culprit *regs = 0;
	state->off_call = -1;
	if (!(task->flags & PF_KTHREAD))
		regs = (void *)bpf_task_pt_regs(task);
	if (!regs)
		return;
	if (call_in_progress(regs) >= 0)
		state->off_call = call_in_progress(regs);
	call_left_cpu(state, state->off_call, now);
	if (unwind && !(task_state & TASK_DEAD))
		choose_unwinding(state, task->pid, next_signature(task, state, user_ip(regs), user_sp(regs)), now);
}

static __always_inline void left_cpu(struct task_struct *task, struct task_state *state, bool preempt,
				     unsigned int task_state, __u64 now)
{
	if (state->off_start)
		came_unseen(task, state, now);
	__u64 ran_ns = task->se.sum_exec_runtime;
	state->ran_ns = ran_ns;
	state->delayed_ns = task->sched_info.run_delay;
	state->off_start = now;
	state->woken = preempt || !task_state ? now : 0;
	state->state = preempt ? 0 : task_state;
	state->waker_stack = -1;
	state->waker_tid = 0;
	state->waker_kernel = 0;
	state->timed = 0;
	state->sampled = 0;
	state->hopped = 0;
	state->look = UNDECIDED;
	if (!state->woken) {
		state->awake_ns = ran_ns - state->slept_at_ns;
		state->slept_at_ns = ran_ns;
	}
	if (task_state & TASK_DEAD)
		move_places(task, state);
	look_at(task, state, task_state, now);
	if (state->sampled == 2)
		unwind_trigger = now;
}

static __always_inline void switch_tasks(unsigned long long *ctx, struct task_struct *left, struct task_struct *came)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_state *state = state_of(left);
	struct helper *helper = 0;
	if (state)
		left_cpu(left, state, was_preempted(ctx), left_with_state(ctx), now);
	else if ((helper = helper_of(left)))
		helper_left_cpu(left, helper, was_preempted(ctx) ? 0 : left_with_state(ctx), now);
	state = state_of(came);
	if (state)
		got_cpu(came, left, state, now);
	else if ((helper = helper_of(came)))
		helper_got_cpu(came, helper);
}

SEC("tp_btf/sched_switch")
int switched(unsigned long long *ctx)
{
	struct task_struct *left = who_left(ctx), *came = who_came(ctx);
	if (is_stranger(left) && is_stranger(came))
		return 0;
	if (!over)
		switch_tasks(ctx, left, came);
	if ((left_with_state(ctx) & TASK_DEAD) && !was_preempted(ctx))
		bpf_tail_call(ctx, &thread_ends, 0);
	return 0;
}

/* A sleep that was long is worth knowing who ended it, and what that one had waited for. */
static __always_inline void woken_after_long(void *ctx, struct task_struct *waker, struct task_state *state)
{
	bpf_probe_read_kernel(state->waker_comm, 16, waker->comm);
	if (state->woken - state->off_start < wait_ns && !looks(state)) {
		state->waker_stack = NOT_TAKEN;
		return;
	}
	state->waker_stack = stack_of_waker(ctx);
	remember_hop(waker, state);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	if (is_stranger(task))
		return 0;
	struct task_struct *waker = bpf_get_current_task_btf();
	struct task_state *state = state_of(task);
	if (!state) {
		struct helper *helper = helper_of(task);
		if (helper && helper->off_start && !helper->woken)
			helper_woken(ctx, waker, helper);
		return 0;
	}
	if (!state->off_start || state->woken)
		return 0;
	state->woken = bpf_ktime_get_ns();
	state->waker_tgid = waker->tgid;
	state->waker_tid = waker->pid;
	state->waker_kernel = !!(waker->flags & PF_KTHREAD);
	state->waker_comm[0] = 0;
	if (state->woken - state->off_start >= long_ns)
		woken_after_long(ctx, waker, state);
	if (!is_futex(state->off_call))
		return 0;
	state->timed = state->waker_kernel || !releases(waker);
	if (state->woken - state->off_start >= wait_ns)
		show_release(waker, state->woken);
	return 0;
}

/* Tells user space what the breakpoints are to watch. */
SEC("syscall")
int tell_trigger(void *ctx)
{
	trigger_address = (__u64)(long)&unwind_trigger;
	return 0;
}

SEC("perf_event")
int unwind_switch(struct bpf_perf_event_data *ctx)
{
	struct task_state *state = state_of(bpf_get_current_task_btf());
	if (!state || !(state->sampled == 2 || state->releasing))
		return 0;
	if (state->releasing)
		state->releasing = 0;
	else
		state->sampled = 1; /* before it runs: nothing comes back from there */
	bpf_tail_call(ctx, &unwinder, 0);
	count_loss(LOST_UNWINDER);
	return 0;
}

/* The two walks over all threads of the host, started from user space. */

/* Times the targets that are off the CPU when the window begins. A switch-in at that moment leaves
 * off_start set on a running task: its next switch-out sets it anew, window_ends asks on_cpu. */
SEC("iter/task")
int window_begins(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	over = 0;
	if (!task || task->exit_state)
		return 0;
	watch_journal(task);
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!state || state->off_start || task->on_cpu)
		return 0;
	__u64 object;
	state->ran_ns = task->se.sum_exec_runtime;
	state->delayed_ns = task->sched_info.run_delay;
	state->state = task->__state;
	state->woken = state->state ? 0 : window_start;
	state->waker_stack = -1;
	state->look = UNDECIDED;
	state->off_call = call_of(task, &object);
	state->off_start = window_start;
	return 0;
}

/* Shows the targets that are still off the CPU when the window ends. */
SEC("iter/task")
int window_ends(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	over = 1;
	if (!task || task->exit_state)
		return 0;
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!state)
		return 0;
	move_places(task, state);
	if (task->on_cpu || !state->off_start)
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
