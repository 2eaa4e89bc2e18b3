/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The protocol of a request by its first bytes. */
#pragma once

#include "../bpf/kernel.h"

/* As in head.go. */
enum protocol { UNKNOWN, HTTP1, HTTP2, REDIS, POSTGRES, MYSQL, MEMCACHED, TLS, OTHER, GRPC };

static __always_inline bool is_upper(__u8 c) { return c >= 'A' && c <= 'Z'; }
static __always_inline bool is_digit(__u8 c) { return c >= '0' && c <= '9'; }

/* GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, CONNECT, TRACE: capitals and a blank, then a
 * path. */
static __always_inline bool is_http1(const __u8 *b)
{
	__u32 word = *(__u32 *)b;
	if (word == 0x20544547 || word == 0x20545550)
		return true;
	if (word != 0x54534f50 && word != 0x44414548 && word != 0x43544150 && word != 0x454c4544 &&
	    word != 0x4954504f && word != 0x4e4e4f43 && word != 0x43415254)
		return false;
	return b[4] == ' ' || b[5] == ' ' || b[6] == ' ' || b[7] == ' ';
}

static __always_inline bool is_memcached(const __u8 *b)
{
	__u32 word = *(__u32 *)b;
	return word == 0x20746567 || word == 0x20746573 || word == 0x73746567 || word == 0x20646461 || /* get set gets add */
	       word == 0x656c6564 || word == 0x72636e69 || word == 0x72636564; /* dele incr decr */
}

/* The head of a frame that means something: a connection of HTTP/2 that is older than the
 * window. Some read these nine bytes first, and the rest in another call. Protocols whose
 * messages begin with their length look much alike. */
static __always_inline bool is_frame(const __u8 *b, __u32 length)
{
	__u32 size = (__u32)b[1] << 8 | b[2];
	bool odd = b[8] & 1, none = !(b[5] | b[6] | b[7] | b[8]);
	if (length < 9 || b[0] || (b[5] & 0x80) || size > 16384 || (length != 9 && size + 9 > length))
		return false;
	switch (b[3]) {
	case 0: /* DATA, its end among them */
		return odd && (size || b[4] == 1);
	case 1: /* HEADERS */
	case 9: /* CONTINUATION */
		return odd && size;
	case 3: /* RST_STREAM */
		return odd && size == 4;
	case 2: /* PRIORITY */
		return odd && size == 5;
	case 4: /* SETTINGS, or that they were received */
		return none && (size ? !b[4] && size % 6 == 0 : b[4] == 1);
	case 6: /* PING */
		return none && size == 8;
	case 7: /* GOAWAY */
		return none && size >= 8;
	case 8: /* WINDOW_UPDATE */
		return (odd || none) && size == 4;
	}
	return false;
}

static __always_inline __u32 protocol_of(const __u8 *b, __u32 length)
{
	if (*(__u32 *)b == 0x20495250)
		return HTTP2;
	if (is_http1(b))
		return HTTP1;
	if (b[0] == '*' && is_digit(b[1]))
		return REDIS;
	if ((b[0] >= 0x14 && b[0] <= 0x17) && b[1] == 3)
		return TLS;
	if (is_memcached(b))
		return MEMCACHED;
	if ((b[0] == 'Q' || b[0] == 'P' || b[0] == 'B' || b[0] == 'E' || b[0] == 'D') && !b[1] && !b[2])
		return POSTGRES;
	if (!b[3] && !b[2] && (b[4] == 3 || b[4] == 0x16 || b[4] == 0x17) &&
	    ((__u32)b[0] | (__u32)b[1] << 8) + 4 == length)
		return MYSQL;
	if (is_frame(b, length))
		return HTTP2;
	return OTHER;
}
