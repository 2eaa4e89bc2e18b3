/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Telling strangers at a system call without asking which task runs: that takes a call out of
 * the program, dearer than all else that is done for them. A task's registers lie at the same
 * place of its kernel stack for as long as it lives, so a table says by a hash of that place
 * whether a target may have it. A place that a target had stays marked until the next window: a
 * stranger that gets it, or shares its mark, is told by its task. */
#pragma once

#include "kernel.h"

#define ENTRY_LOG 12
#define ENTRY_MARKS (1 << ENTRY_LOG)

struct entry_marks {
	__u8 target[ENTRY_MARKS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct entry_marks);
} entries SEC(".maps");

static __always_inline __u8 *entry_mark(const void *registers)
{
	__u32 zero = 0;
	struct entry_marks *marks = bpf_map_lookup_elem(&entries, &zero);
	if (!marks)
		return 0;
	/* Of two pointers the verifier allows the difference only; the marks lie at one place for all
	 * programs. */
	__u64 hash = (((__u64)registers - (__u64)marks) >> 3) * 0x9e3779b97f4a7c15ull;
	return &marks->target[hash >> (64 - ENTRY_LOG)];
}

/* For a task that becomes a target. */
static __always_inline void mark_entry(struct task_struct *task)
{
	__u8 *mark = entry_mark((void *)bpf_task_pt_regs(task));
	if (mark)
		*mark = 1;
}

/* For the registers that a hook on system calls is given. */
static __always_inline bool may_be_target(const void *registers)
{
	__u8 *mark = entry_mark(registers);
	return mark && *mark;
}
