/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The first bytes of a request: which protocol it is, and of which kind. They are the client's,
 * who may send what it likes: everything here is bounded, and a kind is only a hash of them
 * until user space writes them out. */
#pragma once

#include "protocol.h"
#include "service.h"

#define HEAD 96 /* bytes that are looked at */
#define KNOWN_WORDS 6 /* of 8 bytes, of a head that are remembered */
#define SHORT 8 /* what is shorter is looked at again when more is there */

struct head {
	__u8 byte[HEAD + 32];
	__u32 length, protocol;
	__u64 hash; /* of the kind */
	__u32 covered, unused; /* bytes that the kind depends on; 0: not known */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct head);
} heads SEC(".maps");

/* Where the call in progress has its bytes: the hooks come behind the copy and have no pointer,
 * the caller's registers have. NULL for calls that are not known, io_uring among them. */
static __always_inline void *bytes_of_call(struct task_struct *task)
{
	struct pt_regs___culprit *regs = (void *)bpf_task_pt_regs(task);
	unsigned long call = call_in_progress(regs), at = second_argument(regs);
	struct { unsigned long base, length; } vector;
	if (call == CALL_RECVMSG || call == CALL_SENDMSG) {
		if (bpf_probe_read_user(&at, sizeof(at), (void *)(at + 16))) /* msghdr.msg_iov */
			return 0;
		call = CALL_READV;
	}
	if (call == CALL_READV || call == CALL_WRITEV) {
		if (bpf_probe_read_user(&vector, sizeof(vector), (void *)at))
			return 0;
		return vector.length >= 8 ? (void *)vector.base : 0;
	}
	if (call == CALL_READ || call == CALL_RECVFROM || call == CALL_WRITE || call == CALL_SENDTO)
		return (void *)at;
	return 0;
}

/* The bytes of a word up to a length, which may be below 1 or above 8. */
static __always_inline __u64 first_bytes(__s32 length)
{
	return length >= 8 ? ~0ull : length <= 0 ? 0 : (1ull << (8 * length)) - 1;
}

/* What a path has behind its last /: one with a digit that is long and hexadecimal is an id,
 * whatever it is. */
struct path {
	struct head *head;
	__u64 hash, before; /* up to here, and to where the segment begins */
	__u32 digits, length, odd; /* of the segment; odd: characters that no id has */
	__u32 number, blanks;
};

static __always_inline void end_segment(struct path *path)
{
	if (path->digits && path->length >= 8 && !path->odd)
		path->hash = mix(path->before, '#');
}

static __always_inline bool in_id(__u8 c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
}

static long hash_character(__u32 i, void *of)
{
	struct path *path = of;
	if (i >= HEAD || i >= path->head->length)
		return 1;
	__u8 c = path->head->byte[i];
	if (c == '?' || c == '#' || c == '\r' || c == '\n' || (c == ' ' && ++path->blanks == 2)) {
		path->head->covered = i + 1;
		return 1;
	}
	if (c == '/') {
		end_segment(path);
		path->before = path->hash = mix(path->hash, c);
		path->digits = path->length = path->odd = path->number = 0;
		return 0;
	}
	path->length++;
	path->odd |= !in_id(c);
	if (is_digit(c)) {
		path->digits++;
		if (!path->number)
			path->hash = mix(path->hash, '#');
		path->number = 1;
		return 0;
	}
	path->number = 0;
	path->hash = mix(path->hash, c);
	return 0;
}

/* Method and path, without the query, numbers and ids folded. head.go folds the text by the same
 * rules. */
static __always_inline __u64 hash_path(struct head *head)
{
	struct path path = {.head = head, .hash = 1};
	bpf_loop(HEAD, hash_character, &path, 0);
	end_segment(&path);
	return path.hash;
}

