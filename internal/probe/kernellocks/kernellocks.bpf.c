//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Waits of target threads for locks inside the kernel, added up per lock and
 * place. The hooks are in the slow paths only: a free lock costs nothing. */
#include "../bpf/edge.h"
#include "../bpf/member.h"

#define LOOK_EVERY_NS 200000ull /* one look at a holder in this time per CPU … */
#define LOOK_BURST 32           /* … but so many at once */
#define STACK_NS 2000 /* a walk takes about 1 µs: shorter waits are counted without their place */

/* include/trace/events/lock.h */
#define LCB_F_SPIN 1
#define LCB_F_READ 2
#define LCB_F_WRITE 4
#define LCB_F_RT 8
#define LCB_F_PERCPU 16
#define LCB_F_MUTEX 32
#define OWNER_FLAGS 7ul /* low bits of the owner of a mutex or rwsem */

enum kind { MUTEX = 1, RWSEM_READ = 2, RWSEM_WRITE = 3, SPIN = 4, OTHER = 5 };
enum loss { LOST_WAITS = 0, LOST_TOTALS = 1, LOST_STACKS = 2 };

#include "../bpf/kernelstack.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	long counter;
} atomic64_t;

struct mutex {
	atomic64_t owner;
};

struct rw_semaphore {
	atomic64_t owner;
};

#pragma clang attribute pop

struct holder {
	__u32 tgid, tid;
	char comm[16];
	__u64 stack[DEPTH]; /* in the kernel, leaf first; zeroes where it was not seen */
};

/* The wait that a task is in: the outermost, what is nested in it is its part. */
struct wait {
	__u64 start, lock;
	__u32 kind, unused;
	struct holder holder;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait);
} waits SEC(".maps");

struct total_key {
	__u64 lock;
	__u32 kind, tid;
	__s32 stack;
	__u32 unused;
};

struct total {
	__u64 count, total_ns, max_ns;
	struct holder holder; /* at the longest wait */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct total_key);
	__type(value, struct total);
} totals SEC(".maps");

/* Looks at holders are paid for up to this time: a walk over another's stack takes 1 to 2 µs. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} paid_until SEC(".maps");

/* Linux 6.2; before, holders have no stack: bpf_get_task_stack takes no pointer that was read
 * out of a lock. */
struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
void bpf_task_release(struct task_struct *task) __ksym __weak;

static __always_inline __u32 kind_of(__u32 flags)
{
	if (flags & LCB_F_MUTEX)
		return MUTEX;
	if (flags & (LCB_F_PERCPU | LCB_F_RT))
		return OTHER;
	if (flags & LCB_F_SPIN)
		return SPIN;
	if (flags & LCB_F_WRITE)
		return RWSEM_WRITE;
	return flags & LCB_F_READ ? RWSEM_READ : OTHER;
}

/* Takes a token of this CPU's bucket. */
static __always_inline bool pay_look(__u64 now)
{
	__u32 zero = 0;
	__u64 *paid = bpf_map_lookup_elem(&paid_until, &zero);
	if (!paid || *paid > now)
		return false;
	__u64 oldest = now - LOOK_BURST * LOOK_EVERY_NS;
	*paid = (*paid < oldest ? oldest : *paid) + LOOK_EVERY_NS;
	return true;
}

/* What the holder waits for itself. One that runs on another CPU shows no stack (the kernel's
 * unwind_start). */
static __always_inline void look_at_holder(struct holder *holder, __u64 now)
{
	if (!bpf_task_from_pid || !bpf_task_release || !pay_look(now))
		return;
	struct task_struct *task = bpf_task_from_pid(holder->tid);
	if (!task)
		return;
	long bytes = bpf_get_task_stack(task, holder->stack, sizeof(holder->stack), 0);
	if (bytes >= 0 && bytes < sizeof(holder->stack))
		holder->stack[(bytes / sizeof(__u64)) & (DEPTH - 1)] = 0;
	bpf_task_release(task);
}

/* Who holds it. Of an rwsem held by readers it is one that took it lately, who may be gone: not
 * told. */
static __always_inline void fill_holder(struct wait *wait, void *lock, __u64 now)
{
	unsigned long owner = 0;
	struct task_struct *task;
	if (wait->kind == MUTEX)
		owner = BPF_CORE_READ((struct mutex *)lock, owner.counter);
	else if (wait->kind == RWSEM_READ || wait->kind == RWSEM_WRITE)
		owner = BPF_CORE_READ((struct rw_semaphore *)lock, owner.counter);
	if (wait->kind != MUTEX && (owner & 1)) /* RWSEM_READER_OWNED */
		return;
	task = (void *)(owner & ~OWNER_FLAGS);
	if (!task)
		return;
	wait->holder.tid = BPF_CORE_READ(task, pid);
	wait->holder.tgid = BPF_CORE_READ(task, tgid);
	BPF_CORE_READ_STR_INTO(&wait->holder.comm, task, comm);
	look_at_holder(&wait->holder, now);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(wait_begins, void *lock, unsigned int flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_ns();
	if (!within_window(now) || !is_target(task))
		return 0;
	struct wait *wait = bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!wait) {
		count_loss(LOST_WAITS);
		return 0;
	}
	if (wait->lock && within_window(wait->start)) {
		/* Nested; or the same again, when a mutex gives up spinning since its holder has gone to
		 * sleep. */
		if (wait->lock == (__u64)lock && !wait->holder.stack[0])
			fill_holder(wait, lock, now);
		return 0;
	}
	wait->start = now;
	wait->lock = (__u64)lock;
	wait->kind = kind_of(flags);
	wait->holder.tid = wait->holder.tgid = 0;
	wait->holder.comm[0] = 0;
	wait->holder.stack[0] = 0;
	fill_holder(wait, lock, now);
	return 0;
}

static __always_inline __s32 stack_here(void *ctx)
{
	__u32 slot = 0;
	struct stack_buffer *buffer = bpf_map_lookup_elem(&scratch, &slot);
	return buffer ? keep_stack(buffer, bpf_get_stack(ctx, buffer, sizeof(*buffer), 0)) : -1;
}

static __always_inline void add(struct total_key *key, struct wait *wait, __u64 took_ns)
{
	struct total first = {.count = 1, .total_ns = took_ns, .max_ns = took_ns, .holder = wait->holder};
	struct total *known = bpf_map_lookup_elem(&totals, key);
	if (!known) {
		if (bpf_map_update_elem(&totals, key, &first, BPF_ANY))
			count_loss(LOST_TOTALS);
		return;
	}
	known->count += 1; /* of one thread: nobody else writes */
	known->total_ns += took_ns;
	if (took_ns <= known->max_ns)
		return;
	known->max_ns = took_ns;
	known->holder = wait->holder;
}

SEC("tp_btf/contention_end")
int BPF_PROG(wait_ends, void *lock, int error)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wait *wait = bpf_task_storage_get(&waits, task, 0, 0);
	if (!wait || wait->lock != (__u64)lock)
		return 0;
	__u64 took_ns = bpf_ktime_get_ns() - wait->start;
	struct total_key key = {.lock = wait->lock, .kind = wait->kind, .tid = task->pid, .stack = -1};
	if (within_window(wait->start)) {
		if (took_ns >= STACK_NS)
			key.stack = stack_here(ctx);
		add(&key, wait, took_ns);
	}
	wait->lock = 0;
	return 0;
}
