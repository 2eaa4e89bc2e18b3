/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The header fields of HTTP/2 (HPACK, RFC 7541): which method and path a request has, which
 * status its answer. Of the table that both ends of a connection fill, each entry is kept as
 * what it says of these; sizes are not, since a sender refers to no entry that was evicted. */
#pragma once

#include "kind.h"

#define BLOCK 512   /* bytes of header fields that are looked at; a power of two */
#define ENTRIES 128 /* of the table that are kept: as many as fit into its usual 4,096 bytes; a power of two */
#define STATIC_ENTRIES 61
#define FIELDS_MOST 64

/* What a field says. */
enum field { NO_FIELD, METHOD, PATH, STATUS, CONTENT_TYPE, GRPC_STATUS };

/* As in head.go. */
enum method { NO_METHOD, GET, POST, PUT, PATCH, DELETE, HEAD_ONLY, OPTIONS, CONNECT, TRACE };

/* One direction of a connection. */
struct way {
	/* The frame in progress: bytes of it that are to come, and its head as far as it has come. */
	__u32 left, stream;
	__u8 head[16];
	__u8 head_length, type, flags, lost;
	__u8 ends;     /* it is the last one of its stream, frames of header fields that go on meanwhile */
	__u8 cut;      /* the block has not all of them */
	__u8 padded, with_priority; /* what stands before the first field */
	__u32 length;  /* of block */
	__u8 block[BLOCK];
	__u32 inserted;
	__u32 entries[ENTRIES]; /* enum field << 16 | what it says */
	/* What the fields said that were read last. */
	__u32 method, status, path_kind, path_entry;
	__u32 path_at, path_length;
	__u8 path_coded, path_static, grpc, failed;
	/* Where in the block it is read, and of a path the bits that were not used yet. */
	__u32 at, end, bits, have;
};

static __always_inline __u8 next_byte(struct way *way)
{
	__u32 at = way->at;
	if (at >= way->end)
		return 0;
	way->at = at + 1;
	return way->block[at & (BLOCK - 1)];
}

/* A number whose first byte has as many bits of it as most says. Functions here are global and
 * keep what they know in the way: the verifier then looks at each once. */
__noinline __u32 number(struct way *way, __u32 first, __u32 most)
{
	__u32 value = first & most;
	if (!way || value != most)
		return value;
	for (int shift = 0; shift < 21; shift += 7) {
		__u8 byte = next_byte(way);
		value += (byte & 127) << shift;
		if (!(byte & 128))
			break;
	}
	return value;
}

__noinline __u64 eight_bytes(const struct way *way, __u32 at)
{
	if (!way)
		return 0;
	__u64 value = 0;
	for (int i = 0; i < 8; i++)
		value = value << 8 | way->block[(at + i) & (BLOCK - 1)];
	return value;
}

__noinline __u32 static_entry(__u32 index)
{
	switch (index) {
	case 2:
		return METHOD << 16 | GET;
	case 3:
		return METHOD << 16 | POST;
	case 4:
	case 5:
		return PATH << 16;
	case 8:
		return STATUS << 16 | 200;
	case 9:
		return STATUS << 16 | 204;
	case 10:
		return STATUS << 16 | 206;
	case 11:
		return STATUS << 16 | 304;
	case 12:
		return STATUS << 16 | 400;
	case 13:
		return STATUS << 16 | 404;
	case 14:
		return STATUS << 16 | 500;
	case 31:
		return CONTENT_TYPE << 16;
	}
	return 0;
}

/* By the first two letters, as they are or in Huffman's code, which has 14 bits for them. */
__noinline __u32 method_of(__u64 first, int coded)
{
	__u32 two = coded ? (first >> 48) & 0xfffc : first >> 48;
	switch (two) {
	case 0x4745: case 0xc580: return GET; /* GE: 7 and 7 bits, as all of these */
	case 0x504f: case 0xd7a8: return POST;
	case 0x5055: case 0xd7c0: return PUT;
	case 0x5041: case 0xd70c: return PATCH;
	case 0x4445: case 0xbf80: return DELETE;
	case 0x4845: case 0xc780: return HEAD_ONLY;
	case 0x4f50: case 0xd5ac: return OPTIONS;
	case 0x434f: case 0xbda8: return CONNECT;
	case 0x5452: case 0xdfb4: return TRACE;
	}
	return NO_METHOD;
}

/* Three digits. In Huffman's code 0, 1 and 2 have five bits, the others six. */
__noinline __u32 status_of(__u64 first, int coded)
{
	__u32 status = 0;
	for (int i = 0; i < 3; i++) {
		__u32 digit;
		if (!coded) {
			digit = (first >> 56) - '0';
			first <<= 8;
		} else if (first >> 59 < 3) {
			digit = first >> 59;
			first <<= 5;
		} else {
			digit = (first >> 58) - 0x19 + 3;
			first <<= 6;
		}
		if (digit > 9)
			return 0;
		status = 10 * status + digit;
	}
	return status;
}

#define CODED_APPLICATION_GRPC 0x1d75d0620d263d4cull
#define PLAIN_APPLICATION_GRPC 0x6174696f6e2f6772ull /* ation/gr, from its sixth letter on */

