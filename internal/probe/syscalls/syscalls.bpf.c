//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* System calls of the target, added up in the kernel per process and call. */
#include "../bpf/announce.h"
#include "../bpf/task.h"

#define BUCKETS 40 /* of 2^i ns: the last holds calls of nine minutes and more */

#define CALL_MMAP 9 /* x86-64 */
#define PROT_EXEC 4

enum loss { LOST_CALLS = 0 };

/* One entry per CPU, so that no two CPUs ever write to the same one; a map of the per-CPU kind would
 * need its whole size on each CPU, or allocate on first use, which fails when many processes start at once. */
struct call_key {
	__u32 tgid;
	__s32 call;
	__u32 cpu;
};

struct call_total {
	__u64 errors, bytes, total_ns;
	__u32 buckets[BUCKETS]; /* their sum is the count */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct call_key);
	__type(value, struct call_total);
} calls SEC(".maps");

static const struct call_total nothing;

SEC("tp_btf/sys_enter")
int BPF_PROG(call_entered, struct pt_regs___culprit *regs, long call)
{
	struct task_state *state = state_of(bpf_get_current_task_btf());
	if (!state)
		return 0;
	state->call = call;
	if (announce && call == CALL_MMAP && (regs->dx & PROT_EXEC) && (int)regs->r8 >= 0)
		state->maps_code = 1;
	state->call_start = bpf_ktime_get_ns();
	return 0;
}

static __always_inline __u32 log2_of(__u64 value)
{
	__u32 log = 0;
	if (value >> 32) { log += 32; value >>= 32; }
	if (value >> 16) { log += 16; value >>= 16; }
	if (value >> 8) { log += 8; value >>= 8; }
	if (value >> 4) { log += 4; value >>= 4; }
	if (value >> 2) { log += 2; value >>= 2; }
	return log + (value >> 1);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_left, struct pt_regs___culprit *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = state_of(task);
	if (!state || !state->call_start)
		return 0;
	__u64 took_ns = bpf_ktime_get_ns() - state->call_start;
	struct call_key key = {.tgid = task->tgid, .call = state->call,
				  .cpu = bpf_get_smp_processor_id()};
	state->call_start = 0;
	if (state->maps_code) {
		state->maps_code = 0;
		announce_process(ctx, bpf_get_current_pid_tgid());
	}
	struct call_total *total = bpf_map_lookup_elem(&calls, &key);
	if (!total) {
		bpf_map_update_elem(&calls, &key, &nothing, BPF_NOEXIST);
		total = bpf_map_lookup_elem(&calls, &key);
		if (!total) {
			count_loss(LOST_CALLS);
			return 0;
		}
	}
	__u32 bucket = log2_of(took_ns);
	total->total_ns += took_ns;
	if (result < 0)
		total->errors += 1;
	else
		total->bytes += result;
	if (bucket >= BUCKETS)
		bucket = BUCKETS - 1;
	total->buckets[bucket] += 1;
	return 0;
}
