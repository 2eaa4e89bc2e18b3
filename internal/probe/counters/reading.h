/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What counters.bpf.c shares with user space, and how it reads one event. */
#pragma once

#include "../bpf/kernel.h"

#define MAX_EVENTS 32
#define NEAR_ROWS 16
#define BORN_SHIFT 23 /* 8 ms: tells two that had the same number apart */

enum { BY_CGROUP, BY_PROCESS, BY_THREAD };
enum { KIND_CLOCK, KIND_MEMORY, KIND_SWITCHES, KIND_HELPER };
enum { COMMAND_READ, COMMAND_STOP };
enum { LOST_ROWS, LOST_READS, LOST_TASKS, LOST_SWITCHES };

/* Ids that are nobody's: no cgroup, process or thread has them. */
#define ID_IDLE 0
#define ID_OTHERS ~0ull /* who is not counted */
#define ID_REST (~0ull - 1) /* whose row did not fit */

const volatile __u32 by = 0;
const volatile __u32 events = 0;
const volatile __u32 everybody = 1;
const volatile __u8 kinds[MAX_EVENTS] = {};
volatile __u32 command = COMMAND_READ;

struct key {
	__u64 id;
	__u32 born;
	__u32 cpu;
};

struct times {
	__u64 enabled, running; /* ns */
};

/* What was counted on one CPU for one of them. Without HELPER events user space leaves the times
 * out. */
struct row {
	__u64 ran_ns;
	__u64 named_ns; /* when the name was taken: that of the CPU where it was taken last holds */
	__u32 tgid;
	char comm[16];
	__u64 values[MAX_EVENTS];
	struct times times[MAX_EVENTS];
};

struct near_row {
	__u64 id;
	__u32 born;
	__u32 used;
	struct row row;
};

struct reading {
	__u64 value, enabled, running; /* as struct bpf_perf_event_value */
};

struct cpu_state {
	__u64 id;
	__u32 born;
	__u32 on;
	__u64 task; /* who came last: its address, to tell it from others */
	__u64 since;
	__u64 addresses[MAX_EVENTS];
	struct reading last[MAX_EVENTS];
};

struct event_address {
	__u64 descriptor, address;
};
const struct event_address *keep_event_address_in_btf __attribute__((unused));

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct file {
	void *private_data;
};

struct perf_event {
	struct {
		struct {
			struct {
				long counter;
			} a;
		} a;
	} count; /* local64_t */
};

struct rq {
	__u64 nr_switches;
	int cpu;
};

struct cfs_rq {
	struct rq *rq; /* with CONFIG_FAIR_GROUP_SCHED */
};

struct sched_entity___queue {
	struct cfs_rq *cfs_rq;
};

struct task_struct___queue {
	struct sched_entity___queue se;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

#pragma clang attribute pop

/* Who is counted where not everybody is. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, char);
} tasks SEC(".maps");

/* A set of CPUs for each event that a helper reads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, MAX_EVENTS);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
		__type(key, __u32);
		__type(value, __u32);
	});
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpus SEC(".maps");

/* One slot per place where something can be dropped, see LOST_…. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

static __always_inline void count_loss(__u32 slot)
{
	__u64 *count = bpf_map_lookup_elem(&losses, &slot);
	if (count)
		*count += 1;
}

extern void *bpf_rdonly_cast(const void *, __u32) __ksym __weak;

/* The kernel adds to this word with interrupts off, on this CPU only. */
static __always_inline __u64 read_memory(__u64 address)
{
	struct perf_event *event = bpf_rdonly_cast((void *)address, bpf_core_type_id_kernel(struct perf_event));
	return event->count.a.a.counter;
}

/* Where this CPU's run queue counts its switches, as if it were an event: the kernel does so
 * anyhow, and the event context-switches costs each of them some 100 ns. 0: not found. */
static __always_inline __u64 own_switches(struct task_struct *task)
{
	if (!bpf_core_field_exists(struct cfs_rq, rq))
		return 0;
	struct task_struct___queue *running = (void *)task;
	struct rq *queue = BPF_CORE_READ(running, se.cfs_rq, rq);
	if (BPF_CORE_READ(queue, cpu) != bpf_get_smp_processor_id())
		return 0;
	return (__u64)queue + bpf_core_field_offset(struct rq, nr_switches) - bpf_core_field_offset(struct perf_event, count);
}

static __always_inline bool read_helper(__u32 event, struct reading *reading)
{
	void *on_cpus = bpf_map_lookup_elem(&counters, &event);
	if (on_cpus && !bpf_perf_event_read_value(on_cpus, BPF_F_CURRENT_CPU, (void *)reading, sizeof(*reading)))
		return true;
	count_loss(LOST_READS);
	return false;
}
