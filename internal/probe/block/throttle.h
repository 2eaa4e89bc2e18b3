/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* I/O that a cgroup's limit held back (blkio.throttle.*, io.max) before it became a request.
 * Nothing tells when the throttle takes a bio; it is announced as queued when the throttle's
 * worker lets it go (blk_throtl_dispatch_work_fn). Included by block.bpf.c. Where no limit is at
 * work, a bio costs the look at one flag of the task. */
#pragma once

#define PF_WQ_WORKER 0x20
#define NAME_BYTES 64
#define THROTTLE_QUEUE 0x646c746f7268746bull /* "kthrotld", block/blk-throttle.c */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* A flavour: the name without ___worker is what is looked up in the kernel's BTF. */
struct task_struct___worker {
	void *worker_private; /* since 5.17 (commit e32cf5dfbe22) */
};

struct kthread {
	void *data;
};

struct workqueue_struct {
	char name[8];
};

struct pool_workqueue {
	struct workqueue_struct *wq;
};

struct worker {
	struct pool_workqueue *current_pwq;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct block_device {
	__u32 bd_dev; /* major << 20 | minor, also of a partition */
};

struct bio {
	struct block_device *bi_bdev; /* since 5.12 (commit 309dca309fc3) */
	struct blkcg_gq *bi_blkg;
	unsigned int bi_opf;
};

#pragma clang attribute pop

/* A bio that was let go. */
struct let_go {
	__u64 time;
	__u32 device, operation;
	char cgroup[NAME_BYTES];
};

const struct let_go *keep_let_go_in_btf __attribute__((unused));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 17);
} lets_go SEC(".maps");

static __always_inline bool is_throttle(struct task_struct *task)
{
	struct task_struct___worker *thread = (void *)task;
	struct kthread *kthread = BPF_CORE_READ(thread, worker_private);
	struct worker *worker = BPF_CORE_READ(kthread, data);
	struct workqueue_struct *queue = BPF_CORE_READ(worker, current_pwq, wq);
	__u64 name = 0;
	bpf_probe_read_kernel(&name, sizeof(name), (void *)queue + bpf_core_field_offset(queue->name));
	return name == THROTTLE_QUEUE;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(bio_queued, struct bio *bio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_ns();
	if (!(task->flags & PF_WQ_WORKER) || !within_window(now) || begins == OVER || !is_throttle(task))
		return 0;
	struct let_go *event = bpf_ringbuf_reserve(&lets_go, sizeof(*event), 0);
	if (!event) {
		count_loss(LOST_HELD);
		return 0;
	}
	event->time = now;
	event->device = bio->bi_bdev->bd_dev;
	event->operation = bio->bi_opf & REQ_OP_MASK;
	event->cgroup[0] = 0;
	const char *name = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup, kn, name);
	bpf_probe_read_kernel_str(event->cgroup, sizeof(event->cgroup), name);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}
