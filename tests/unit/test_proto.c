/* SPDX-License-Identifier: MIT */
/* test_proto.c - messages of Protocol Buffers, read back as their definition says */
#include "export/pftrace/proto.h"

#include <string.h>

#include "support/test.h"

/* A varint: seven bits in a byte, the lowest first; the last byte lacks the highest bit. */
static uint64_t take(const unsigned char **at)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		unsigned char byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

TEST(numbers_of_all_sizes_are_read_back)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t values[] = { (UINT64_C(1) << bit) - 1, UINT64_C(1) << bit };

		for (size_t i = 0; i < 2; i++) {
			struct proto p = { 0 };
			const unsigned char *at;

			proto_uint(&p, 1 + bit, values[i]);
			CHECK(!p.failed);
			at = (const unsigned char *)p.buf;
			CHECK_EQ_UINT(take(&at), (1 + bit) << 3);
			CHECK_EQ_UINT(take(&at), values[i]);
			CHECK_EQ_PTR((const char *)at, p.buf + p.used);
			proto_fini(&p);
		}
	}
}

/* The size is one byte at first, and moves what is in the message if it needs more. */
TEST(messages_of_all_sizes_have_their_contents)
{
	static const size_t sizes[] = { 0, 1, 127, 128, 129, 16383, 16384, 70000 };
	static char bytes[70000];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 >> 3);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct proto p = { 0 };
		const unsigned char *at;
		size_t message = proto_begin(&p, 3);

		proto_raw(&p, bytes, sizes[i]);
		proto_end(&p, message);
		CHECK(!p.failed);
		at = (const unsigned char *)p.buf;
		CHECK_EQ_UINT(take(&at), 3 << 3 | 2);
		CHECK_EQ_UINT(take(&at), sizes[i]);
		CHECK_MEM_EQ(at, bytes, sizes[i]);
		CHECK_EQ_PTR((const char *)at + sizes[i], p.buf + p.used);
		proto_fini(&p);
	}
}

TEST(message_of_two_numbers_is_as_long_as_it_says)
{
	static const uint64_t values[] = { 0, 127, 128, UINT64_MAX };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct proto p = { 0 };
		const unsigned char *at;
		uint64_t size;

		proto_uints(&p, 9, 1, values[i], 200, values[3 - i]);
		CHECK(!p.failed);
		at = (const unsigned char *)p.buf;
		CHECK_EQ_UINT(take(&at), 9 << 3 | 2);
		size = take(&at);
		CHECK_EQ_PTR((const char *)at + size, p.buf + p.used);
		CHECK_EQ_UINT(take(&at), 1 << 3);
		CHECK_EQ_UINT(take(&at), values[i]);
		CHECK_EQ_UINT(take(&at), 200 << 3);
		CHECK_EQ_UINT(take(&at), values[3 - i]);
		CHECK_EQ_PTR((const char *)at, p.buf + p.used);
		proto_fini(&p);
	}
}
