/* SPDX-License-Identifier: MIT */
/* test_parquet.c - encodings of Parquet, read by the format's own rules, and what happens without
 * memory */
#include "export/export.h"
#include "export/parquet/parquet_encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "support/db.h"
#include "support/test.h"

/* ---- a reader ---- */

struct reader {
	const unsigned char *at, *end;
};

static uint64_t take_byte(struct reader *r)
{
	CHECK(r->at < r->end);
	return *r->at++;
}

static uint64_t take_varint(struct reader *r)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = take_byte(r);
		value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte >= 0x80);
	return value;
}

static uint64_t take_zigzag(struct reader *r)
{
	uint64_t value = take_varint(r);

	return value >> 1 ^ (0 - (value & 1));
}

/* Bit by bit: slow and plain. */
static void take_bits(struct reader *r, uint64_t *values, size_t nr, unsigned int width)
{
	for (size_t bit = 0; bit < nr * width; bit++) {
		if (bit % width == 0)
			values[bit / width] = 0;
		CHECK(r->at + bit / 8 < r->end);
		values[bit / width] |= (uint64_t)(r->at[bit / 8] >> bit % 8 & 1) << bit % width;
	}
	if (width == 0)
		memset(values, 0, nr * sizeof(*values));
	r->at += nr * width / 8;
}

static void check_deltas(const int64_t *values, size_t nr)
{
	struct parquet_bytes b = { 0 };
	struct reader r;
	uint64_t value, deltas[32];
	size_t at = 1;

	parquet_add_deltas(&b, values, nr);
	r = (struct reader){ b.data, b.data + b.used };
	CHECK_EQ_UINT(take_varint(&r), 128);
	CHECK_EQ_UINT(take_varint(&r), 4);
	CHECK_EQ_UINT(take_varint(&r), nr);
	value = take_zigzag(&r);
	CHECK_EQ_INT((int64_t)value, values[0]);
	while (at < nr) {
		uint64_t least = take_zigzag(&r);
		const unsigned char *widths = r.at;

		r.at += 4;
		for (size_t m = 0; m < 4; m++) {
			if (at >= nr)
				continue;
			take_bits(&r, deltas, 32, widths[m]);
			for (size_t i = 0; i < 32 && at < nr; i++, at++) {
				value += least + deltas[i];
				CHECK_EQ_INT((int64_t)value, values[at]);
			}
		}
	}
	CHECK(r.at == r.end);
	parquet_fini(&b);
}

static void check_runs(const int64_t *values, size_t nr, unsigned int width)
{
	struct parquet_bytes b = { 0 };
	struct reader r;
	uint64_t pack[8];
	size_t at = 0;

	parquet_add_runs(&b, values, nr, width);
	r = (struct reader){ b.data, b.data + b.used };
	while (at < nr) {
		uint64_t head = take_varint(&r), value = 0;

		CHECK(head > 1);
		for (size_t i = 0; head & 1 && i < head >> 1; i++) {
			take_bits(&r, pack, 8, width);
			for (size_t k = 0; k < 8; k++, at++)
				CHECK_EQ_INT((int64_t)pack[k], at < nr ? values[at] : 0);
		}
		if (head & 1)
			continue;
		for (size_t i = 0; i < (width + 7) / 8; i++)
			value |= take_byte(&r) << 8 * i;
		for (size_t i = 0; i < head >> 1; i++, at++)
			CHECK_EQ_INT((int64_t)value, at < nr ? values[at] : -1);
	}
	CHECK(r.at == r.end);
	parquet_fini(&b);
}

