/* SPDX-License-Identifier: MIT */
/* test_pack.c - packed chunks give the same bytes back, and damaged ones do no harm */
#include "spool/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/fd.h"
#include "support/test.h"

#define HEAD ((uint32_t)sizeof(struct chunk_header))

static struct {
	struct chunk_header head;
	_Alignas(8) uint8_t records[CHUNK_PAYLOAD];
} chunk;
static _Alignas(8) uint8_t packed[SLOT_SIZE + PACK_SLACK], again[SLOT_SIZE + PACK_SLACK];
static _Alignas(8) uint8_t out[CHUNK_PAYLOAD];

static void begin(void)
{
	memset(&chunk, 0, sizeof(chunk));
	chunk.head = (struct chunk_header){ .magic = CHUNK_MAGIC, .seq = 1, .tid = 7 };
}

static void add(const void *rec, uint32_t size)
{
	CHECK_LE_UINT(chunk.head.committed + size, sizeof(chunk.records));
	memcpy(chunk.records + chunk.head.committed, rec, size);
	chunk.head.committed += size;
	chunk.head.nr_records++;
}

/* Packs the chunk and unpacks it. Its bytes on disk, the header included. */
static uint32_t round_trip(void)
{
	uint32_t size, size2;
	const uint8_t *bytes = pack_chunk(&chunk.head, packed, true, &size);
	struct chunk_header head;
	uint32_t crc;

	memcpy(&head, bytes, sizeof(head));
	CHECK_EQ_UINT(size, HEAD + pack_stored(&head));
	CHECK_EQ_UINT(size % 8, 0);
	CHECK_LE_UINT(size, HEAD + chunk.head.committed);
	crc = head.crc;
	head.crc = 0;
	CHECK_EQ_UINT(crc_add(crc_add(0, &head, HEAD), bytes + HEAD, size - HEAD), crc);
	CHECK_EQ_INT(head.stored != 0, bytes == packed);
	if (head.stored) {
		memset(out, 0xff, sizeof(out));
		CHECK(pack_restore(out, head.committed, packed + HEAD, head.stored));
		CHECK_MEM_EQ(out, chunk.records, chunk.head.committed);
	}
	/* a drainer that repeats it writes the same */
	CHECK_EQ_INT(pack_chunk(&chunk.head, again, true, &size2) == again, bytes == packed);
	CHECK_EQ_UINT(size2, size);
	if (head.stored)
		CHECK_MEM_EQ(again, packed, size);
	return size;
}

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct launch {
	struct rec_api api;
	uint64_t words[9];
};

static void add_launch(uint64_t i, uint64_t *ns)
{
	struct launch l = {
		.api = { .h = { REC_API, sizeof(l) / 8, 0, 7 },
			 .begin_ns = *ns += 60 + random_word() % 50,
			 .end_ns = *ns += 250 + random_word() % 300,
			 .correlation = 1000 + i,
			 .op = 0x123,
			 .domain = 1,
			 .nr_words = 9 },
		.words = { 0x55ea0e75ad80, 0x100000001, 1, 0x100000040, 1, 0x7ffcb5f7b4a0, 0,
			   0x55ea20bf82b0, 0x3c },
	};
	struct rec_dispatch d = {
		.h = { REC_DISPATCH, sizeof(d) / 8, 0, 7 },
		.begin_ticks = *ns / 10,
		.begin_ns = *ns,
		.ticks = 500 + (uint32_t)(random_word() % 20),
		.ns = 5000 + (uint32_t)(random_word() % 200),
		.packet = (uint32_t)i,
		.correlation = 1000 + (uint32_t)i,
	};

	add(&l, sizeof(l));
	add(&d, sizeof(d));
}

TEST(launches_take_a_sixth_of_their_bytes)
{
	uint64_t ns = UINT64_C(14936000000000);
	uint32_t size;

	begin();
	for (uint64_t i = 0; i < 500; i++)
		add_launch(i, &ns);
	CHECK_EQ_UINT(chunk.head.committed, 500 * 168);
	size = round_trip();
	CHECK_LE_UINT(size, chunk.head.committed / 6);
}

/* Any bytes, in records of every type, known or not, of every size. */
TEST(any_records_come_back)
{
	uint64_t words[255];

	for (int round = 0; round < 300; round++) {
		uint32_t types = 1 + (uint32_t)(random_word() % 256);

		begin();
		for (;;) {
			uint32_t nr = 1 + (uint32_t)(random_word() % (round % 3 ? 15 : 255));
			struct rec_head h = { (uint8_t)(random_word() % types), (uint8_t)nr,
					      (uint16_t)random_word(),
					      (uint32_t)random_word() % 9 };

			if (nr * 8 > CHUNK_PAYLOAD - chunk.head.committed)
				break;
			for (uint32_t i = 1; i < nr; i++)
				words[i] = round % 2 ? random_word() :
						       random_word() >> random_word() % 64;
			memcpy(words, &h, sizeof(h));
			add(words, nr * 8);
			if (round % 7 == 0 && random_word() % 50 == 0)
				break;
		}
		round_trip();
	}
}

