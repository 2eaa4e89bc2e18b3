/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The kind of a stream of HTTP/2: its method and its path, folded as that of HTTP/1 is. */
#pragma once

#include "fields.h"

/* The codes of Huffman's that have up to eight bits, in their order: of the others none is in
 * most paths. */
static const char letters[] = "012aceiost %-./3456789=A_bdfghlmnpru:BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz&*,;XZ";

/* The next letter of a path in Huffman's code; 0: it ends, or has a rare one, as ?, behind which
 * the query is. */
__noinline __u32 coded_letter(struct way *way)
{
	if (!way)
		return 0;
	__u32 have = way->have, letter, length;
	if (have < 8 && way->at < way->end) {
		way->bits = way->bits << 8 | next_byte(way);
		have += 8;
	}
	__u32 window = 255 & (have >= 8 ? way->bits >> ((have - 8) & 31) : way->bits << ((8 - have) & 31));
	if (window < 0x50)
		letter = window >> 3, length = 5;
	else if (window < 0xb8)
		letter = 10 + ((window - 0x50) >> 2), length = 6;
	else if (window < 0xf8)
		letter = 36 + ((window - 0xb8) >> 1), length = 7;
	else
		letter = 68 + (window - 0xf8), length = 8;
	if (length > have || letter >= sizeof(letters) - 1)
		return 0;
	way->have = have - length;
	return letters[letter];
}

struct decoding {
	struct way *way;
	struct head *head;
};

static long next_letter(__u32 i, void *of)
{
	struct decoding *d = of;
	if (i >= HEAD - 2)
		return 1;
	__u8 letter = d->way->path_coded ? coded_letter(d->way) : next_byte(d->way);
	if (!letter)
		return 1;
	d->head->byte[i] = letter;
	d->head->length = i + 1;
	return 0;
}

/* Writes the path into the head, as the first bytes of a request, and the method as its last
 * byte; 0: no path. */
__noinline int write_path(struct way *way)
{
	__u32 zero = 0;
	struct head *head = bpf_map_lookup_elem(&heads, &zero);
	if (!head || !way)
		return 0;
	__builtin_memset(head->byte, 0, HEAD);
	head->length = 0;
	struct decoding d = {.way = way, .head = head};
	if (way->path_length) {
		way->at = way->path_at;
		way->end = way->path_at + way->path_length;
		way->bits = way->have = 0;
		bpf_loop(HEAD - 2, next_letter, &d, 0);
	} else if (way->path_static) {
		head->byte[0] = '/';
		head->length = 1;
		if (way->path_static == 5) {
			__builtin_memcpy(head->byte + 1, "index.html", 10);
			head->length = 11;
		}
	} else {
		__u32 at = way->path_kind;
		struct kind *kind = at ? bpf_map_lookup_elem(&kinds, &at) : 0;
		if (!kind)
			return 0;
		__builtin_memcpy(head->byte, kind->head, HEAD);
		head->length = kind->head_length;
	}
	head->byte[HEAD - 1] = way->method;
	return 1;
}

/* The kind of a stream whose first fields were read. */
__noinline __u32 stream_kind(struct way *way, __u32 service)
{
	__u32 zero = 0;
	struct head *head = bpf_map_lookup_elem(&heads, &zero);
	if (!head || !way)
		return 0;
	__u32 at = way->path_kind;
	struct kind *kind = at ? bpf_map_lookup_elem(&kinds, &at) : 0;
	if (kind && kind->head[HEAD - 1] == way->method && (kind->protocol == GRPC) == way->grpc)
		return at;
	head->hash = 0;
	if (write_path(way))
		head->hash = mix(hash_path(head), way->method);
	head->protocol = way->grpc ? GRPC : HTTP2;
	__u32 made = find_kind(service, 1);
	if (way->path_entry)
		way->entries[(way->path_entry - 1) & (ENTRIES - 1)] = PATH << 16 | made;
	return made;
}
