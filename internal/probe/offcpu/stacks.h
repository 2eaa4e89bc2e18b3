/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Stacks of switches: which kernel stacks are kept, and which switch-outs are worth an unwinding.
 *
 * User stacks at a bounded cost: the stack is unwound at a switch-out when its signature
 * (instruction and stack pointer, and the words near the top of the stack that look like code) is
 * new for that thread, else at the first switch-out behind a random moment, about unwind_ns after
 * the one before, so with probability min(1, dt / unwind_ns), dt since the thread's previous
 * switch-out; and never more often than a CPU's budget allows. User space joins unwound stacks to
 * exact times by thread and signature.
 *
 * The signature is the dearest part of a switch-out. A thread whose last STREAK stays were all
 * short is looked at as a whole only at one of LOOK_AGAIN switch-outs; at the others the same
 * instruction and stack pointers as before are taken for the same place. The error: within such a
 * streak one place can be taken for another that blocks in the same call with a stack as deep, in
 * short stays and the first long one.
 *
 * Kernel stacks, of the sleeper and of its waker, cost more than all else that is done for a
 * wait. Stays shorter than long_ns have none. Of those at a place that had SURE in a row of
 * between long_ns and wait_ns only one in about sixteen, at random, is looked at; user space
 * shares out the exact time of the others among the stacks that were seen there. Stays of
 * wait_ns and more are all looked at, and end the row. */
#pragma once

#include "../bpf/task.h"

#define SIGNATURE_WORDS 32
#define UNWIND_EVERY_NS 1000000ull /* one unwinding in this time per CPU … */
#define UNWIND_BURST 64            /* … but so many at once: a start shows many new places */
#define RELEASE_EVERY_NS 5000000ull /* of who releases a futex */

#define SURE 16
#define NOT_TAKEN (-2) /* instead of the id of a stack */
#define STREAK 16
#define LOOK_AGAIN 16 /* a power of two */

enum loss { LOST_WAITS = 0, LOST_TOTALS = 1, LOST_STACKS = 2, LOST_UNWINDER = 3, OVER_BUDGET = 4,
	    LOST_RHYTHMS = 5, LOST_FUTEXES = 6, LOST_HELPERS = 7 };

#include "../bpf/kernelstack.h" /* slot 0 of its scratch: the scheduler's hooks; slot 1: the walk over all threads */

const volatile __u64 unwind_ns = 10000000; /* at most about one unwinding in this time per thread */
const volatile __u64 long_ns = 50000;      /* a stay is long from here on: kernel stacks, maps */
const volatile __u64 wait_ns = 1000000;    /* keep a stay whole from here on */

/* Writing here lets the unwinder run: a breakpoint of each CPU watches it. Without breakpoints
 * the unwinder's program is behind the software event of context switches, which costs every
 * switch of the host 150 to 300 ns. */
volatile __u64 unwind_trigger = 0;
__u64 trigger_address = 0;
__u32 by_breakpoint = 0;

/* Unwindings are paid for up to this time: slot 0 those of switch-outs, slot 1 those of
 * releases. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} budget SEC(".maps");

struct signature_key {
	__u32 tid, signature;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct signature_key);
	__type(value, __u8);
} signatures SEC(".maps");

/* The kernel stack of who gets the CPU back. */
static __always_inline __s32 stack_of_sleeper(struct task_struct *task)
{
	__u32 slot = 0;
	struct stack_buffer *buffer = bpf_map_lookup_elem(&scratch, &slot);
	return buffer ? keep_stack(buffer, bpf_get_task_stack(task, buffer, sizeof(*buffer), 0)) : -1;
}

/* A number that is the same when a thread blocks at the same place by the same way. */
static __always_inline __u32 signature_of(struct task_struct *task, __u64 ip, __u64 sp)
{
	__u32 zero = 0;
	struct stack_buffer *words = bpf_map_lookup_elem(&scratch, &zero);
	__u64 hash = (ip * 0x9e3779b97f4a7c15ull) ^ sp;
	struct mm_struct *mm = task->mm;
	if (!words || !mm)
		return hash >> 32;
	__u64 low = mm->start_code, size = mm->end_code - low, near = ip - (8 << 20);
	if (bpf_probe_read_user(words, sizeof(words->address), (void *)sp))
		return hash >> 32;
#pragma unroll
	for (int i = 0; i < SIGNATURE_WORDS; i++) {
		__u64 word = words->address[i];
		/* code of the program, or within 8 MB of where it blocked (its libc, its JIT) */
		if ((word - low < size) | (word - near < (16 << 20)))
			hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	}
	return hash >> 32;
}

