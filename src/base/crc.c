/* SPDX-License-Identifier: MIT */
/* crc.c - CRC-32, eight bytes at a time ("slicing by 8"), about 2 GB/s
 *
 * Owns:     the tables, filled by the first caller.
 * Threads:  any.
 */
#include "base/crc.h"

#include <pthread.h>
#include <string.h>

#define CRC_POLYNOMIAL UINT32_C(0xedb88320)
#define NR_SLICES 8

static uint32_t table[NR_SLICES][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? (c >> 1) ^ CRC_POLYNOMIAL : c >> 1;
		table[0][i] = c;
	}
	for (uint32_t i = 0; i < 256; i++) {
		for (int s = 1; s < NR_SLICES; s++)
			table[s][i] = (table[s - 1][i] >> 8) ^ table[0][table[s - 1][i] & 255];
	}
}

uint32_t crc_add(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *p = data;

	pthread_once(&once, fill);
	crc = ~crc;
	for (; size >= 8; size -= 8, p += 8) {
		uint32_t lo, hi;

		memcpy(&lo, p, 4);
		memcpy(&hi, p + 4, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		lo = __builtin_bswap32(lo);
		hi = __builtin_bswap32(hi);
#endif
		lo ^= crc;
		crc = table[7][lo & 255] ^ table[6][lo >> 8 & 255] ^ table[5][lo >> 16 & 255] ^
		      table[4][lo >> 24] ^ table[3][hi & 255] ^ table[2][hi >> 8 & 255] ^
		      table[1][hi >> 16 & 255] ^ table[0][hi >> 24];
	}
	for (; size; size--, p++)
		crc = (crc >> 8) ^ table[0][(crc ^ *p) & 255];
	return ~crc;
}
