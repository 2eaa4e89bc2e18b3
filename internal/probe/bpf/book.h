/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Entering the mappings of a new process into the unwinder library's table here, where they are
 * made, when all its code is of files that the library has read already: most processes of a
 * busy host live for milliseconds and run the same few programs, and each took a waking of user
 * space to be looked at. A process with any other code is announced as before. Who is booked
 * here is unknown to the library until it is announced after all; see unwind/book.go. */
#pragma once

#include "announce.h"

#define CODE_FLAG 4            /* VM_EXEC: include/linux/mm.h */
#define NATIVE_CODE (1ull << 56) /* the library's unwinder of native code, beside the bias */
#define MOST_RANGES 16         /* of code of one booked process; a power of two */
#define MOST_BLOCKS 32         /* of one range of at most 256 MiB in pages of 4 KiB: twice the bits of their number */
#define VDSO_INODE 50          /* the library's name for the vDSO: process/types.go */

/* The library's table of code by process and address. */
struct code_page {
	__u32 length; /* of the prefix in bits */
	__u32 tgid;   /* both in network order */
	__u64 address;
};
struct code_place {
	__u64 file, bias;
};
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct code_page);
	__type(value, struct code_place);
} pid_page_to_mapping_info SEC(".maps");

/* Code of files that the library has read and that needs no look at the process, by user space. */
struct code_key {
	__u64 inode, offset;
	__u64 device;
};
struct code {
	__u64 seconds, nanoseconds; /* when the file was modified */
	__u64 file;
	__u64 start; /* address of that offset in the file's own terms */
	__u64 used;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct code_key);
	__type(value, struct code);
} known_code SEC(".maps");

/* What was entered for a process. */
struct range {
	__u64 start, end;
};
struct booked {
	__u64 since; /* ns of the monotonic clock; 0: it has got other code since */
	__u64 count;
	struct range ranges[MOST_RANGES];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct booked);
} booked_code SEC(".maps");

const volatile __u32 books = 0;
const volatile __u32 page_bits = 12;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct timespec64___booked { __s64 tv_sec; long tv_nsec; };
struct super_block___booked { __u32 s_dev; };
struct inode___booked { unsigned long i_ino; struct super_block___booked *i_sb; };
struct inode___split { __s64 i_mtime_sec; __u32 i_mtime_nsec; };        /* since 6.11 */
struct inode___hidden { struct timespec64___booked __i_mtime; };        /* since 6.7 */
struct inode___whole { struct timespec64___booked i_mtime; };
struct file___booked { struct inode___booked *f_inode; };
struct vm_area_struct___booked {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct file___booked *vm_file;
};
#pragma clang attribute pop

/* One mapping of code, as the kernel has it. */
struct mapped {
	struct code_key key;
	__u64 start, end;
	__u64 seconds, nanoseconds;
	__u32 is_code, no_file;
};

static long read_mapping(struct task_struct *task, struct vm_area_struct___booked *area, struct mapped *found)
{
	struct file___booked *file = area->vm_file;
	found->start = area->vm_start;
	found->end = area->vm_end;
	found->is_code = (area->vm_flags & CODE_FLAG) != 0;
	if (!file) {
		found->key.inode = VDSO_INODE;
		found->no_file = 1;
		return 0;
	}
	struct inode___booked *inode = file->f_inode;
	found->key.offset = (__u64)area->vm_pgoff << page_bits;
	found->key.inode = inode->i_ino;
	found->key.device = inode->i_sb->s_dev;
	if (bpf_core_field_exists(struct inode___split, i_mtime_sec)) {
		found->seconds = ((struct inode___split *)inode)->i_mtime_sec;
		found->nanoseconds = ((struct inode___split *)inode)->i_mtime_nsec;
	} else if (bpf_core_field_exists(struct inode___hidden, __i_mtime)) {
		found->seconds = ((struct inode___hidden *)inode)->__i_mtime.tv_sec;
		found->nanoseconds = ((struct inode___hidden *)inode)->__i_mtime.tv_nsec;
	} else {
		found->seconds = ((struct inode___whole *)inode)->i_mtime.tv_sec;
		found->nanoseconds = ((struct inode___whole *)inode)->i_mtime.tv_nsec;
	}
	return 0;
}

/* The largest block from start on that is aligned to its size and does not go beyond the end, as
 * its bits. */
static __always_inline __u32 block_bits(__u64 start, __u64 end)
{
	__u32 aligned = __builtin_ctzll(start), fits = 63 - __builtin_clzll(end - start);
	return aligned < fits ? aligned : fits;
}

static __always_inline struct code_page page_of(__u32 tgid, __u64 address, __u32 bits)
{
	struct code_page page = {.length = 32 + 64 - bits, .tgid = __builtin_bswap32(tgid),
				 .address = __builtin_bswap64(address)};
	return page;
}

/* The mark of a process that is in the table at all: page 0. */
static __always_inline struct code_page mark_of(__u32 tgid)
{
	struct code_page page = {.length = 32 + 64, .tgid = __builtin_bswap32(tgid)};
	return page;
}

/* As the library does it, block by block, so that its own entry of the same mapping takes the
 * place of this one. */
__noinline int enter_range(__u32 tgid, __u64 start, __u64 end, __u64 file, __u64 bias)
{
	struct code_place place = {file, bias};
	for (int i = 0; i < MOST_BLOCKS && start < end; i++) {
		__u32 bits = block_bits(start, end);
		struct code_page page = page_of(tgid, start, bits);
		if (bpf_map_update_elem(&pid_page_to_mapping_info, &page, &place, BPF_ANY))
			return -1;
		start += 1ull << bits;
	}
	return start < end ? -1 : 0;
}

/* Whether the mapping at an address of the current process is of known code, and was entered.
 * vdso: it is to be the code that the kernel gives to every process, else that of a file. */
__noinline int book_mapping(__u32 tgid, __u64 address, __u32 vdso)
{
	struct mapped found = {};
	struct booked *booked = bpf_map_lookup_elem(&booked_code, &tgid);
	if (!booked || bpf_find_vma(bpf_get_current_task_btf(), address, read_mapping, &found, 0) || !found.is_code ||
	    found.no_file != vdso)
		return 0;
	struct code *code = bpf_map_lookup_elem(&known_code, &found.key);
	if (!code || code->seconds != found.seconds || code->nanoseconds != found.nanoseconds ||
	    found.start < code->start)
		return 0;
	for (int i = 0; i < MOST_RANGES && i < booked->count; i++) {
		struct range *other = &booked->ranges[i];
		if (other->start == found.start && other->end == found.end)
			return 1; /* of a program without a dynamic linker: its entry is in its code */
		if (other->start < found.end && found.start < other->end)
			return 0; /* something else was there */
	}
	__u64 place = __sync_fetch_and_add(&booked->count, 1);
	if (place >= MOST_RANGES)
		return 0;
	booked->ranges[place].start = found.start;
	booked->ranges[place].end = found.end;
	code->used = 1;
	return !enter_range(tgid, found.start, found.end, code->file, (found.start - code->start) | NATIVE_CODE);
}

/* A booked process has code that is not known: it is to be looked at, however short ago it was
 * booked. */
static __always_inline void books_no_longer(__u32 tgid)
{
	struct booked *booked = bpf_map_lookup_elem(&booked_code, &tgid);
	if (booked)
		booked->since = 0;
}