/* The signature of a switch-out, looked at or taken from the one before. */
static __always_inline __u32 next_signature(struct task_struct *task, struct task_state *state, __u64 ip, __u64 sp)
{
	if (state->streak >= STREAK && state->off_ip == ip && state->off_sp == sp &&
	    (state->streak & (LOOK_AGAIN - 1)))
		return state->signature;
	state->off_ip = ip;
	state->off_sp = sp;
	return signature_of(task, ip, sp);
}

/* Takes a token of this CPU's bucket. */
static __always_inline bool pay(__u32 slot, __u64 now, __u64 price_ns)
{
	__u64 *paid = bpf_map_lookup_elem(&budget, &slot);
	if (!paid || *paid > now)
		return false;
	__u64 oldest = now - UNWIND_BURST * price_ns;
	*paid = (*paid < oldest ? oldest : *paid) + price_ns;
	return true;
}

static __always_inline bool within_budget(__u64 now)
{
	bool enough = pay(0, now, UNWIND_EVERY_NS);
	if (!enough)
		count_loss(OVER_BUDGET);
	return enough;
}

/* The inverse of the probability with which a switch-out at this distance from the one before is
 * unwound. */
static __always_inline __u32 weight_of(__u64 since)
{
	__u64 weight = since >= unwind_ns ? 1 : unwind_ns / (since | 1);
	return weight > 0xffffffff ? 0xffffffff : weight;
}

static __always_inline void choose_unwinding(struct task_state *state, __u32 tid, __u32 signature, __u64 now)
{
	struct signature_key key = {.tid = tid, .signature = signature};
	bool again = state->signature == signature; /* as at the switch-out before: no look-up needed */
	__u64 since = now - state->last_out;
	__u8 seen = 1;
	state->signature = signature;
	state->last_out = now;
	if (!again && !bpf_map_lookup_elem(&signatures, &key)) {
		if (!within_budget(now) || bpf_map_update_elem(&signatures, &key, &seen, BPF_ANY))
			return;
		state->weight = 1;
		state->sampled = 2;
	} else if (now >= state->unwind_at || since >= unwind_ns) {
		state->unwind_at = now + unwind_ns / 2 + ((__u64)bpf_get_prandom_u32() * unwind_ns >> 32);
		if (!within_budget(now))
			return; /* this turn is lost, and counted once */
		state->weight = weight_of(since);
		state->sampled = 2;
	}
}

enum look { UNDECIDED = 0, LOOK = 1, LOOK_AWAY = 2 };

static __always_inline __u32 place_number(struct task_state *state)
{
	return state->signature ^ (__u32)state->off_call * 0x9e3779b1u ^ state->state * 0x85ebca6bu;
}

/* Which place has the number of the stay, PLACES when none has.
 *
 * This and other functions of places are global, not static: the kernel verifies such a function
 * once and takes its answer for any number. Otherwise it follows the rest of a switch for each
 * place apart, 140,000 instructions more. */
__noinline __u32 which_place(struct task_state *state)
{
	if (!state)
		return PLACES;
	__u32 number = place_number(state);
	if (!state->state)
		return 0;
#pragma unroll
	for (int i = 1; i < PLACES; i++)
		if (state->at[i] == number)
			return i;
	return PLACES;
}

/* Where the task left the CPU, or something with the same number; NULL when it is not kept. */
static __always_inline struct place *known_place(struct task_state *state)
{
	__u64 i = which_place(state);
	asm volatile("" : "+r"(i)); /* the verifier is to see the check of what is used */
	return i < PLACES ? &state->places[i] : 0;
}

static __always_inline bool is_at(struct place *place, struct task_state *state)
{
	return place->signature == state->signature && place->call == state->off_call && place->state == state->state;
}

/* Of a stay between long_ns and wait_ns: whether its stacks are taken. Asked at the waking or,
 * when the task did not sleep so long, at the switch-in. */
static __always_inline bool looks(struct task_state *state)
{
	if (state->look != UNDECIDED)
		return state->look == LOOK;
	struct place *place = known_place(state);
	bool skips = place && place->skip && is_at(place, state);
	if (skips)
		place->skip--;
	state->look = skips ? LOOK_AWAY : LOOK;
	return !skips;
}

/* How many go unseen until the next look: evenly between none and 31, so that no pattern can
 * hide between. */
static __always_inline __u32 draw_skip(void) { return bpf_get_prandom_u32() >> 27; }

/* At the end of a stay of long_ns and more whose stack was taken. */
static __always_inline void looked(struct place *place, struct task_state *state, __s32 stack, bool whole)
{
	place->stack = stack;
	if (state->waker_stack != NOT_TAKEN)
		place->waker_stack = state->waker_stack;
	place->sure = whole ? 0 : place->sure + 1;
	place->skip = place->sure > SURE ? draw_skip() : 0;
}