TEST(deltas_of_any_numbers_are_read_back)
{
	static int64_t values[1000];
	static const size_t sizes[] = { 1, 2, 32, 33, 34, 128, 129, 130, 257, 1000 };

	srandom(43);
	for (unsigned int width = 0; width <= 64; width += width < 8 ? 1 : 8) {
		for (size_t i = 0; i < 1000; i++) {
			uint64_t bits = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^
					(uint64_t)random();

			values[i] = width ? (int64_t)(bits >> (64 - width)) : 7;
		}
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			check_deltas(values, sizes[i]);
	}
	for (size_t i = 0; i < 1000; i++)
		values[i] = i % 3 == 0 ? INT64_MIN : i % 3 == 1 ? INT64_MAX : -1;
	check_deltas(values, 1000);
}

TEST(runs_and_packs_are_read_back)
{
	static int64_t values[500];

	srandom(43);
	for (unsigned int width = 0; width <= 17; width++) {
		for (size_t longest = 1; longest < 60; longest += 7) {
			for (size_t i = 0, n = 0; i < 500; i++, n--) {
				if (n == 0)
					n = 1 + (size_t)random() % longest;
				values[i] = n == 1 || i == 0 ? random() & ((1 << width) - 1) :
							       values[i - 1];
			}
			for (size_t nr = 1; nr <= 500; nr += 1 + nr / 3)
				check_runs(values, nr, width);
		}
	}
}

TEST(lists_and_structures_have_thrifts_form)
{
	static const unsigned char expected[] = {
		0x15, 0x54,		      /* field 1, i32 42 */
		0x26, 0x01,		      /* field 3, i64 -1 */
		0x18, 0x02, 'a',  'b',	      /* field 4, binary */
		0x1c, 0x14, 0x0a, 0x00,	      /* field 5, structure with field 1, i16 5 */
		0x39, 0x1c, 0x15, 0x02, 0x00, /* field 8, list of a structure */
		0x19, 0xf8, 0x0f,	      /* field 9, list of 15 binaries */
	};
	struct parquet_bytes b = { 0 };
	struct parquet_thrift t;

	parquet_begin(&t, &b);
	parquet_i32(&t, 1, 42);
	parquet_i64(&t, 3, -1);
	parquet_binary(&t, 4, "ab", 2);
	parquet_struct(&t, 5);
	parquet_i16(&t, 1, 5);
	parquet_end(&t);
	parquet_list(&t, 8, PARQUET_STRUCTS, 1);
	parquet_item(&t);
	parquet_i32(&t, 1, 1);
	parquet_end(&t);
	parquet_list(&t, 9, PARQUET_BINARIES, 15);
	CHECK(b.used == sizeof(expected));
	CHECK(memcmp(b.data, expected, b.used) == 0);
	parquet_fini(&b);
}

/* ---- without memory ---- */

TEST(set_is_not_there_without_memory)
{
	const char *input = test_tmpfile("in.db"), *out = test_tmpfile("set");
	const char *folder = test_tmpfile("set/job=0/rank=-1");
	static struct job_result res;
	int ret = -ENOMEM;

	db_make_rpd(input,
		    "INSERT INTO rocpd_string VALUES (1, 'gemm'), (2, 'KernelExecution'), (3, "
		    "'hipLaunchKernel'), (4, 'ptr=0x10');"
		    "INSERT INTO rocpd_api VALUES (1, 77, 78, 1000, 2000, 3, 4);"
		    "INSERT INTO rocpd_op VALUES (1, 1, 3, 1, 3000, 5000, 1, 2);"
		    "INSERT INTO rocpd_api_ops VALUES (1, 1, 1)");
	for (uint64_t nth = 1; ret; nth++) {
		memset(&res, 0, sizeof(res));
		alloc_fail_at(nth);
		ret = export_run(export_find("parquet"), &input, 1, out, NULL, &res);
		alloc_fail_at(0);
		if (ret)
			CHECK(*res.error);
		CHECK_EQ_INT(access(folder, F_OK), ret ? -1 : 0);
		CHECK_MSG(nth < 10000, "%s", res.error);
	}
	CHECK_EQ_UINT(res.nr_files, 9);
	CHECK_EQ_INT(access(test_tmpfile("set/job=0/rank=-1/dispatches.parquet"), F_OK), 0);
}
