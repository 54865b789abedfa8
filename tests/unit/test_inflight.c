/* SPDX-License-Identifier: MIT */
/* test_inflight.c - the ring of what is in flight */
#include <errno.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "source/hsa/completion/inflight.h"
#include "support/test.h"

TEST(a_ring_holds_its_size_and_no_more)
{
	struct inflight_ring r = { 0 };

	CHECK_OK(inflight_init(&r, 8));
	for (int i = 0; i < 8; i++) {
		CHECK_EQ_PTR(inflight_next(&r), &r.entry[i]);
		inflight_push(&r);
	}
	CHECK_NULL(inflight_next(&r));
	CHECK_EQ_UINT(inflight_count(&r), 8);
	atomic_store(&r.tail, 3);
	CHECK_EQ_PTR(inflight_next(&r), &r.entry[0]);
	CHECK_EQ_UINT(inflight_count(&r), 5);
}

TEST(a_ring_tells_what_is_recorded)
{
	struct inflight_ring r = { 0 };

	CHECK_OK(inflight_init(&r, 8));
	for (int i = 0; i < 11; i++) {
		atomic_store(&r.tail, i < 5 ? 0 : i - 4);
		CHECK(inflight_recorded(&r, inflight_next(&r)));
		inflight_push(&r);
	}
	for (int i = 0; i < 8; i++) /* in flight: 6, 7 and 0, 1, 2 */
		CHECK_EQ_INT(inflight_recorded(&r, &r.entry[i]), i >= 3 && i < 6);
	CHECK(!inflight_recorded(&r, r.entry + 8));
	CHECK(!inflight_recorded(NULL, r.entry));
}

TEST(a_ring_keeps_its_memory_and_is_empty_again)
{
	struct inflight_ring r = { 0 };
	struct inflight *memory;

	alloc_fail_at(1);
	CHECK_EQ_INT(inflight_init(&r, 8), -ENOMEM);
	alloc_fail_at(0);
	CHECK_OK(inflight_init(&r, 8));
	memory = r.entry;
	for (int i = 0; i < 5; i++)
		inflight_push(&r);
	CHECK_OK(inflight_init(&r, 8));
	CHECK_EQ_PTR(r.entry, memory);
	CHECK_EQ_UINT(inflight_count(&r), 0);
}
