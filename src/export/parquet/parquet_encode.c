/* SPDX-License-Identifier: MIT */
/* parquet_encode.c - bytes, Thrift's compact protocol, and the encodings of values of Parquet */
#include "export/parquet/parquet_encode.h"

#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/varint.h"

enum { PACK = 8 };

/* ---- bytes ---- */

static unsigned char *grow(struct parquet_bytes *b, size_t size)
{
	size_t cap = b->cap ? b->cap : 256;
	unsigned char *grown;

	if (b->failed)
		return NULL;
	while (cap < b->used + size)
		cap += cap / 2;
	grown = alloc_resize(b->data, cap, 1);
	if (!grown) {
		b->failed = true;
		return NULL;
	}
	b->data = grown;
	b->cap = cap;
	return grown + b->used;
}

unsigned char *parquet_reserve(struct parquet_bytes *b, size_t size)
{
	return !b->failed && b->cap - b->used >= size ? b->data + b->used : grow(b, size);
}

void parquet_add(struct parquet_bytes *b, const void *bytes, size_t size)
{
	unsigned char *at = size ? parquet_reserve(b, size) : NULL;

	if (!at)
		return;
	memcpy(at, bytes, size);
	b->used += size;
}

void parquet_add_number(struct parquet_bytes *b, uint64_t value, size_t size)
{
	unsigned char *at = parquet_reserve(b, size);

	for (size_t i = 0; at && i < size; i++)
		at[i] = (unsigned char)(value >> 8 * i);
	b->used += at ? size : 0;
}

void parquet_add_varint(struct parquet_bytes *b, uint64_t value)
{
	unsigned char *at = parquet_reserve(b, VARINT_BYTES);

	if (at)
		b->used = (size_t)(varint_put(at, value) - b->data);
}

void parquet_fini(struct parquet_bytes *b)
{
	alloc_free(b->data);
	memset(b, 0, sizeof(*b));
}

/* Level 1: a fifth of the bytes of arguments of calls; level 6 takes twice the time for a tenth
 * less. */
enum { LEVEL = 1, WINDOW_AND_GZIP = 15 + 16, MEMORY = 8 };

void parquet_pack(struct parquet_bytes *b, size_t from)
{
	z_stream z = { 0 };
	unsigned char *packed = NULL;
	uLong most;

	if (b->failed)
		return;
	if (deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW_AND_GZIP, MEMORY, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		b->failed = true;
		return;
	}
	most = deflateBound(&z, b->used - from);
	packed = alloc_heap(most);
	z.next_in = b->data + from;
	z.avail_in = (uInt)(b->used - from);
	z.next_out = packed;
	z.avail_out = (uInt)most;
	if (!packed || deflate(&z, Z_FINISH) != Z_STREAM_END)
		b->failed = true;
	b->used = from;
	if (!b->failed)
		parquet_add(b, packed, z.total_out);
	deflateEnd(&z);
	alloc_free(packed);
}

/* ---- Thrift's compact protocol ---- */

enum thrift { THRIFT_I16 = 4, THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_LIST = 9, THRIFT_STRUCT = 12 };

/* Fields of a structure have increasing numbers, by at most 15. */
static void put_field(struct parquet_thrift *t, int field, int type)
{
	int *last = &t->last[t->depth];

	parquet_add_number(t->to, (uint64_t)((field - *last) << 4 | type), 1);
	*last = field;
}

void parquet_begin(struct parquet_thrift *t, struct parquet_bytes *to)
{
	t->to = to;
	t->depth = 0;
	t->last[0] = 0;
}

void parquet_end(struct parquet_thrift *t)
{
	parquet_add_number(t->to, 0, 1);
	t->depth -= t->depth > 0;
}

static void put_number(struct parquet_thrift *t, int field, int type, int64_t value)
{
	put_field(t, field, type);
	parquet_add_varint(t->to, varint_zigzag(value));
}

void parquet_i16(struct parquet_thrift *t, int field, int64_t value)
{
	put_number(t, field, THRIFT_I16, value);
}

void parquet_i32(struct parquet_thrift *t, int field, int64_t value)
{
	put_number(t, field, THRIFT_I32, value);
}

void parquet_i64(struct parquet_thrift *t, int field, int64_t value)
{
	put_number(t, field, THRIFT_I64, value);
}

void parquet_binary(struct parquet_thrift *t, int field, const void *bytes, size_t size)
{
	put_field(t, field, PARQUET_BINARIES);
	parquet_add_varint(t->to, size);
	parquet_add(t->to, bytes, size);
}

void parquet_item(struct parquet_thrift *t)
{
	t->last[++t->depth] = 0;
}

void parquet_struct(struct parquet_thrift *t, int field)
{
	put_field(t, field, THRIFT_STRUCT);
	parquet_item(t);
}

void parquet_list(struct parquet_thrift *t, int field, enum parquet_items of, size_t nr)
{
	put_field(t, field, THRIFT_LIST);
	parquet_add_number(t->to, (nr < 15 ? nr : 15) << 4 | (uint64_t)of, 1);
	if (nr >= 15)
		parquet_add_varint(t->to, nr);
}

