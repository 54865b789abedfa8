/* SPDX-License-Identifier: MIT */
/* test_args.c - calls and their arguments: read from a trace, found by role, written as text */
#include "store/args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "support/spool_api.h"
#include "store/ids.h"
#include "support/test.h"

static struct load_error err;
static char text[512];

/* What the visitor saw of the last call; `role` and `size` are set for the next one. */
static struct {
	unsigned int nr;
	struct store_api api;
	char name[64];
	const char *role;
	int64_t found;
	uint64_t value;
	size_t size, length;
} last;
static struct index *current;

static int on_api(void *arg, const struct store_api *api)
{
	const struct store_arg *found = last.role ? args_find(api, last.role) : NULL;

	(void)arg;
	last.nr++;
	last.api = *api;
	last.found = found ? (int64_t)found->word : -1;
	last.value = last.role ? args_value(api, last.role, 4711) : 0;
	snprintf(last.name, sizeof(last.name), "%s", api->op->name);
	last.length = args_text(current, api, text, last.size ? last.size : sizeof(text));
	CHECK_EQ_UINT(strlen(text), last.length);
	return 0;
}

static const struct store_visitor visitor = { .api = on_api };

/* Writes a trace with one call of a function with that signature; the call's text. */
static const char *show(const char *signature, const uint64_t *words, uint32_t nr)
{
	const char *path = test_tmpfile("args.rtl");
	struct spool_api call = {
		.tid = 5,
		.domain = REC_API_HIP,
		.op = 7,
		.nr_words = nr,
		.words = words,
		.begin_ns = 10,
		.end_ns = 20,
		.correlation = 3,
	};
	static struct spool_make m;

	spool_make_begin(&m, path, 5, false);
	spool_make_chunk(&m, 5);
	spool_api_call(&m, &call);
	spool_api_op(&m, REC_API_HIP, 7, 1, "hipSome", signature);
	spool_make_string(&m, 50, "say \"a\\b\"\n\tgr\xc3\xbc\xc3\x9f \xff, c=d");
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	CHECK_OK(index_open(&current, path, &err));
	last.nr = 0;
	CHECK_OK(index_visit(current, &visitor, NULL, &err));
	CHECK_EQ_UINT(last.nr, 1);
	CHECK_STR_EQ(last.name, "hipSome");
	index_close(current);
	return text;
}

