/* SPDX-License-Identifier: MIT */
/* test_code_object.c - from a packet's kernel object to the kernel it meant at submission */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/env.h"
#include "event/filter.h"
#include "source/hsa/agent.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

static const struct fake_symbol one[] = { { "_Z3onev.kd", 0x4000, 1 },
					  { "a_variable", 0, 1 },
					  { "_Z5one_bv.kd", 0x4100, 1 } };
static const struct fake_symbol two[] = { { "_Z3twov.kd", 0x4000, 2 } };

static hsa_status_t freeze(hsa_executable_t ex)
{
	return ((hsa_executable_freeze_fn_t)fake.core.entry[86])(ex, NULL);
}

static hsa_status_t destroy(hsa_executable_t ex)
{
	return ((hsa_executable_destroy_fn_t)fake.core.entry[84])(ex);
}

static const struct event_kernel *kernel(uint64_t i)
{
	const struct event *ev = sink_record_at(EVENT_KERNEL, i);

	CHECK_NOT_NULL(ev);
	return &ev->kernel;
}

/* The kernel id of the dispatch with test id `id`. */
static uint32_t kernel_of(uint32_t id)
{
	for (uint64_t i = 0;; i++) {
		const struct event *ev = sink_record_at(EVENT_DISPATCH, i);

		CHECK_MSG(ev != NULL, "dispatch %u is missing", id);
		if (ev->dispatch.grid[0] == id)
			return ev->dispatch.kernel;
	}
}

TEST(frozen_executable_emits_its_kernels)
{
	const struct event_code_object *o;

	fake_open(NULL, 0);
	CHECK_EQ_INT(freeze(fake_executable(one, 3)), HSA_STATUS_SUCCESS);
	CHECK_EQ_UINT(sink_record_count(EVENT_KERNEL), 2); /* a variable is not a kernel */
	CHECK_EQ_UINT(sink_record_count(EVENT_CODE_OBJECT), 1);
	o = &sink_record_at(EVENT_CODE_OBJECT, 0)->code_object;
	CHECK_STR_EQ(sink_record_string(o->uri), "file:///a.co");
	CHECK_EQ_UINT(o->agent, 1);
	CHECK_STR_EQ(sink_record_string(kernel(0)->name), "_Z3onev.kd");
	CHECK_STR_EQ(sink_record_string(kernel(1)->name), "_Z5one_bv.kd");
	CHECK_EQ_UINT(kernel(0)->object, 0x4000);
	CHECK_EQ_UINT(kernel(0)->agent, 1);
	CHECK_EQ_UINT(kernel(0)->code_object, o->id);
	CHECK_EQ_UINT(kernel(0)->kernarg_size, 8);
	CHECK_EQ_UINT(kernel(0)->rsrc1, 0x11);
	CHECK_EQ_UINT(kernel(0)->rsrc2, 0x22);
	CHECK_EQ_UINT(kernel(0)->rsrc3, 0x33);
}

TEST(kernels_are_left_out_while_they_are_loaded)
{
	hsa_executable_t ex = fake_executable(one, 3);

	setenv("RTL_KERNELS", "one_b", 1);
	env_init();
	filter_init();
	fake_open(NULL, 0);
	CHECK(code_object_is_left_out(0x4000));
	CHECK_EQ_INT(freeze(ex), HSA_STATUS_SUCCESS);
	CHECK(code_object_is_left_out(kernel(0)->object));
	CHECK(!code_object_is_left_out(kernel(1)->object));
	code_object_unload(ex);
	CHECK(code_object_is_left_out(kernel(1)->object));
}

TEST(reused_address_is_new_kernel_for_new_dispatches_only)
{
	struct fake_queue *q;
	hsa_executable_t ex;

	fake_open(NULL, 0);
	q = fake_queue_create(64);
	ex = fake_executable(one, 3);
	freeze(ex);
	fake_submit_dispatch(q, 1);
	fake_submit_dispatch(q, 2);
	fake_gpu_run(q, 1);
	fake_harvest(); /* 1 before, 2 after the address is reused */
	destroy(ex);
	CHECK_EQ_UINT(sink_record_count(EVENT_CODE_OBJECT_END), 1);
	freeze(fake_executable(two, 1));
	fake_submit_dispatch(q, 3);
	fake_gpu_run(q, 2);
	fake_harvest();
	CHECK_STR_EQ(sink_record_kernel(kernel_of(1)), "_Z3onev.kd");
	CHECK_STR_EQ(sink_record_kernel(kernel_of(2)), "_Z3onev.kd");
	CHECK_STR_EQ(sink_record_kernel(kernel_of(3)), "_Z3twov.kd");
	CHECK_EQ_UINT(kernel_of(1), kernel_of(2));
	CHECK_NE_UINT(kernel_of(1), kernel_of(3));
}

