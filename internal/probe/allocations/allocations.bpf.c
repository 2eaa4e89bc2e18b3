//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Blocks of the target's heaps, with the top of the stack of who asked for them. */
#include "../bpf/member.h"
#include "../bpf/sampled.h"

enum loss { LOST_BLOCKS = 0, LOST_CALLS = 1 };

#define WORDS 48     /* of the stack: 384 bytes, three frames and more */
#define FEW_WORDS 8  /* where the stack ends soon */
#define LIVED_NS 100000000ull /* a block that is gone is kept from this age on: a line of it was sampled often */

struct address {
	__u64 address;
	__u32 tgid, unused;
};

struct block {
	__u64 size, begun, ended; /* 0: it is there */
	__u64 words[WORDS];       /* the first is where the allocator returns to */
};

struct call {
	__u64 size, begun;
	__u64 out; /* where the block's address goes; 0: it is returned */
	__u64 old; /* the block that it takes the place of; 0: none */
	__u64 returns_to;
};

const struct address *keep_address_in_btf __attribute__((unused));
const struct block *keep_block_in_btf __attribute__((unused));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, struct block);
} blocks SEC(".maps");

/* Blocks that lived for long and are gone. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct address);
	__type(value, struct block);
} befores SEC(".maps");

/* Calls of an allocator that have not returned, by thread. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct block);
} scratch SEC(".maps");

#if defined(__TARGET_ARCH_x86)
typedef struct pt_regs registers;
#define FIRST(regs) ((regs)->rdi)
#define SECOND(regs) ((regs)->rsi)
#define THIRD(regs) ((regs)->rdx)
#define RESULT(regs) ((regs)->rax)
#define STACK(regs) ((regs)->rsp)
#else
typedef struct { __u64 regs[31], sp, pc, pstate; } registers; /* struct user_pt_regs */
#define FIRST(r) ((r)->regs[0])
#define SECOND(r) ((r)->regs[1])
#define THIRD(r) ((r)->regs[2])
#define RESULT(r) ((r)->regs[0])
#define STACK(r) ((r)->sp)
#endif

static __always_inline __u64 returns_to(registers *regs)
{
#if defined(__TARGET_ARCH_x86)
	__u64 address = 0;
	bpf_probe_read_user(&address, sizeof(address), (void *)regs->rsp);
	return address;
#else
	return regs->regs[30];
#endif
}

/* What a thread asks for; a call within another takes its place, for it is that one which gets
 * the block. */
static __always_inline int begin(registers *regs, __u64 size, __u64 out, __u64 old)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid;
	if (!is_target(task))
		return 0;
	struct call call = {.size = size, .begun = bpf_ktime_get_ns(), .out = out, .old = old, .returns_to = returns_to(regs)};
	if (bpf_map_update_elem(&calls, &tid, &call, BPF_ANY))
		count_loss(LOST_CALLS);
	return 0;
}

static __always_inline void end_block(struct address *key, __u64 now)
{
	struct block *known = bpf_map_lookup_elem(&blocks, key);
	if (!known)
		return;
	if (now - known->begun >= LIVED_NS) {
		known->ended = now;
		bpf_map_update_elem(&befores, key, known, BPF_ANY);
	}
	bpf_map_delete_elem(&blocks, key);
}

/* The block that a call got. The frames of its callers are as they were when it began. */
static __always_inline void keep_block(registers *regs, struct call *call, struct address *key)
{
	__u32 zero = 0;
	struct block *block = bpf_map_lookup_elem(&scratch, &zero);
	if (!block)
		return;
	block->size = call->size;
	block->begun = call->begun;
	block->ended = 0;
	block->words[0] = call->returns_to;
	if (bpf_probe_read_user(block->words + 1, (WORDS - 1) * sizeof(__u64), (void *)STACK(regs))) {
		__builtin_memset(block->words + 1, 0, (WORDS - 1) * sizeof(__u64));
		bpf_probe_read_user(block->words + 1, FEW_WORDS * sizeof(__u64), (void *)STACK(regs));
	}
	end_block(key, call->begun); /* of which no release was seen */
	if (bpf_map_update_elem(&blocks, key, block, BPF_ANY))
		count_loss(LOST_BLOCKS);
}

SEC("uprobe")
int enter_malloc(registers *regs) { return begin(regs, FIRST(regs), 0, 0); }

SEC("uprobe")
int enter_calloc(registers *regs) { return begin(regs, FIRST(regs) * SECOND(regs), 0, 0); }

SEC("uprobe")
int enter_realloc(registers *regs) { return begin(regs, SECOND(regs), 0, FIRST(regs)); }

SEC("uprobe")
int enter_aligned(registers *regs) { return begin(regs, SECOND(regs), 0, 0); }

SEC("uprobe")
int enter_posix_memalign(registers *regs) { return begin(regs, THIRD(regs), FIRST(regs), 0); }

SEC("uprobe")
int enter_free(registers *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct address key = {.address = FIRST(regs), .tgid = task->tgid};
	if (key.address && is_target(task))
		end_block(&key, bpf_ktime_get_ns());
	return 0;
}

SEC("uretprobe")
int leave(registers *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid;
	struct call *call = bpf_map_lookup_elem(&calls, &tid);
	if (!call)
		return 0;
	struct address key = {.address = RESULT(regs), .tgid = task->tgid}, old = {.address = call->old, .tgid = task->tgid};
	if (call->out) {
		key.address = 0;
		bpf_probe_read_user(&key.address, sizeof(key.address), (void *)call->out);
	}
	if (key.address) {
		if (old.address)
			end_block(&old, call->begun);
		keep_block(regs, call, &key);
	}
	bpf_map_delete_elem(&calls, &tid);
	return 0;
}
