/* SPDX-License-Identifier: MIT */
/* varint.h - numbers in as few bytes as they need: 7 bits each, the lowest ones first, as LEB128,
 * Parquet and Protocol Buffers have them */
#ifndef RTL_BASE_VARINT_H
#define RTL_BASE_VARINT_H

#include <stdint.h>

#define VARINT_BYTES 10 /* at most */

/* Returns the address behind it. */
static inline unsigned char *varint_put(unsigned char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (unsigned char)(value | 0x80);
	*at++ = (unsigned char)value;
	return at;
}

/* Of varint_put() in this process: nothing is checked. Moves *from behind it. */
static inline uint64_t varint_take(const unsigned char **from)
{
	const unsigned char *at = *from;
	uint64_t value = *at & 0x7f;

	for (unsigned shift = 7; *at++ & 0x80; shift += 7)
		value |= (uint64_t)(*at & 0x7f) << shift;
	*from = at;
	return value;
}

/* 0, -1, 1, -2, 2 ... as 0, 1, 2, 3, 4 ... */
static inline uint64_t varint_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* a - b, in two's complement, as a number that is small where both are near each other. */
static inline uint64_t varint_difference(uint64_t a, uint64_t b)
{
	return varint_zigzag((int64_t)(a - b));
}

/* a, by b and the difference. */
static inline uint64_t varint_sum(uint64_t b, uint64_t difference)
{
	return b + (difference >> 1 ^ (0 - (difference & 1)));
}

#endif
