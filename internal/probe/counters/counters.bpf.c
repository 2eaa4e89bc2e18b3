//go:build ignore
// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* Counters that stay on, one set per CPU. When the CPU goes from one cgroup (process, thread) to
 * another, what they counted since the last time is booked to the one that leaves. Nothing is
 * reprogrammed at a switch.
 *
 * How an event is read, by its kind:
 *   CLOCK   one reading of the monotonic clock serves all of them
 *   MEMORY  the kernel adds to a word of memory (software events, tracepoints): the word is read
 *   SWITCHES  likewise, and the word is the run queue's: there is no event
 *   HELPER  the PMU has to be asked (hardware, msr): the value, how long it was on and counted
 *
 * Every CPU writes its own rows only, with interrupts off: at switches, and when user space asks by
 * running `control` there. So no addition is lost to another. */
#include "reading.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__type(key, struct key);
	__type(value, struct row);
} rows SEC(".maps");

/* Who ran on this CPU not long ago: to add to a row of these, no table is searched. Each has one
 * slot, by its id; who comes to a slot of another one first moves that one's row to the table,
 * and user space has all of them moved before it reads. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NEAR_ROWS);
	__type(key, __u32);
	__type(value, struct near_row);
} near SEC(".maps");

/* A row of zeros, too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct row);
} empty SEC(".maps");

/* Who the CPU works for, as a key without its CPU. */
static __always_inline void whose(struct task_struct *task, struct key *key)
{
	key->born = 0;
	if (!task->pid) {
		key->id = ID_IDLE;
	} else if (!everybody && !bpf_task_storage_get(&tasks, task, 0, 0)) {
		key->id = ID_OTHERS;
	} else if (by == BY_CGROUP) {
		key->id = task->cgroups->dfl_cgrp->kn->id;
	} else if (by == BY_PROCESS) {
		key->id = task->tgid;
		key->born = task->group_leader->start_time >> BORN_SHIFT;
	} else {
		key->id = task->pid;
		key->born = task->start_time >> BORN_SHIFT;
	}
}

static __always_inline void clear_row(struct row *row)
{
	row->ran_ns = row->named_ns = 0;
	for (__u32 i = 0; i < MAX_EVENTS && i < events; i++) {
		row->values[i] = 0;
		if (kinds[i] == KIND_HELPER)
			row->times[i].enabled = row->times[i].running = 0;
	}
}

static __always_inline void name_row(struct row *row, struct task_struct *task)
{
	row->tgid = task->tgid;
	row->named_ns = bpf_ktime_get_ns();
	struct task_struct *named = by == BY_PROCESS ? task->group_leader : task;
	bpf_probe_read_kernel_str(row->comm, sizeof(row->comm), named->comm);
}

/* A row of the table. One that does not fit is counted, and its counts go to a row that is
 * always there. */
static __always_inline struct row *find_row(struct key *key)
{
	struct row *row = bpf_map_lookup_elem(&rows, key);
	if (row)
		return row;
	__u32 zero = 0;
	struct row *zeros = bpf_map_lookup_elem(&empty, &zero);
	if (!zeros)
		return 0;
	if (bpf_map_update_elem(&rows, key, zeros, BPF_NOEXIST)) {
		count_loss(LOST_ROWS);
		key->id = ID_REST;
		key->born = 0;
	}
	row = bpf_map_lookup_elem(&rows, key);
	if (row && by != BY_CGROUP && key->id != ID_REST)
		name_row(row, bpf_get_current_task_btf());
	return row;
}

/* Moves what was counted near by to the table. */
static __noinline int move_row(struct near_row *near_row, __u32 cpu)
{
	if (!near_row || !near_row->used)
		return 0;
	struct key key = {.id = near_row->id, .born = near_row->born, .cpu = cpu};
	near_row->used = 0;
	struct row *row = find_row(&key);
	if (!row)
		return 0;
	struct row *from = &near_row->row;
	if (from->named_ns && key.id == near_row->id) { /* the row of what does not fit has no name */
		row->tgid = from->tgid;
		row->named_ns = from->named_ns;
		__builtin_memcpy(row->comm, from->comm, sizeof(row->comm));
	}
	row->ran_ns += from->ran_ns;
	for (__u32 i = 0; i < MAX_EVENTS && i < events; i++) {
		row->values[i] += from->values[i];
		if (kinds[i] != KIND_HELPER)
			continue;
		row->times[i].enabled += from->times[i].enabled;
		row->times[i].running += from->times[i].running;
	}
	return 0;
}

/* The row to add to, near by. Its row in the table is made now: when all are moved at once, the
 * kernel has no memory at hand for as many. */
