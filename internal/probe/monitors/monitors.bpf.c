//go:build ignore
// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* What the perf events that processes hold open count, for whom, and how much of the time: /proc
 * tells only that a descriptor is one. Nothing is attached: user space has it walk once over the
 * descriptors of all processes. */
#include <linux/perf_event.h>
#include "../bpf/kernel.h"

#define ATTR_BYTES 128 /* of struct perf_event_attr: what user space can open again */
#define TYPE_TRACEPOINT 2 /* PERF_TYPE_TRACEPOINT */

struct held {
	__u64 operations; /* of the file: which kind it is */
	__u64 cgroup;
	__u64 enabled, running; /* ns */
	__u64 attr[ATTR_BYTES / 8];
	__u32 descriptor;
	__s32 holder, target, thread; /* processes; target 0: an event of a CPU */
	__s32 cpu; /* -1: on all on which the target runs */
	__u32 program; /* id of the BPF program that runs at it */
	char system[32], name[64]; /* of a tracepoint */
};
const struct held *keep_held_in_btf __attribute__((unused));

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct file {
	void *f_op;
	void *private_data;
};

struct bpf_prog_aux {
	__u32 id;
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
};

struct tracepoint {
	const char *name;
};

struct trace_event_class {
	const char *system;
};

struct trace_event_call {
	struct trace_event_class *class;
	union {
		const char *name;
		struct tracepoint *tp;
	};
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct perf_cgroup {
	struct cgroup_subsys_state css;
};

struct hw_perf_event {
	struct task_struct *target;
};

struct perf_event {
	struct perf_event_attr attr;
	struct hw_perf_event hw;
	__u64 total_time_enabled, total_time_running;
	int cpu;
	struct bpf_prog *prog;
	struct trace_event_call *tp_event;
	struct perf_cgroup *cgrp;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

#pragma clang attribute pop

/* The operations of a perf event's file; 0: tell those of `own_descriptor` of `own_process`. */
volatile __u64 operations = 0;
volatile __u32 own_process = 0, own_descriptor = 0;

static __always_inline void name_tracepoint(struct held *held, struct perf_event *event)
{
	struct trace_event_call *call = BPF_CORE_READ(event, tp_event);
	if (!call)
		return;
	bpf_probe_read_kernel_str(held->system, sizeof(held->system), BPF_CORE_READ(call, class, system));
	/* A call of a tracepoint has that instead of a name; letters read as an address are none. */
	if (bpf_probe_read_kernel_str(held->name, sizeof(held->name), BPF_CORE_READ(call, tp, name)) < 0)
		bpf_probe_read_kernel_str(held->name, sizeof(held->name), BPF_CORE_READ(call, name));
}

static __always_inline void describe(struct held *held, struct perf_event *event)
{
	bpf_probe_read_kernel(held->attr, sizeof(held->attr), __builtin_preserve_access_index(&event->attr));
	held->enabled = BPF_CORE_READ(event, total_time_enabled);
	held->running = BPF_CORE_READ(event, total_time_running);
	held->cpu = BPF_CORE_READ(event, cpu);
	/* Whom it was opened for. The task of its context is no thread's once that thread ended, while
	 * what it counts goes on in the threads that came of it; and the kernel exchanges contexts of
	 * threads that are counted alike. */
	struct task_struct *target = BPF_CORE_READ(event, hw.target);
	held->target = BPF_CORE_READ(target, tgid);
	held->thread = BPF_CORE_READ(target, pid);
	held->program = BPF_CORE_READ(event, prog, aux, id);
	if (bpf_core_field_exists(event->cgrp))
		held->cgroup = BPF_CORE_READ(event, cgrp, css.cgroup, kn, id);
	if ((__u32)held->attr[0] == TYPE_TRACEPOINT)
		name_tracepoint(held, event);
}

SEC("iter/task_file")
int holders(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	if (!task || !file || task->pid != task->tgid) /* threads share their descriptors */
		return 0;
	struct held held = {.operations = (__u64)file->f_op, .descriptor = ctx->fd, .holder = task->tgid};
	if (!operations) {
		if (held.holder == own_process && held.descriptor == own_descriptor)
			bpf_seq_write(ctx->meta->seq, &held, sizeof(held));
		return 0;
	}
	if (held.operations != operations)
		return 0;
	describe(&held, (struct perf_event *)file->private_data);
	bpf_seq_write(ctx->meta->seq, &held, sizeof(held));
	return 0;
}

/* Model-specific registers of x86 that are written and read, by register: those of the counters
 * are what programming them anew costs. */
struct msr_key {
	__u32 number;
	__u32 write;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1024); /* what does not fit is in `msrs_lost` */
	__type(key, struct msr_key);
	__type(value, __u64);
} msrs SEC(".maps");

__u64 msrs_lost = 0;

static __always_inline int count_msr(__u32 number, __u32 write)
{
	struct msr_key key = {.number = number, .write = write};
	__u64 one = 1, *count = bpf_map_lookup_elem(&msrs, &key);
	if (count)
		*count += 1; /* of this CPU; a write in an interrupt in between may be lost */
	else if (bpf_map_update_elem(&msrs, &key, &one, BPF_NOEXIST))
		__sync_fetch_and_add(&msrs_lost, 1);
	return 0;
}

SEC("raw_tp/write_msr")
int wrote_msr(struct bpf_raw_tracepoint_args *ctx)
{
	return count_msr(ctx->args[0], 1);
}

SEC("raw_tp/read_msr")
int read_msr(struct bpf_raw_tracepoint_args *ctx)
{
	return count_msr(ctx->args[0], 0);
}