/* One word, letters only and in capitals, from a place on. */
__noinline __u64 hash_word(__u32 from)
{
	__u64 hash = 2;
	__u32 zero = 0;
	struct head *head = bpf_map_lookup_elem(&heads, &zero);
	if (!head)
		return 0;
	for (__u32 i = 0; i < 24; i++) {
		__u32 at = from + i;
		__u8 c = head->byte[at & 63];
		if (at >= head->length)
			break;
		if (c >= 'a' && c <= 'z')
			c -= 32;
		if (!is_upper(c) && c != '_' && c != '.') {
			head->covered = at + 1;
			break;
		}
		hash = mix(hash, c);
	}
	return hash;
}

/* *2\r\n$3\r\nGET\r\n: the word behind the second end of line. */
static __always_inline __u32 redis_word(const struct head *head)
{
	__u32 lines = 0;
	for (__u32 i = 0; i < 24; i++) {
		if (head->byte[i] != '\n')
			continue;
		if (++lines == 2)
			return i + 1;
	}
	return 0;
}

/* The statement behind Q, or behind the name of a statement to prepare. */
static __always_inline __u32 postgres_word(const struct head *head)
{
	if (head->byte[0] != 'P')
		return 5;
	for (__u32 i = 5; i < 40; i++)
		if (!head->byte[i])
			return i + 1;
	return 0;
}

static __always_inline __u64 hash_kind(struct head *head)
{
	__u32 word = 0;
	switch (head->protocol) {
	case HTTP1:
		return hash_path(head);
	case REDIS:
		word = redis_word(head);
		break;
	case POSTGRES:
		if (head->byte[0] != 'Q' && head->byte[0] != 'P') {
			head->covered = 3;
			return head->byte[0]; /* executes what was prepared before */
		}
		word = postgres_word(head);
		break;
	case MYSQL:
		if (head->byte[4] != 3) {
			head->covered = 5;
			return head->byte[4];
		}
		word = 5;
		break;
	case MEMCACHED:
		break;
	case TLS: /* a record of data, or of what goes before it */
		if (head->byte[1] != 3)
			return 0;
		head->covered = 2;
		return head->byte[0] >= 0x14 && head->byte[0] <= 0x16 ? 3 : 0;
	default:
		head->covered = 9; /* as is_frame() */
		return 0;
	}
	return hash_word(word);
}

/* Reads the first bytes of what the call in progress has received, behind those that came before
 * it; false where they cannot be. */
__noinline int fill_head(int received, __u64 before, __u32 length)
{
	__u32 zero = 0, take = received;
	struct head *head = bpf_map_lookup_elem(&heads, &zero);
	void *from = bytes_of_call(bpf_get_current_task_btf());
	if (!head || !from)
		return 0;
	if (take > HEAD)
		take = HEAD;
	asm volatile("" : "+r"(take)); /* the verifier is to see the mask */
	take &= 127;
	length &= SHORT - 1;
	*(__u64 *)(head->byte + 8) = 0;
	*(__u64 *)head->byte = before;
	if (bpf_probe_read_user(head->byte + length, take, from))
		return 0;
	head->length = take + length;
	head->protocol = head->length < 4 ? OTHER : protocol_of(head->byte, received + length);
	return 1;
}

static __always_inline struct head *read_head(int received, __u64 before, __u32 length)
{
	__u32 zero = 0;
	return fill_head(received, before, length) ? bpf_map_lookup_elem(&heads, &zero) : 0;
}

/* A second command in what was read at once. */
static __always_inline bool is_pipelined(const struct head *head)
{
	if (head->protocol != REDIS)
		return false;
	for (__u32 i = 4; i < HEAD; i++) {
		if (i + 1 >= head->length)
			break;
		if (head->byte[i] == '*' && head->byte[i - 1] == '\n' && is_digit(head->byte[i + 1]))
			return true;
	}
	return false;
}

__noinline __u64 kind_hash(void)
{
	__u32 zero = 0;
	struct head *head = bpf_map_lookup_elem(&heads, &zero);
	return head ? hash_kind(head) : 0;
}

__noinline int holds_several(void)
{
	__u32 zero = 0;
	struct head *head = bpf_map_lookup_elem(&heads, &zero);
	return head && is_pipelined(head);
}
