/* SPDX-License-Identifier: MIT */
/* parquet_encode.h - bytes, Thrift's compact protocol, and the encodings of values of Parquet
 *
 * When memory is out the rest is left out, and `failed` is set. Times, ids and numbers are 64 bits.
 * One thread.
 */
#ifndef RTL_EXPORT_PARQUET_PARQUET_ENCODE_H
#define RTL_EXPORT_PARQUET_PARQUET_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- bytes that grow; a zeroed one is empty ---- */

struct parquet_bytes {
	unsigned char *data;
	size_t used, cap;
	bool failed;
};

/* Space for `size` more bytes, behind `used`; NULL: out of memory. */
unsigned char *parquet_reserve(struct parquet_bytes *b, size_t size);
void parquet_add(struct parquet_bytes *b, const void *bytes, size_t size);
/* Its lowest `size` bytes, the lowest first. */
void parquet_add_number(struct parquet_bytes *b, uint64_t value, size_t size);
void parquet_add_varint(struct parquet_bytes *b, uint64_t value);
void parquet_fini(struct parquet_bytes *b);

/* The bytes from `from` on become a file of gzip. */
void parquet_pack(struct parquet_bytes *b, size_t from);

/* ---- Thrift's compact protocol ---- */

struct parquet_thrift {
	struct parquet_bytes *to;
	int last[16]; /* the field before, of each structure that is open */
	size_t depth; /* of the innermost one */
};

/* Begins a message, which ends with parquet_end(). */
void parquet_begin(struct parquet_thrift *t, struct parquet_bytes *to);
void parquet_end(struct parquet_thrift *t);
/* Fields: a number of 16, 32 and 64 bits, bytes, and a structure until parquet_end(). */
void parquet_i16(struct parquet_thrift *t, int field, int64_t value);
void parquet_i32(struct parquet_thrift *t, int field, int64_t value);
void parquet_i64(struct parquet_thrift *t, int field, int64_t value);
void parquet_binary(struct parquet_thrift *t, int field, const void *bytes, size_t size);
void parquet_struct(struct parquet_thrift *t, int field);
/* A list, whose `nr` items follow: parquet_add_varint() of varint_zigzag(), bytes, or
 * parquet_item() to parquet_end(). */
enum parquet_items { PARQUET_I32S = 5, PARQUET_BINARIES = 8, PARQUET_STRUCTS = 12 };
void parquet_list(struct parquet_thrift *t, int field, enum parquet_items of, size_t nr);
void parquet_item(struct parquet_thrift *t);

/* ---- values ---- */

/* Bits that hold every number up to `most`. */
unsigned int parquet_width(uint64_t most);
/* RLE: runs of one number, and numbers in packs of 8, `width` bits each. */
void parquet_add_runs(struct parquet_bytes *b, const int64_t *values, size_t nr,
		      unsigned int width);
/* DELTA_BINARY_PACKED, of at least one number. */
void parquet_add_deltas(struct parquet_bytes *b, const int64_t *values, size_t nr);

#endif