/* ---- bits ---- */

unsigned int parquet_width(uint64_t most)
{
	return most ? 64 - (unsigned int)__builtin_clzll(most) : 0;
}

/* Packs numbers of `width` bits, the lowest bit first. nr * width is a multiple of 8. Returns the
 * end. */
static unsigned char *pack(unsigned char *at, const uint64_t *values, size_t nr, unsigned int width)
{
	uint64_t bits = 0;
	unsigned int used = 0;

	if (width == 0)
		return at;
	for (size_t i = 0; i < nr; i++) {
		bits |= values[i] << used;
		used += width;
		if (used < 64)
			continue;
		for (unsigned int k = 0; k < 8; k++)
			*at++ = (unsigned char)(bits >> 8 * k);
		used -= 64;
		bits = used ? values[i] >> (width - used) : 0;
	}
	for (; used; used -= 8, bits >>= 8)
		*at++ = (unsigned char)bits;
	return at;
}

/* ---- runs ---- */

/* The number of values that equal the first one. */
static size_t run_length(const int64_t *values, size_t nr)
{
	size_t n = 1;

	while (n < nr && values[n] == values[0])
		n++;
	return n;
}

static void add_run(struct parquet_bytes *b, int64_t value, size_t nr, unsigned int width)
{
	parquet_add_varint(b, (uint64_t)nr << 1);
	parquet_add_number(b, (uint64_t)value, (width + 7) / 8);
}

/* Values in packs of 8, of which the last is filled up with 0. */
static void add_packs(struct parquet_bytes *b, const int64_t *values, size_t nr, unsigned int width)
{
	size_t packs = (nr + PACK - 1) / PACK;
	uint64_t pack_of[PACK];
	unsigned char *at;

	parquet_add_varint(b, (uint64_t)packs << 1 | 1);
	at = parquet_reserve(b, packs * width);
	if (!at)
		return;
	for (size_t i = 0; i < nr; i += PACK) {
		for (size_t k = 0; k < PACK; k++)
			pack_of[k] = i + k < nr ? (uint64_t)values[i + k] : 0;
		at = pack(at, pack_of, PACK, width);
	}
	b->used = (size_t)(at - b->data);
}

void parquet_add_runs(struct parquet_bytes *b, const int64_t *values, size_t nr, unsigned int width)
{
	size_t at = 0, packed = 0; /* values that wait in front of `at` */

	while (at < nr) {
		size_t n = run_length(values + at, nr - at);
		/* packs are whole: a run gives what the last pack in front of it lacks */
		size_t lacks = (PACK - packed % PACK) % PACK;

		if (n < lacks + PACK) {
			packed += n;
			at += n;
			continue;
		}
		if (packed)
			add_packs(b, values + at - packed, packed + lacks, width);
		add_run(b, values[at], n - lacks, width);
		at += n;
		packed = 0;
	}
	if (packed)
		add_packs(b, values + at - packed, packed, width);
}

/* ---- deltas ---- */

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };

/* Up to BLOCK differences, of which the rest is 0. Arithmetic is modulo 2^64, as the format has
 * it. */
static void add_block(struct parquet_bytes *b, int64_t deltas[BLOCK], size_t nr)
{
	unsigned char *at = parquet_reserve(b, VARINT_BYTES + MINIBLOCKS + BLOCK * sizeof(*deltas));
	unsigned char *widths;
	int64_t least = deltas[0];
	uint64_t values[BLOCK];

	if (!at)
		return;
	for (size_t i = 1; i < nr; i++)
		least = deltas[i] < least ? deltas[i] : least;
	widths = varint_put(at, varint_zigzag(least));
	at = widths + MINIBLOCKS;
	for (size_t m = 0; m < MINIBLOCKS; m++) {
		uint64_t *of = values + m * MINIBLOCK, bits = 0;

		for (size_t i = 0; i < MINIBLOCK; i++) {
			size_t k = m * MINIBLOCK + i;

			of[i] = k < nr ? (uint64_t)deltas[k] - (uint64_t)least : 0;
			bits |= of[i];
		}
		widths[m] = (unsigned char)parquet_width(bits);
		/* miniblocks behind the last value are left out */
		if (m * MINIBLOCK < nr)
			at = pack(at, of, MINIBLOCK, widths[m]);
	}
	b->used = (size_t)(at - b->data);
}

void parquet_add_deltas(struct parquet_bytes *b, const int64_t *values, size_t nr)
{
	int64_t deltas[BLOCK];

	parquet_add_varint(b, BLOCK);
	parquet_add_varint(b, MINIBLOCKS);
	parquet_add_varint(b, nr);
	parquet_add_varint(b, varint_zigzag(values[0]));
	for (size_t at = 1; at < nr; at += BLOCK) {
		size_t n = nr - at < BLOCK ? nr - at : BLOCK;

		for (size_t i = 0; i < n; i++)
			deltas[i] =
				(int64_t)((uint64_t)values[at + i] - (uint64_t)values[at + i - 1]);
		add_block(b, deltas, n);
	}
}
