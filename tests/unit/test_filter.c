/* SPDX-License-Identifier: MIT */
/* test_filter.c - what is left out by name or by GPU */
#include "event/filter.h"

#include <stdlib.h>

#include "base/env.h"
#include "event/special.h"
#include "support/test.h"

static void with(const char *name, const char *value)
{
	setenv(name, value, 1);
	env_init();
	filter_init();
}

TEST(without_options_nothing_is_left_out)
{
	env_init();
	filter_init();
	CHECK(!filter_has_kernels && !filter_has_gpus && !filter_has_calls);
	CHECK(!special_any(SPECIAL_FILTERED));
	CHECK(!filter_leaves_out_kernel("a") && !filter_leaves_out_kernel(NULL));
	CHECK(!filter_leaves_out_call("hipFree") && !filter_leaves_out_gpu(3));
}

TEST(other_kernels_are_left_out)
{
	with("RTL_KERNELS", "^_Z3onev$");
	CHECK(special_any(SPECIAL_FILTERED));
	CHECK(!filter_leaves_out_kernel("_Z3onev"));
	CHECK(!filter_leaves_out_kernel("_Z3onev.kd"));
	CHECK(filter_leaves_out_kernel("_Z5one_bv.kd"));
	CHECK(filter_leaves_out_kernel(NULL));
	CHECK(filter_leaves_out_kernel(""));
}

TEST(kernels_are_selected_by_the_names_that_are_shown)
{
	with("RTL_KERNELS", "^add\\(float\\*, std::bfloat16_t\\)$");
	CHECK(!filter_leaves_out_kernel("_Z3addPfDF16b.kd"));
	CHECK(filter_leaves_out_kernel("_Z3addPfDF16bi.kd"));
}

TEST(kernel_that_both_expressions_match_is_left_out)
{
	setenv("RTL_NOT_KERNELS", "_b", 1);
	with("RTL_KERNELS", "one");
	CHECK(!filter_leaves_out_kernel("one"));
	CHECK(filter_leaves_out_kernel("one_b"));
	CHECK(filter_leaves_out_kernel("two"));
}

TEST(kernel_without_name_does_not_match)
{
	with("RTL_NOT_KERNELS", ".*");
	CHECK(filter_leaves_out_kernel("a"));
	CHECK(!filter_leaves_out_kernel(NULL));
}

TEST(kernels_that_copy_and_fill_for_hip_are_known)
{
	CHECK(filter_is_transfer("__amd_rocclr_copyBufferAligned.kd"));
	CHECK(filter_is_transfer("__amd_rocclr_fillBufferAligned"));
	CHECK(!filter_is_transfer("__amd_rocclr_scheduler"));
	CHECK(!filter_is_transfer("my__amd_rocclr_copy") && !filter_is_transfer("") &&
	      !filter_is_transfer(NULL));
}

TEST(calls_and_gpus_are_left_out)
{
	setenv("RTL_GPUS", "1,3-4", 1);
	with("RTL_CALLS", "^hipMemcpy");
	CHECK(!filter_leaves_out_call("hipMemcpyAsync"));
	CHECK(filter_leaves_out_call("hipFree"));
	CHECK(filter_leaves_out_gpu(0));
	CHECK(!filter_leaves_out_gpu(4));
	CHECK(!filter_leaves_out_kernel("any"));
}

TEST(parts_of_launches_are_asked_for_by_name)
{
	with("RTL_CALLS", "Pop|^hipLaunch");
	CHECK(!filter_asks_for_part("push"));
	CHECK(filter_asks_for_part("thePop"));
}

TEST(parts_of_launches_are_asked_for_by_a_variable)
{
	with("RTL_INTERNAL", "1");
	CHECK(filter_asks_for_part("push"));
}

TEST(parts_of_launches_are_not_asked_for_without_options)
{
	env_init();
	filter_init();
	CHECK(!filter_asks_for_part("push"));
}
