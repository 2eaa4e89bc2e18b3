/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What every probe shares: the set of target tasks, with one state per task so
 * that an event needs a single look-up, and the counters of what was lost. */
#pragma once

#include "kernel.h"

/* A sleep that is over. Of a waker it is the hop behind the waits that the waker ends. */
struct sleep {
	__u64 woken;       /* when it ended; 0: there was none */
	__u64 slept_ns;
	__s32 stack, waker_stack;
	__u32 waker_tid;
	char waker_comm[16];
};

/* Where a thread leaves the CPU: stays that are added up here and not in a map, see stays.h. */
struct place {
	__u64 off_ns;        /* of the short ones */
	__u64 unseen_ns;     /* of those whose stacks were not taken */
	__u64 awake_ns;      /* run before the unseen sleeps */
	__u64 woken;         /* end of the last unseen sleep */
	__u32 count, unseen; /* stays */
	__u32 sleeps;        /* of the unseen those that make up the rhythm of the place */
	__s32 call;
	__u32 state, signature;
	__u32 sure;          /* stays in a row that were neither short nor to be kept whole */
	__u32 skip;          /* so many of the next of them go unseen */
	__s32 stack, waker_stack; /* the last that were taken */
};

/* What a thread waited for, so far: by class, see spent.h. */
enum wait_class { OTHERWISE, QUEUED, LOCKED, NAPPED, ON_DISK, FAULTED, ON_NET, WAIT_CLASSES };

/* A stay off the CPU that is over. */
struct stay {
	__u64 from, slept_ns, queued_ns;
	__u32 class, unused;
};

#define STAYS 2 /* kept of the first since the thread's last answer */

#define SLEEPS 4 /* places where one thread sleeps that are kept at once; a power of two */
#define PLACES (1 + SLEEPS) /* the first is where it was preempted: that is somewhere else each time */

/* State of one task of the target. Being here makes a task a target. */
struct task_state {
	/* What every switch looks at, in two lines of the cache. */
	__u64 off_start;    /* left the CPU at; 0 while it runs */
	__u64 woken;        /* was woken at; 0 while it is blocked */
	__u64 last_out;     /* previous switch-out, for the sampling of stacks */
	__u64 ran_ns;       /* the scheduler's run time of the task at the switch-out */
	__u64 delayed_ns;   /* its account of the task's run-queue delay, then */
	__u64 unwind_at;    /* the next switch-out from here on is unwound */
	__u64 off_ip, off_sp; /* of user mode at the switch-out */
	__u64 slept_at_ns;  /* run time when it last went to sleep */
	__u64 awake_ns;     /* run between that sleep and the one before */
	__s32 off_call;     /* system call at the switch-out, -1: none */
	__u32 state;        /* TASK_* at the switch-out; 0 when preempted */
	__u32 signature;    /* of the user stack at the switch-out */
	__u32 sampled;      /* 2: unwind at this switch-out; 1: was unwound */
	__u32 streak;       /* stays in a row that were short */
	__u32 waker_tgid, waker_tid;
	__s32 waker_stack;
	__u32 waker_kernel; /* the waker is a kernel thread */
	__u32 hopped;       /* hop is of this sleep */
	__u64 call_start;   /* entered the system call at; 0 outside */
	__s32 call;         /* number of that call */
	__u32 maps_code;    /* the call in progress maps a file as code */
	__u32 born;         /* forked within the window */
	__u32 weight;       /* inverse of the probability that it was chosen with */
	__u32 releasing;    /* unwind now: it ends a long wait for a futex */
	__u32 timed;        /* no thread ended its wait for a futex: a timer did, or a signal */
	__u32 look;         /* whether this stay's stacks are taken, see stacks.h */
	char waker_comm[16];
	/* Of the call in progress, see calls.h: sums over its waits, the longest sleep, their number. */
	__u64 call_slept, call_queued, call_longest;
	__u32 call_waits;
	__u32 call_seen;    /* a call of the task was seen to begin in this window */
	__u32 next_place;   /* who has to make room */
	__u32 at[PLACES];   /* the places by a number each, to find them in one line of the cache */
	struct place places[PLACES];
	struct sleep last_sleep, hop;
	__u64 spent_ns[WAIT_CLASSES];
	/* Of requests, see requests/turn.h: the thread's last answer, and what it had waited for by
	 * then. */
	__u64 answered, downstream_ns;
	__u64 answered_spent_ns[WAIT_CLASSES], answered_downstream_ns;
	__u64 downstream_until_ns, downstream_most_ns;
	__u32 downstream_service, unused_requests;
	struct stay stays[STAYS];
	__u32 stay_count;
	__u32 requests; /* that the thread has begun to read */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* Follow every task of the host but the recorder's own (culprit record -a). */
const volatile __u32 whole_host = 0;
const volatile __u32 own_pid = 0;

/* A task that no BPF program keeps anything for is no target: one load, where a look-up takes 15
 * to 30 ns. */
static __always_inline bool is_stranger(struct task_struct *task)
{
	return !whole_host && !task->bpf_storage;
}

static __always_inline struct task_state *state_of(struct task_struct *task)
{
	if (is_stranger(task))
		return 0;
	if (!whole_host)
		return bpf_task_storage_get(&tasks, task, 0, 0);
	if (task->tgid == own_pid || (task->flags & PF_KTHREAD))
		return 0;
	return bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Losses, one slot per place where an event can be dropped (see each probe's enum). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

static __always_inline void count_loss(__u32 slot)
{
	__u64 *count = bpf_map_lookup_elem(&losses, &slot);
	if (count)
		*count += 1;
}
