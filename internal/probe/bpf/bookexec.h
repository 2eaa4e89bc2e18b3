/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Booking a process when it begins to run a program: its own code, that of its dynamic linker,
 * and the vDSO. */
#pragma once

#include "book.h"

#define RANDOM_FROM (1ull << 40) /* programs at lower addresses are linked to them */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct context___booked { void *vdso; };
struct mm_struct___booked { struct context___booked context; };
#pragma clang attribute pop

/* What a process has when it is booked: too large for the stack of a program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct booked);
} nothing_booked SEC(".maps");

__noinline int leave_range(__u32 tgid, __u64 start, __u64 end)
{
	for (int i = 0; i < MOST_BLOCKS && start < end; i++) {
		__u32 bits = block_bits(start, end);
		struct code_page page = page_of(tgid, start, bits);
		bpf_map_delete_elem(&pid_page_to_mapping_info, &page);
		start += 1ull << bits;
	}
	return 0;
}

/* Takes a process out, if it was booked here. */
__noinline int unbook(__u32 tgid)
{
	struct booked *booked = bpf_map_lookup_elem(&booked_code, &tgid);
	if (!booked)
		return 0;
	for (int i = 0; i < MOST_RANGES && i < booked->count; i++)
		leave_range(tgid, booked->ranges[i].start, booked->ranges[i].end);
	struct code_page mark = mark_of(tgid);
	bpf_map_delete_elem(&pid_page_to_mapping_info, &mark);
	bpf_map_delete_elem(&booked_code, &tgid);
	return 0;
}

/* Gives a process what it is booked with; NULL where there is no room. */
static __always_inline struct booked *begin_booking(__u32 tgid, struct booked *with)
{
	if (bpf_map_update_elem(&booked_code, &tgid, with, BPF_ANY))
		return NULL;
	struct booked *booked = bpf_map_lookup_elem(&booked_code, &tgid);
	if (booked)
		booked->since = bpf_ktime_get_ns();
	return booked;
}

/* Whether the process that calls exec is booked; if not it is to be announced. The library may
 * know it by what it ran before: a child that was looked at before its exec. What it then
 * entered stays until the process ends, and lies elsewhere, for the kernel chooses addresses at
 * random, except for programs that are linked to one. */
static __always_inline bool book_program(struct task_struct *task)
{
	__u32 tgid = task->tgid, zero = 0;
	if (!books || !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		return false;
	struct code_page mark = mark_of(tgid);
	struct code_place known = {0, NATIVE_CODE};
	bool marked = bpf_map_lookup_elem(&pid_page_to_mapping_info, &mark);
	__u64 code = task->mm->start_code;
	unbook(tgid);
	struct booked *nothing = bpf_map_lookup_elem(&nothing_booked, &zero);
	__u64 announced = bpf_get_current_pid_tgid();
	bpf_map_delete_elem(&pid_events, &announced); /* by what it ran before */
	if (!nothing || (marked && code < RANDOM_FROM) || !begin_booking(tgid, nothing))
		goto unknown;
	struct pt_regs___culprit *regs = (void *)bpf_task_pt_regs(task);
	__u64 vdso = 0; /* a number, not a pointer of the user's, which no global function takes */
	bpf_probe_read_kernel(&vdso, sizeof(vdso), &((struct mm_struct___booked *)task->mm)->context.vdso);
	if (book_mapping(tgid, code, 0) && book_mapping(tgid, user_ip(regs), 0) &&
	    (!vdso || book_mapping(tgid, vdso, 1)) &&
	    !bpf_map_update_elem(&pid_page_to_mapping_info, &mark, &known, BPF_ANY))
		return true;
	unbook(tgid);
unknown:
	if (marked) /* without it the library takes no stacks, and does not make it twice */
		bpf_map_update_elem(&pid_page_to_mapping_info, &mark, &known, BPF_ANY);
	return false;
}

/* Whether a process that calls exec need not be announced: it is by its first stack, if it lives
 * to have one. One that the library knows by what it ran before is announced: its code is
 * another now. */
const volatile __u32 patient = 0;

static __always_inline bool waits_for_stack(__u32 tgid)
{
	struct code_page mark = mark_of(tgid);
	return patient && !bpf_map_lookup_elem(&pid_page_to_mapping_info, &mark);
}

/* A child has the code of its parent until it calls exec. */
static __always_inline void book_child(__u32 parent, __u32 child)
{
	struct booked *booked = bpf_map_lookup_elem(&booked_code, &parent);
	if (!booked || !begin_booking(child, booked))
		return;
	for (int i = 0; i < MOST_RANGES && i < booked->count; i++) {
		__u64 start = booked->ranges[i].start, end = booked->ranges[i].end;
		struct code_page page = page_of(parent, start, 0);
		struct code_place *place = bpf_map_lookup_elem(&pid_page_to_mapping_info, &page);
		if (place)
			enter_range(child, start, end, place->file, place->bias);
	}
	struct code_page mark = mark_of(child);
	struct code_place known = {0, NATIVE_CODE};
	bpf_map_update_elem(&pid_page_to_mapping_info, &mark, &known, BPF_ANY);
}