TEST(unknown_kernel_gets_a_name_and_one_id)
{
	struct fake_queue *q[2];
	uint32_t id;

	fake_open(NULL, 0);
	q[0] = fake_queue_create(64);
	q[1] = fake_queue_create(64);
	for (uint32_t i = 0; i < 10; i++) {
		fake_submit_dispatch(q[i % 2], i);
		freeze(fake_executable(one + 2, 1)); /* another executable is loaded meanwhile */
	}
	/* the later ones complete first */
	fake_gpu_launch(q[0], 5);
	for (uint64_t hw = 5; hw-- > 0;) {
		fake_gpu_complete(q[0], hw);
		fake_harvest();
	}
	fake_gpu_run(q[1], 5);
	fake_harvest();
	id = kernel_of(0);
	CHECK_STR_EQ(sink_record_kernel(id), "[kernel 0x4000]");
	for (uint32_t i = 1; i < 10; i++)
		CHECK_EQ_UINT(kernel_of(i), id);
	CHECK_EQ_UINT(sink_record_kernel_count(id), 1);
}

TEST(unknown_kernel_loaded_later_gets_new_id)
{
	struct fake_queue *q;

	fake_open(NULL, 0);
	q = fake_queue_create(64);
	fake_submit_dispatch(q, 1);
	freeze(fake_executable(two, 1));
	fake_submit_dispatch(q, 2);
	fake_gpu_run(q, 2);
	fake_harvest();
	CHECK_STR_EQ(sink_record_kernel(kernel_of(1)), "[kernel 0x4000]");
	CHECK_STR_EQ(sink_record_kernel(kernel_of(2)), "_Z3twov.kd");
}

TEST(address_between_unload_and_load_is_unknown)
{
	struct fake_queue *q;
	hsa_executable_t ex;

	fake_open(NULL, 0);
	q = fake_queue_create(64);
	ex = fake_executable(two, 1);
	freeze(ex);
	destroy(ex);
	fake_submit_dispatch(q, 1);
	freeze(fake_executable(one, 1));
	fake_submit_dispatch(q, 2);
	fake_gpu_run(q, 2);
	fake_harvest();
	CHECK_STR_EQ(sink_record_kernel(kernel_of(1)), "[kernel 0x4000]");
	CHECK_STR_EQ(sink_record_kernel(kernel_of(2)), "_Z3onev.kd");
}

TEST(each_of_1000_reloads_gets_its_own_id)
{
	uint32_t last = 0;

	fake_open(NULL, 0);
	for (int i = 0; i < 1000; i++) {
		hsa_executable_t ex = fake_executable(one, 3);

		freeze(ex);
		CHECK_GT_UINT(code_object_kernel(0x4000, code_object_now(), 1, false), last);
		last = code_object_kernel(0x4000, code_object_now(), 1, false);
		destroy(ex);
	}
	CHECK_EQ_UINT(sink_record_count(EVENT_KERNEL), 2000);
	CHECK_EQ_UINT(sink_record_count(EVENT_CODE_OBJECT_END), 1000);
}

static char long_name[20000];

TEST(long_kernel_name_is_not_truncated)
{
	struct fake_symbol s[2] = { { long_name, 0x9000, 1 }, { long_name + 3617, 0x9100, 1 } };

	memset(long_name, 'x', sizeof(long_name) - 1);
	fake_open(NULL, 0);
	freeze(fake_executable(s, 2));
	CHECK_STR_EQ(sink_record_string(kernel(0)->name), long_name);
	CHECK_STR_EQ(sink_record_string(kernel(1)->name), long_name + 3617);
}

static _Atomic bool done;

static void *look_up(void *arg)
{
	(void)arg;
	while (!atomic_load(&done)) {
		uint32_t id = code_object_kernel(0x4000, code_object_now(), 1, false);

		CHECK_NE_UINT(id, 0);
		CHECK_NE_UINT(code_object_kernel(0x4100, code_object_now(), 1, false), id);
	}
	return NULL;
}

TEST(kernels_are_looked_up_while_others_are_loaded_and_unloaded)
{
	pthread_t threads[2];

	fake_open(NULL, 0);
	for (int i = 0; i < 2; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, look_up, NULL));
	for (int i = 0; i < 2000; i++) {
		hsa_executable_t ex = fake_executable(one, 3);

		freeze(ex);
		destroy(ex);
	}
	atomic_store(&done, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}
