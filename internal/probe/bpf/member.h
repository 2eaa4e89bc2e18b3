/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* For probes that only ask whether a task is a target: task.h without the state
 * of the task, whose size the loader takes from the map that is there. */
#pragma once

#include "kernel.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, char); /* opaque: never read */
} tasks SEC(".maps");

const volatile __u32 whole_host = 0;
const volatile __u32 own_pid = 0;

static __always_inline bool is_target(struct task_struct *task)
{
	if (!whole_host)
		return bpf_task_storage_get(&tasks, task, 0, 0);
	return task->tgid != own_pid && !(task->flags & PF_KTHREAD);
}

/* Losses, one slot per place where an event can be dropped (see each probe's enum). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

static __always_inline void count_loss(__u32 slot)
{
	__u64 *count = bpf_map_lookup_elem(&losses, &slot);
	if (count)
		*count += 1;
}