/* What the value of a literal field says. */
__noinline __u32 literal(struct way *way, __u32 field, __u32 at, __u32 length, int coded)
{
	if (!way)
		return 0;
	__u64 first = eight_bytes(way, at);
	switch (field) {
	case METHOD:
		return METHOD << 16 | method_of(first, coded);
	case PATH:
		way->path_at = at;
		way->path_length = length;
		way->path_coded = coded;
		return PATH << 16;
	case STATUS:
		return STATUS << 16 | status_of(first, coded);
	case CONTENT_TYPE:
		return CONTENT_TYPE << 16 |
		       (coded ? first == CODED_APPLICATION_GRPC : eight_bytes(way, at + 6) == PLAIN_APPLICATION_GRPC);
	case GRPC_STATUS: /* 0 is success */
		return GRPC_STATUS << 16 | (length != 1 || (first >> 56) != (coded ? 0x07 : '0'));
	}
	return 0;
}

__noinline int says(struct way *way, __u32 entry)
{
	if (!way)
		return 0;
	__u32 value = entry & 0xffff;
	switch (entry >> 16) {
	case METHOD:
		way->method = value;
		break;
	case PATH:
		way->path_kind = value;
		break;
	case STATUS:
		way->status = value;
		way->failed |= value >= 500;
		break;
	case CONTENT_TYPE:
		way->grpc |= value;
		break;
	case GRPC_STATUS:
		way->failed |= value;
		break;
	}
	return 0;
}

/* An entry of both tables; 0: it says nothing, or was made before anybody looked. */
__noinline __u32 entry_at(struct way *way, __u32 index)
{
	if (!way)
		return 0;
	if (index <= STATIC_ENTRIES)
		return static_entry(index);
	index -= STATIC_ENTRIES + 1;
	if (index >= way->inserted || index >= ENTRIES)
		return 0;
	return way->entries[(way->inserted - 1 - index) & (ENTRIES - 1)];
}

/* The field of a name that is written out, as it is or in Huffman's code: by its length and its
 * first eight bytes. */
__noinline __u32 named_field(struct way *way)
{
	if (!way)
		return 0;
	__u32 head = next_byte(way), length = number(way, head, 127);
	__u64 first = eight_bytes(way, way->at);
	way->at += length;
	if (length < 8)
		first &= ~0ull << ((64 - 8 * length) & 63);
	switch (length) {
	case 4:
		return first == 0xb958d33f00000000 ? PATH : NO_FIELD;
	case 5:
		return first == 0x3a70617468000000 ? PATH
		     : first == 0xb9495339e4000000 ? METHOD
		     : first == 0xb8848d36a3000000 ? STATUS : NO_FIELD;
	case 7:
		return first == 0x3a6d6574686f6400 ? METHOD : first == 0x3a73746174757300 ? STATUS : NO_FIELD;
	case 8:
		return first == 0x9acac8b21234da8f ? GRPC_STATUS : NO_FIELD;
	case 9:
		return first == 0x21ea496a4ac9f559 ? CONTENT_TYPE : NO_FIELD;
	case 11:
		return first == 0x677270632d737461 ? GRPC_STATUS : NO_FIELD;
	case 12:
		return first == 0x636f6e74656e742d ? CONTENT_TYPE : NO_FIELD; /* content-, of 12 letters */
	}
	return NO_FIELD;
}

static long read_field(__u32 i, void *of)
{
	struct way *way = *(struct way **)of;
	if (way->at >= way->end)
		return 1;
	__u32 first = next_byte(way);
	if (first & 0x80) {
		__u32 index = number(way, first, 127);
		says(way, entry_at(way, index));
		if (index == 4 || index == 5)
			way->path_static = index;
		return 0;
	}
	if ((first & 0xe0) == 0x20) { /* the size of the table */
		number(way, first, 31);
		return 0;
	}
	__u32 keeps = first & 0x40, name = number(way, first, keeps ? 63 : 15);
	__u32 field = name ? entry_at(way, name) >> 16 : named_field(way);
	__u32 head = next_byte(way), length = number(way, head, 127), at = way->at;
	way->at += length;
	__u32 entry = way->at <= way->end ? literal(way, field, at, length, head & 0x80) : 0;
	says(way, entry);
	if (!keeps)
		return 0;
	__u32 inserted = way->inserted;
	if (field == PATH)
		way->path_entry = inserted + 1;
	way->entries[inserted & (ENTRIES - 1)] = entry;
	way->inserted = inserted + 1;
	return 0;
}

/* Reads the fields of a block. What did not fit into it leaves the table unknown. */
__noinline int read_fields(struct way *way)
{
	if (!way)
		return 0;
	way->method = way->status = way->path_kind = way->path_entry = way->path_length = 0;
	way->path_static = way->path_coded = way->grpc = way->failed = 0;
	__u32 end = way->length < BLOCK ? way->length : BLOCK;
	way->at = 0;
	if (way->padded) {
		end -= way->block[0] < end ? way->block[0] : end;
		way->at = 1;
	}
	if (way->with_priority)
		way->at += 5;
	way->end = end;
	bpf_loop(FIELDS_MOST, read_field, &way, 0);
	return 0;
}
