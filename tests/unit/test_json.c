/* SPDX-License-Identifier: MIT */
/* test_json.c - the output is valid JSON for any text */
#include "export/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "support/test.h"

static struct json j;
static char text[400000];
static size_t used;

static int keep(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	CHECK(used + size < sizeof(text));
	memcpy(text + used, bytes, size);
	used += size;
	text[used] = 0;
	return 0;
}

static int refuse(void *arg, const char *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	++*(int *)arg;
	return -ENOSPC;
}

TEST(writer_adds_commas_and_colons)
{
	json_init(&j, keep, NULL);
	json_object(&j);
	json_key(&j, "a");
	json_array(&j);
	json_uint(&j, 1);
	json_int(&j, -2);
	json_bool(&j, true);
	json_null(&j);
	json_array_end(&j);
	json_key(&j, "b");
	json_object(&j);
	json_object_end(&j);
	json_key(&j, "c");
	json_int(&j, 3);
	json_object_end(&j);
	CHECK_OK(json_flush(&j));
	CHECK_STR_EQ(text, "{\"a\":[1,-2,true,null],\"b\":{},\"c\":3}");
}

TEST(text_is_escaped_and_invalid_utf8_replaced)
{
	json_init(&j, keep, NULL);
	json_array(&j);
	json_text(&j, "a\"b\\c\n\t\x01\x7f");
	json_text(&j, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
	json_text(&j, "\xff|\xc3|\xed\xa0\x80|\xc0\xaf|\xf4\x90\x80\x80|");
	json_text(&j, NULL);
	json_array_end(&j);
	CHECK_OK(json_flush(&j));
#define BAD "\xef\xbf\xbd"
	CHECK_STR_EQ(text,
		     "[\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\",\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\","
		     "\"" BAD "|" BAD "|" BAD BAD BAD "|" BAD BAD "|" BAD BAD BAD BAD "|\",null]");
}

TEST(time_is_microseconds_with_three_decimals)
{
	json_init(&j, keep, NULL);
	json_array(&j);
	json_us(&j, 0);
	json_us(&j, 1);
	json_us(&j, 1234567);
	json_us(&j, -1500);
	json_us(&j, INT64_MAX);
	json_us(&j, INT64_MIN);
	json_array_end(&j);
	json_flush(&j);
	CHECK_STR_EQ(text,
		     "[0.000,0.001,1234.567,-1.500,9223372036854775.807,-9223372036854775.808]");
}

TEST(real_reads_back_equal_or_is_null)
{
	json_init(&j, keep, NULL);
	json_array(&j);
	json_double(&j, 0.1);
	json_double(&j, 1e300);
	json_double(&j, 1.0 / 3);
	json_double(&j, INFINITY);
	json_double(&j, NAN);
	json_array_end(&j);
	json_flush(&j);
	CHECK_STR_EQ(text, "[0.1,1e+300,0.3333333333333333,null,null]");
}

TEST(text_longer_than_buffer_is_written_whole)
{
	static char longer[3 * JSON_BUFFER];

	memset(longer, 'x', sizeof(longer) - 1);
	json_init(&j, keep, NULL);
	json_text(&j, longer);
	CHECK_OK(json_flush(&j));
	CHECK_EQ_UINT(used, sizeof(longer) + 1);
	CHECK(text[0] == '"' && text[used - 1] == '"' && text[used / 2] == 'x');
}

TEST(output_error_is_kept)
{
	static char block[JSON_BUFFER];
	int calls = 0;

	json_init(&j, refuse, &calls);
	json_bytes(&j, block, sizeof(block));
	json_bytes(&j, block, sizeof(block));
	json_bytes(&j, block, sizeof(block));
	CHECK_EQ_INT(json_flush(&j), -ENOSPC);
	CHECK_EQ_INT(calls, 1);
}

TEST(nesting_beyond_limit_is_an_error)
{
	json_init(&j, keep, NULL);
	for (int i = 0; i < 100; i++)
		json_array(&j);
	for (int i = 0; i < 200; i++)
		json_array_end(&j);
	CHECK_EQ_INT(json_flush(&j), -EOVERFLOW);
}

TEST(memory_writer_grows)
{
	struct json_memory m = { NULL, 0 };

	json_init(&j, json_write_memory, &m);
	json_text(&j, "a\"b");
	CHECK_OK(json_flush(&j));
	json_bytes(&j, "c", 1);
	CHECK_OK(json_flush(&j));
	CHECK_EQ_UINT(m.size, 7);
	CHECK_EQ_INT(memcmp(m.bytes, "\"a\\\"b\"c", 7), 0);
	alloc_free(m.bytes);
}
