//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Processes and threads of the target's tree: forked, executed, ended. This
 * probe makes the tree: a child of a target task becomes a target. */
#include "../bpf/bookexec.h"
#include "../bpf/entry.h"
#include "../bpf/switch.h"
#include "../bpf/task.h"

/* PRESENT: a thread as it is made a target. REMAINING: a target that is there when the window
 * begins or ends. */
enum kind { FORKED = 1, EXECUTED = 2, ENDED = 3, PRESENT = 4, REMAINING = 5 };
/* WHOLE: exit_code is that of the whole process; OWN_CALL: this thread asked for it. */
enum group_exit { THREAD = 0, WHOLE = 1, OWN_CALL = 2 };
enum loss { LOST_EVENTS = 0, LOST_TASKS = 1 };

/* Flavours: the names without ___moved are what is looked up in the kernel's BTF. */
struct sched_entity___moved {
	__u64 nr_migrations;
} __attribute__((preserve_access_index));

struct task_struct___moved {
	struct sched_entity___moved se;
} __attribute__((preserve_access_index));

struct event {
	__u64 time;
	__u64 cpu_ns, run_delay_ns;       /* the scheduler's own account so far */
	__u64 voluntary, involuntary;
	__u32 kind;
	__u32 tgid, tid, parent_tgid;
	__s32 exit_code;                  /* ENDED */
	__u32 old_tid;                    /* EXECUTED: by the thread that had this id */
	__u32 group_exit;                 /* ENDED: enum group_exit */
	__u32 migrations;                 /* from CPU to CPU so far */
	char comm[16];
	char filename[128];               /* EXECUTED */
};
const struct event *keep_event_in_btf __attribute__((unused));

/* Processes to follow from now on, by tgid; not read where the whole host is the target. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u8);
} roots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

static __always_inline void fill(struct event *event, struct task_struct *task, __u32 kind)
{
	event->time = bpf_ktime_get_ns();
	event->cpu_ns = task->se.sum_exec_runtime;
	event->run_delay_ns = task->sched_info.run_delay;
	event->voluntary = task->nvcsw;
	event->involuntary = task->nivcsw;
	event->kind = kind;
	event->tgid = task->tgid;
	event->tid = task->pid;
	event->parent_tgid = task->real_parent->tgid;
	event->exit_code = 0;
	event->old_tid = task->pid;
	event->group_exit = 0;
	event->migrations = ((struct task_struct___moved *)task)->se.nr_migrations;
	event->filename[0] = 0;
	bpf_probe_read_kernel(event->comm, sizeof(event->comm), task->comm);
}

static __always_inline struct event *new_event(struct task_struct *task, __u32 kind)
{
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_loss(LOST_EVENTS);
		return 0;
	}
	fill(event, task, kind);
	return event;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_forked, struct task_struct *parent, struct task_struct *child)
{
	if (!state_of(bpf_get_current_task_btf()))
		return 0;
	struct task_state *state = bpf_task_storage_get(&tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state) {
		count_loss(LOST_TASKS);
		return 0;
	}
	mark_entry(child);
	if (books && child->pid == child->tgid)
		book_child(bpf_get_current_pid_tgid() >> 32, child->tgid);
	state->born = 1;
	state->waker_stack = -1;
	state->off_call = -1;
	state->off_start = state->woken = bpf_ktime_get_ns(); /* waits for its first turn on a CPU */
	struct event *event = new_event(child, FORKED);
	if (!event)
		return 0;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_executed, struct task_struct *task, int old_pid, struct linux_binprm *binary)
{
	if (!state_of(bpf_get_current_task_btf()))
		return 0;
	if (!book_program(bpf_get_current_task_btf()) && !waits_for_stack(task->tgid))
		announce_process(ctx, bpf_get_current_pid_tgid());
	struct event *event = new_event(task, EXECUTED);
	if (!event)
		return 0;
	event->old_tid = old_pid;
	bpf_probe_read_kernel_str(event->filename, sizeof(event->filename), binary->filename);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

/* One that another thread's call ends is in whatever call it was in, or in none. */
static __always_inline bool asked_to_end(struct task_struct *task)
{
	struct pt_regs___culprit *regs = (void *)bpf_task_pt_regs(task);
	return regs && call_in_progress(regs) == CALL_EXIT_GROUP;
}

/* The end is taken at the last switch, not at sched_process_exit: only here
 * sum_exec_runtime holds the last stretch, which of a process that lived a
 * millisecond is all of it. */
SEC("tp_btf/sched_switch")
int process_ended(unsigned long long *ctx)
{
	struct task_struct *prev = who_left(ctx);
	if (!(left_with_state(ctx) & TASK_DEAD) || was_preempted(ctx) || !state_of(prev))
		return 0;
	struct event *event = new_event(prev, ENDED);
	if (!event)
		return 0;
	struct signal_struct *signal = prev->signal; /* NULL, read as zeros, when already reaped */
	event->exit_code = prev->exit_code;
	if (signal->flags & SIGNAL_GROUP_EXIT) {
		event->exit_code = signal->group_exit_code;
		event->group_exit = WHOLE;
	}
	if (asked_to_end(prev))
		event->group_exit = OWN_CALL;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Not at the last switch, where the table of code must not be written. */
SEC("tp_btf/sched_process_free")
int process_freed(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	if (books && task->pid == task->tgid)
		unbook(task->tgid);
	return 0;
}

/* The three walks over all threads of the host, started from user space. */

/* Makes nobody a target: a process may outlive the window that it was followed in. */
SEC("iter/task")
int forget(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task; /* read once: kernels before 6.4 do not carry the check over to a second read */
	if (task)
		bpf_task_storage_delete(&tasks, task);
	return 0;
}

/* Makes the threads of the roots targets, and shows each with its account so far. */
SEC("iter/task")
int follow(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct event event;
	if (!task || task->exit_state)
		return 0;
	__u32 tgid = task->tgid;
	if (whole_host ? tgid == own_pid || (task->flags & PF_KTHREAD) : !bpf_map_lookup_elem(&roots, &tgid))
		return 0;
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state) {
		count_loss(LOST_TASKS);
		return 0;
	}
	mark_entry(task);
	if (state->born)
		return 0;
	if (!whole_host && task->pid == tgid) /* of the whole host, whoever runs is looked at when it does */
		announce_process(ctx, (__u64)tgid << 32 | tgid);
	fill(&event, task, PRESENT);
	__builtin_memset(event.filename, 0, sizeof(event.filename));
	bpf_seq_write(ctx->meta->seq, &event, sizeof(event));
	return 0;
}

/* Shows the account of every target that is left. */
SEC("iter/task")
int remain(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct event event;
	if (!task || task->exit_state || !bpf_task_storage_get(&tasks, task, 0, 0))
		return 0;
	fill(&event, task, REMAINING);
	__builtin_memset(event.filename, 0, sizeof(event.filename));
	bpf_seq_write(ctx->meta->seq, &event, sizeof(event));
	return 0;
}