#define SHOW(signature, ...)                                                                       \
	show(signature, (const uint64_t[]){ __VA_ARGS__ },                                         \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

TEST(each_argument_type_is_formatted)
{
	CHECK_STR_EQ(SHOW("ptr:p", 0x7f00dead0000), "ptr=0x7f00dead0000");
	CHECK_STR_EQ(SHOW("stream:h:stream", 0), "stream=0x0");
	CHECK_STR_EQ(SHOW("value:i", (uint64_t)-5), "value=-5");
	CHECK_STR_EQ(SHOW("flags:u", UINT64_MAX), "flags=18446744073709551615");
	CHECK_STR_EQ(SHOW("flags:x", 0xfeed), "flags=0xfeed");
	CHECK_STR_EQ(SHOW("sizeBytes:z:bytes", 4096), "sizeBytes=4096");
	CHECK_STR_EQ(SHOW("a:b,b:b", 1, 0), "a=true, b=false");
	CHECK_STR_EQ(SHOW("x:f", 0x3fc00000), "x=1.5");
	CHECK_STR_EQ(SHOW("x:g", 0xbfb999999999999a), "x=-0.10000000000000001");
	CHECK_STR_EQ(SHOW("grid:d:grid,n:i", 3 | UINT64_C(4) << 32, 5, 6), "grid={3,4,5}, n=6");
	CHECK_STR_EQ(SHOW("kind:e=hipMemcpyKind:kind,k:e=hipMemcpyKind,r:e=hsa_status_t", 1, 77, 0),
		     "kind=hipMemcpyHostToDevice, k=77, r=HSA_STATUS_SUCCESS");
	CHECK_STR_EQ(SHOW("k:e=noSuchEnumeration", (uint64_t)-1), "k=-1");
	CHECK_STR_EQ(SHOW("*ptr:p,p.kind:u,return:i", 1, 2, 3), "*ptr=0x1, p.kind=2, return=3");
}

TEST(string_is_quoted_as_one_line_of_utf8)
{
	CHECK_STR_EQ(SHOW("name:s", 50),
		     "name=\"say \\\"a\\\\b\\\"\\n\\x09gr\xc3\xbc\xc3\x9f \\xff, c=d\"");
	CHECK_STR_EQ(SHOW("name:s", 0), "name=NULL");
	/* an undefined id, and a number that can't be an id */
	CHECK_STR_EQ(SHOW("name:s", 49), "name=\"\"");
	CHECK_STR_EQ(SHOW("name:s", UINT64_C(50) << 32 | 50), "name=\"\"");
}

TEST(text_beyond_buffer_ends_in_dots)
{
	for (last.size = 1; last.size < 40; last.size++) {
		SHOW("name:s,n:i", 50, 1);
		CHECK_LT_UINT(last.length, last.size);
		if (last.size > 4)
			CHECK_STR_EQ(text + last.length - 3, "...");
		/* no cut UTF-8 character */
		if (last.length >= 4)
			CHECK(((unsigned char)text[last.length - 4] & 0xc0) != 0xc0);
	}
	last.size = 9;
	CHECK_STR_EQ(SHOW("n:i", 123456), "n=123456");
	last.size = 0;
}

TEST(call_with_missing_words_shows_no_arguments)
{
	last.role = "bytes";
	CHECK_STR_EQ(SHOW("a:i,n:z:bytes", 1), "");
	CHECK_EQ_UINT(last.api.nr_words, 0);
	CHECK_EQ_INT(last.found, -1);
	CHECK_EQ_UINT(last.value, 4711);
	/* the second word of a dim3 */
	CHECK_STR_EQ(SHOW("n:z:bytes,grid:d", 1, 2), "");
	CHECK_STR_EQ(SHOW("n:z:bytes,grid:d", 1, 2, 3), "n=1, grid={2,0,3}");
	CHECK_EQ_UINT(last.value, 1);
	/* more words than the signature: a later version may append arguments */
	CHECK_STR_EQ(SHOW("n:z:bytes", 1, 2, 3), "n=1");
	last.role = NULL;
}

TEST(argument_is_found_by_role)
{
	const char *sig = "dst:p:dst,src:p:src,dim:d:block,sizeBytes:z:bytes";

	last.role = "bytes";
	SHOW(sig, 1, 2, 3, 4, 5);
	CHECK_EQ_INT(last.found, 4);
	CHECK_EQ_UINT(last.value, 5);
	last.role = "kind";
	SHOW(sig, 1, 2, 3, 4, 5);
	CHECK_EQ_INT(last.found, -1);
	last.role = NULL;
}

TEST(agents_are_no_argument_of_the_call)
{
	CHECK_STR_EQ(SHOW("dst:p:dst,n:i,agents:x:agents", 1, 2, 0x20001), "dst=0x1, n=2");
}

TEST(requests_are_the_rest_of_the_words)
{
	CHECK_STR_EQ(SHOW("n:i,done:r", 2, 0x1f, UINT64_C(0x1400000002), 0x2f,
			  (uint32_t)SPOOL_SOURCE_UNKNOWN, 0x3f, (uint32_t)SPOOL_SOURCE_CANCELLED,
			  0x4f, UINT64_MAX, 0, 7),
		     "n=2, done=0x1f:2:20 0x2f 0x3f:cancelled 0x4f:-1:-1 +7");
	CHECK_STR_EQ(SHOW("n:i,done:r", 2), "n=2, done=");
	/* half of a pair */
	CHECK_STR_EQ(SHOW("done:r", 0x1f), "done=");
}

TEST(bad_signature_item_drops_that_argument_alone)
{
	CHECK_STR_EQ(SHOW("a:i,b,c:i", 1, 2, 3), "a=1, c=3");
	CHECK_STR_EQ(SHOW("a:i,b:q,c:i", 1, 2, 3), "a=1, c=3");
	CHECK_STR_EQ(SHOW("a:,b:ii,c:i:r", 1, 2, 3), "c=3");
	CHECK_STR_EQ(SHOW("", 1), "");
	CHECK_STR_EQ(SHOW(",,:", 1, 2, 3), "");
	CHECK_STR_EQ(SHOW("k:e,n:i", 4, 5), "k=4, n=5");
}

TEST(signature_longer_than_record_shows_no_arguments)
{
	static char sig[REC_API_MAX_WORDS * 4 + 64];
	uint64_t words[REC_API_MAX_WORDS];

	for (uint32_t i = 0; i < REC_API_MAX_WORDS; i++) {
		snprintf(sig + strlen(sig), sizeof(sig) - strlen(sig), "%sa:i", i ? "," : "");
		words[i] = i;
	}
	last.size = 16;
	CHECK_STR_EQ(show(sig, words, REC_API_MAX_WORDS), "a=0, a=1, a=...");
	snprintf(sig + strlen(sig), sizeof(sig) - strlen(sig), ",a:i");
	CHECK_STR_EQ(show(sig, words, REC_API_MAX_WORDS), "");
	last.size = 0;
}

TEST(function_without_record_is_named_by_number)
{
	const char *path = test_tmpfile("n.rtl");
	const uint64_t words[] = { 1, 2 };
	struct spool_api call = {
		.tid = 5, .begin_ns = 10, .end_ns = 20, .nr_words = 2, .words = words
	};
	static const char *const names[] = { "api#9", "hip#9", "hsa#9", "rccl#9" };
	static struct spool_make m;
	const struct store_op *ops;
	size_t nr;

	for (uint32_t domain = 0; domain < 4; domain++) {
		spool_make_begin(&m, path, 5, false);
		spool_make_chunk(&m, 5);
		call.domain = domain;
		call.op = 9;
		call.correlation = 100 + domain;
		call.status = -3;
		call.parent = 99;
		call.flags = REC_F_HAD_SIGNAL;
		spool_api_call(&m, &call);
		spool_make_chunk_end(&m);
		spool_make_end(&m, true);
		CHECK_OK(index_open(&current, path, &err));
		ops = index_ops(current, &nr);
		CHECK_EQ_UINT(nr, 1);
		CHECK(!ops[0].known);
		CHECK_STR_EQ(ops[0].name, names[domain]);
		CHECK_OK(index_visit(current, &visitor, NULL, &err));
		CHECK_STR_EQ(last.name, names[domain]);
		CHECK_STR_EQ(text, "");
		CHECK_EQ_INT(last.api.status, -3);
		CHECK_EQ_UINT(last.api.nr_words, 2);
		CHECK_EQ_UINT(last.api.correlation, 100 + domain);
		CHECK_EQ_UINT(last.api.parent, 99);
		CHECK_EQ_UINT(last.api.flags, REC_F_HAD_SIGNAL);
		CHECK(index_called(current, 100 + domain));
		CHECK(!index_called(current, 99));
		index_close(current);
	}
}

TEST(calls_are_counted_and_functions_sorted)
{
	const char *path = test_tmpfile("c.rtl");
	const uint64_t word = 77;
	struct spool_api call = { .tid = 6, .words = &word };
	const struct store_totals *t;
	const struct store_op *ops;
	static struct spool_make m;
	size_t nr;

	spool_make_begin(&m, path, 5, false);
	spool_make_chunk(&m, 5);
	spool_api_op(&m, REC_API_HSA, 1, 1, "hsa_init", "");
	spool_api_op(&m, REC_API_HIP, 300, 3, "hipLate", "a:i");
	spool_api_op(&m, REC_API_HIP, 2, 5, "hipEarly", "a:i");
	for (uint32_t i = 0; i < 10; i++) {
		call.domain = i % 2 ? REC_API_HIP : REC_API_HSA;
		call.op = i % 2 ? 300 : 1;
		call.nr_words = i % 2;
		call.begin_ns = 1000 + i;
		call.end_ns = 2000 + i;
		call.correlation = 10 + i;
		spool_api_call(&m, &call);
	}
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	CHECK_OK(index_open(&current, path, &err));
	t = index_totals(current);
	CHECK_EQ_UINT(t->apis, 10);
	CHECK_EQ_UINT(t->api_args, 5);
	CHECK_EQ_UINT(t->max_correlation, 19);
	CHECK_EQ_UINT(t->first_ns, 1000);
	CHECK_EQ_UINT(t->last_ns, 2009);
	ops = index_ops(current, &nr);
	CHECK_EQ_UINT(nr, 3);
	CHECK_STR_EQ(ops[0].name, "hipEarly");
	CHECK_STR_EQ(ops[1].name, "hipLate");
	CHECK_STR_EQ(ops[2].name, "hsa_init");
	index_threads(current, &nr);
	CHECK_EQ_UINT(nr, 1);
	for (int pass = 0; pass < 2; pass++) {
		last.nr = 0;
		CHECK_OK(index_visit(current, &visitor, NULL, &err));
		CHECK_EQ_UINT(last.nr, 10);
		CHECK_STR_EQ(text, "a=77");
	}
	index_close(current);
}

/* A valid CRC and a wrong count of words. */
TEST(call_longer_than_record_drops_rest_of_chunk)
{
	const char *path = test_tmpfile("d.rtl");
	struct rec_api rec = { .h = { REC_API, sizeof(rec) / 8, 0, 5 },
			       .correlation = 1,
			       .domain = REC_API_HIP,
			       .nr_words = 1 };
	static struct spool_make m;

	spool_make_begin(&m, path, 5, false);
	spool_make_chunk(&m, 5);
	spool_make_raw(&m, &rec, sizeof(rec));
	spool_make_thread(&m, 6, "lost", 5);
	spool_make_chunk_end(&m);
	spool_make_end(&m, true);
	CHECK_OK(index_open(&current, path, &err));
	CHECK_EQ_UINT(index_totals(current)->apis, 0);
	CHECK_NOT_NULL(strstr(load_warning(index_load(current)), "longer than its record"));
	CHECK_EQ_UINT(load_facts(index_load(current))->loss[SPOOL_REASON_bad_chunk].count, 1);
	index_close(current);
}

TEST(id_set_frees_bits_of_full_pages)
{
	struct ids ids = { 0 };

	CHECK(!ids_has(&ids, 0));
	/* from the last to the first, in three strides that together are all numbers */
	for (uint64_t stride = 0; stride < 3; stride++) {
		for (uint64_t i = 30000; i-- > 0;) {
			if (i % 3 == stride)
				CHECK_OK(ids_add(&ids, 1000000 + i));
		}
		CHECK_EQ_INT(ids_has(&ids, 1000000 + 2), stride == 2);
	}
	for (uint64_t i = 0; i < 30000; i++)
		CHECK(ids_has(&ids, 1000000 + i));
	CHECK(!ids_has(&ids, 999999));
	CHECK(!ids_has(&ids, 1030000));
	/* only the first and the last page have bits; a new page reuses a freed one */
	CHECK_OK(ids_add(&ids, UINT64_MAX));
	CHECK_OK(ids_add(&ids, UINT64_MAX));
	CHECK(ids_has(&ids, UINT64_MAX));
	CHECK(!ids_has(&ids, UINT64_MAX - 1));
	CHECK_LE_UINT(ids.nr_bits, 9);
	ids_fini(&ids);
}

TEST(ops_without_memory_fail_and_free)
{
	const char *path = test_tmpfile("args.rtl");
	int ret = -ENOMEM;

	SHOW("a:i,b:s,c:e=x", 1, 50, 3);
	for (uint64_t nth = 1; ret < 0; nth++) {
		CHECK_LT_UINT(nth, 10000);
		alloc_fail_at(nth);
		ret = index_open(&current, path, &err);
		alloc_fail_at(0);
		if (ret < 0)
			CHECK_EQ_INT(ret, -ENOMEM);
	}
	index_close(current);
}