static __always_inline struct row *near_row(struct key *key)
{
	__u32 slot = (key->id ^ key->born) % NEAR_ROWS;
	struct near_row *found = bpf_map_lookup_elem(&near, &slot);
	if (!found)
		return 0;
	if (found->used && found->id == key->id && found->born == key->born)
		return &found->row;
	move_row(found, key->cpu);
	if (!find_row(key))
		return 0;
	found->id = key->id;
	found->born = key->born;
	found->used = 1;
	clear_row(&found->row);
	return &found->row;
}

/* Books what was counted since the last time; without a row it only notes where the counters
 * stand. */
static __always_inline void take(struct cpu_state *cpu, struct row *row)
{
	__u64 now = bpf_ktime_get_ns();
	if (row)
		row->ran_ns += now - cpu->since;
	cpu->since = now;
	for (__u32 i = 0; i < MAX_EVENTS && i < events; i++) {
		struct reading reading = {.value = now};
		if (kinds[i] == KIND_MEMORY || kinds[i] == KIND_SWITCHES)
			reading.value = read_memory(cpu->addresses[i]);
		else if (kinds[i] == KIND_HELPER && !read_helper(i, &reading))
			continue;
		if (row)
			row->values[i] += reading.value - cpu->last[i].value;
		cpu->last[i].value = reading.value;
		if (kinds[i] != KIND_HELPER)
			continue;
		if (row) {
			row->times[i].enabled += reading.enabled - cpu->last[i].enabled;
			row->times[i].running += reading.running - cpu->last[i].running;
		}
		cpu->last[i].enabled = reading.enabled;
		cpu->last[i].running = reading.running;
	}
}

static __always_inline void came(struct cpu_state *cpu, struct task_struct *task, struct key *key)
{
	cpu->id = key->id;
	cpu->born = key->born;
	cpu->task = (__u64)task;
}

/* `task` is who leaves. Another one than the last that came: the kernel has not shown a switch
 * in between. Where the two are booked to the same, so is what was counted; else nobody knows
 * whose it is. */
static __always_inline void book(struct cpu_state *cpu, struct task_struct *task)
{
	struct key key = {.id = cpu->id, .born = cpu->born, .cpu = bpf_get_smp_processor_id()};
	if (cpu->task != (__u64)task) {
		struct key leaves;
		whose(task, &leaves);
		if (leaves.id != key.id || leaves.born != key.born) {
			count_loss(LOST_SWITCHES);
			key.id = ID_REST;
			key.born = 0;
		}
	}
	struct row *row = near_row(&key);
	take(cpu, row);
	if (row && task->exit_state && by != BY_CGROUP && key.id == cpu->id)
		name_row(row, task); /* for the last time: who began as a shell may have become another program */
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 zero = 0;
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpus, &zero);
	if (!cpu || !cpu->on)
		return 0;
	struct key key;
	whose(next, &key);
	if (key.id != cpu->id || key.born != cpu->born || cpu->task != (__u64)prev)
		book(cpu, prev);
	came(cpu, next, &key);
	return 0;
}

/* Tells where the events are that only this CPU can find. */
static __always_inline void find_switches(struct cpu_state *cpu, struct task_struct *task)
{
	for (__u32 i = 0; i < MAX_EVENTS && i < events; i++)
		if (kinds[i] == KIND_SWITCHES)
			cpu->addresses[i] = own_switches(task);
}

/* Run by user space on one CPU. */
SEC("raw_tp/control")
int control(void *ctx)
{
	__u32 zero = 0;
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpus, &zero);
	if (!cpu)
		return 0;
	struct task_struct *task = bpf_get_current_task_btf();
	if (cpu->on) {
		book(cpu, task);
	} else {
		find_switches(cpu, task);
		take(cpu, 0);
	}
	for (__u32 i = 0; i < NEAR_ROWS; i++) { /* before 6.4 the verifier follows only a counter whose address nobody takes */
		__u32 slot = i;
		move_row(bpf_map_lookup_elem(&near, &slot), bpf_get_smp_processor_id());
	}
	struct key key;
	whose(task, &key);
	came(cpu, task, &key);
	cpu->on = command == COMMAND_READ;
	return 0;
}

/* Children of who is counted are counted. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	if (bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0) &&
	    !bpf_task_storage_get(&tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
		count_loss(LOST_TASKS);
	return 0;
}

/* Where the kernel keeps what an event of ours counted: the descriptor and the address. */
SEC("iter/task_file")
int addresses(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	if (!task || !file || task->tgid != bpf_get_current_pid_tgid() >> 32)
		return 0;
	struct event_address found = {.descriptor = ctx->fd, .address = (__u64)file->private_data};
	bpf_seq_write(ctx->meta->seq, &found, sizeof(found));
	return 0;
}
