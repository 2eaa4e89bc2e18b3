//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Block requests of all devices, added up in the kernel per device, operation
 * and submitter. Where no device does anything, nothing of this runs. */
#include "../bpf/buckets.h"
#include "../bpf/edge.h"
#include "../bpf/member.h"

#define REQ_OP_MASK 0xff /* include/linux/blk_types.h */

enum loss { LOST_REQUESTS = 0, LOST_TOTALS = 1, LOST_DEVICES = 2, LOST_HELD = 3 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct gendisk {
	int major, first_minor;
};

struct request_queue {
	struct gendisk *disk; /* since 5.15 (commit d152c682f03c) */
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags, __data_len;
	__u64 start_time_ns; /* of this use of it; 0 where the device keeps no statistics */
};

#pragma clang attribute pop

/* Who asked which device for what. One entry per CPU that completed requests of it: no two CPUs
 * write to the same one. */
struct total_key {
	__u32 device; /* major << 20 | minor */
	__u32 operation, tgid, cpu;
};

struct total {
	__u64 bytes, total_ns, max_ns, queue_ns;
	__u32 target, max_depth;
	char comm[16];
	__u32 buckets[BUCKETS]; /* their sum is the count */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, struct total_key);
	__type(value, struct total);
} totals SEC(".maps");

/* A request from when it is seen first until it is completed. */
struct flight {
	__u64 inserted, issued; /* 0: was not */
	__u64 start;            /* its start_time_ns: the same address is used again and again */
	__u32 device, operation, tgid, target, bytes, depth;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u64); /* the address of the request */
	__type(value, struct flight);
} flights SEC(".maps");

/* Requests that a device works on. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} depths SEC(".maps");

static const struct total nothing;

static __always_inline __u32 device_of(struct request *request)
{
	struct gendisk *disk = request->q->disk; /* NULL, read as zeros, while a device is being set up */
	return (__u32)disk->major << 20 | (disk->first_minor & 0xfffff);
}

/* The task that runs is the submitter: a plugged request is inserted or issued when it unplugs. */
static __always_inline void fill(struct flight *flight, struct request *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	flight->device = device_of(request);
	flight->operation = request->cmd_flags & REQ_OP_MASK;
	flight->tgid = task->tgid;
	flight->target = is_target(task);
	flight->start = request->start_time_ns;
	bpf_probe_read_kernel(flight->comm, sizeof(flight->comm), task->group_leader->comm);
}

static __always_inline __u32 one_more(__u32 device)
{
	__u32 *depth = bpf_map_lookup_elem(&depths, &device), none = 0;
	if (!depth) {
		bpf_map_update_elem(&depths, &device, &none, BPF_NOEXIST); /* another CPU may be first */
		depth = bpf_map_lookup_elem(&depths, &device);
	}
	if (!depth) {
		count_loss(LOST_DEVICES);
		return 0;
	}
	return __sync_fetch_and_add(depth, 1) + 1;
}

static __always_inline void one_less(__u32 device)
{
	__u32 *depth = bpf_map_lookup_elem(&depths, &device);
	if (depth)
		__sync_fetch_and_add(depth, -1);
}

static __always_inline void keep(struct request *request, struct flight *flight)
{
	__u64 key = (__u64)request;
	if (bpf_map_update_elem(&flights, &key, flight, BPF_ANY))
		count_loss(LOST_REQUESTS);
}

/* What is known of this use of a request. One whose end was missed is dropped. */
static __always_inline struct flight *flight_of(struct request *request)
{
	__u64 key = (__u64)request;
	struct flight *known = bpf_map_lookup_elem(&flights, &key);
	if (!known || known->start == request->start_time_ns)
		return known;
	if (known->issued)
		one_less(known->device);
	bpf_map_delete_elem(&flights, &key);
	return 0;
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(request_inserted, struct request *request)
{
	struct flight flight = {.inserted = bpf_ktime_get_ns()};
	struct flight *known = flight_of(request);
	if (known && known->issued)
		return 0; /* the device sent it back; or another CPU was quicker to issue it than this one to tell */
	fill(&flight, request);
	keep(request, &flight);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(request_issued, struct request *request)
{
	__u64 now = bpf_ktime_get_ns();
	struct flight *known = flight_of(request);
	if (known && known->issued)
		return 0; /* again, after the device sent it back */
	if (known) {
		known->bytes = request->__data_len; /* others may have been merged into it */
		known->depth = one_more(known->device);
		known->issued = now;
		return 0;
	}
	struct flight flight = {.issued = now, .bytes = request->__data_len};
	fill(&flight, request);
	flight.depth = one_more(flight.device);
	keep(request, &flight);
	return 0;
}

/* It was merged into another request, and will never be issued. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(request_merged, struct request *request)
{
	__u64 key = (__u64)request;
	bpf_map_delete_elem(&flights, &key);
	return 0;
}

static __always_inline void add(struct flight *flight, __u64 now)
{
	struct total_key key = {.device = flight->device, .operation = flight->operation, .tgid = flight->tgid,
				.cpu = bpf_get_smp_processor_id()};
	__u64 took_ns = now - flight->issued;
	struct total *total = bpf_map_lookup_elem(&totals, &key);
	if (!total) {
		bpf_map_update_elem(&totals, &key, &nothing, BPF_NOEXIST);
		total = bpf_map_lookup_elem(&totals, &key);
	}
	if (!total) {
		count_loss(LOST_TOTALS);
		return;
	}
	total->bytes += flight->bytes;
	total->total_ns += took_ns;
	if (took_ns > total->max_ns)
		total->max_ns = took_ns;
	if (flight->inserted)
		total->queue_ns += flight->issued - flight->inserted;
	if (flight->depth > total->max_depth)
		total->max_depth = flight->depth;
	total->target = flight->target;
	__builtin_memcpy(total->comm, flight->comm, sizeof(total->comm));
	total->buckets[bucket_of(took_ns)] += 1;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(request_completed, struct request *request, int error, unsigned int bytes)
{
	__u64 key = (__u64)request;
	__u64 now = bpf_ktime_get_ns();
	if (bytes < request->__data_len || begins == OVER)
		return 0; /* the first part of it; or left for user space, which counts what is under way */
	struct flight *flight = bpf_map_lookup_elem(&flights, &key);
	if (!flight || !flight->issued)
		return 0; /* issued before the window */
	if (within_window(flight->issued))
		add(flight, now);
	one_less(flight->device);
	bpf_map_delete_elem(&flights, &key);
	return 0;
}

#include "throttle.h"