TEST(what_does_not_become_smaller_stays_as_it_is)
{
	struct rec_head rec = { REC_STRING, 3, 0, 1 };
	uint64_t words[3];
	uint32_t size;

	begin();
	words[1] = words[2] = UINT64_MAX / 3;
	memcpy(words, &rec, sizeof(rec));
	add(words, sizeof(words));
	CHECK_EQ_UINT(round_trip(), HEAD + 24);
	/* a trace of version 1 has no packed chunks */
	for (int i = 0; i < 50; i++)
		add(words, sizeof(words));
	CHECK_LT_UINT(round_trip(), HEAD + 51 * 24);
	CHECK(pack_chunk(&chunk.head, packed, false, &size) == (const uint8_t *)&chunk);
	CHECK_EQ_UINT(size, HEAD + 51 * 24);
	CHECK_EQ_UINT(chunk.head.stored, 0);
	/* so has damage in the memory half */
	chunk.records[24 + 1] = 0;
	CHECK(pack_chunk(&chunk.head, packed, true, &size) == (const uint8_t *)&chunk);
	chunk.records[24 + 1] = 200;
	CHECK(pack_chunk(&chunk.head, packed, true, &size) == (const uint8_t *)&chunk);
}

/* From and to the heap, where the address sanitizer sees what is behind both. */
static bool unpack_copy(const uint8_t *bytes, uint32_t stored, uint32_t size)
{
	uint8_t *copy = malloc(stored + !stored), *to = malloc(size + !size);
	bool good;

	CHECK(copy && to);
	memcpy(copy, bytes, stored);
	good = pack_restore(to, size, copy, stored);
	free(copy);
	free(to);
	return good;
}

TEST(damaged_bytes_do_no_harm)
{
	uint64_t ns = UINT64_C(14936000000000);
	struct chunk_header head;
	uint32_t size;

	begin();
	for (uint64_t i = 0; i < 20; i++)
		add_launch(i, &ns);
	round_trip();
	memcpy(&head, packed, sizeof(head));
	CHECK(unpack_copy(packed + HEAD, head.stored, head.committed));
	for (uint32_t cut = 0; cut + 8 < head.stored; cut++)
		CHECK(!unpack_copy(packed + HEAD, cut, head.committed));
	CHECK(!unpack_copy(packed + HEAD, head.stored, head.committed - 168));
	CHECK(!unpack_copy(packed + HEAD, head.stored, head.committed + 8));
	for (int i = 0; i < 20000; i++) {
		memcpy(again, packed, HEAD + head.stored);
		for (uint64_t n = 1 + random_word() % 4; n; n--)
			again[HEAD + random_word() % head.stored] = (uint8_t)random_word();
		size = (uint32_t)(random_word() % (head.committed + 64)) & ~7u;
		unpack_copy(again + HEAD, head.stored, i % 2 ? size : head.committed);
	}
}

/* What an earlier program has packed is read the same, and so it is packed today. */
static void check_golden(const char *plain, const char *as_packed)
{
	static _Alignas(8) uint8_t a[1 << 16], b[1 << 16];
	ssize_t n = fd_read_file(plain, a, sizeof(a)), m = fd_read_file(as_packed, b, sizeof(b));
	ssize_t from = SPOOL_HEADER_SIZE, to = SPOOL_HEADER_SIZE;
	int nr = 0;

	CHECK_GT_INT(n, from);
	while (from < n) {
		const struct chunk_header *was = (const void *)(a + from);
		const struct chunk_header *is = (const void *)(b + to);
		uint32_t size;
		const uint8_t *bytes;

		begin();
		memcpy(&chunk, was, HEAD + was->committed);
		bytes = pack_chunk(&chunk.head, packed, true, &size);
		CHECK_LE_INT(to + size, m);
		CHECK_MEM_EQ(bytes, is, size);
		if (is->stored) {
			CHECK(pack_restore(out, is->committed, b + to + HEAD, is->stored));
			CHECK_MEM_EQ(out, was + 1, was->committed);
			nr++;
		}
		from += HEAD + was->committed;
		to += HEAD + pack_stored(is);
	}
	CHECK_EQ_INT(to, m);
	CHECK_GT_INT(nr, 0);
}

TEST(chunks_of_version_2_stay_as_they_are)
{
	check_golden(GOLDEN "/v1.rtl", GOLDEN "/v2.rtl");
	check_golden(GOLDEN "/v1-api.rtl", GOLDEN "/v2-api.rtl");
	check_golden(GOLDEN "/v1-program.rtl", GOLDEN "/v2-program.rtl");
}
