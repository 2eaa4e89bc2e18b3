/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The few kernel structs and fields that culprit's programs read. They are
 * relocated at load (CO-RE), so only names and nesting matter, not offsets. */
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

typedef _Bool bool;
#define true 1
#define false 0

#define PF_EXITING 0x00000004 /* include/linux/sched.h */
#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */
#define TASK_DEAD 0x00000080  /* include/linux/sched.h: the last switch of a task */
#define SIGNAL_GROUP_EXIT 0x00000004 /* include/linux/sched/signal.h */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct {
	unsigned long start_code, end_code;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct sched_info {
	unsigned long long run_delay;
};

struct signal_struct {
	unsigned int flags;
	int group_exit_code;
};

struct kernfs_node {
	const char *name;
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp; /* in the hierarchy of version 2 */
};

struct task_struct {
	unsigned int flags;
	unsigned int __state;
	int on_cpu;
	int pid, tgid;
	struct task_struct *real_parent, *group_leader;
	struct mm_struct *mm;
	char comm[16];
	int exit_state, exit_code;
	unsigned long nvcsw, nivcsw;
	struct sched_entity se;
	struct sched_info sched_info;
	struct signal_struct *signal;
	void *bpf_storage; /* what BPF programs keep for the task, NULL when nothing */
	struct css_set *cgroups;
	__u64 start_time;
};

struct linux_binprm {
	const char *filename;
};

struct seq_file {
	char *buf; /* a struct without fields would not be found in the kernel's BTF */
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#include "machine.h"

char LICENSE[] SEC("license") = "GPL";
