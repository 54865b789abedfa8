/* SPDX-License-Identifier: MIT */
/* test_shared_calls.c - what reads or changes a signal finds it as it is untraced: completed with its dispatch */
#include <stdlib.h>

#include "event/life.h"
#include "source/hsa/queue/shared_calls.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

/* Every function that waits for the queues of ours, by how it is called. */
static const enum hsa_core_id loads[] = { HSA_CORE_signal_load_relaxed,
					  HSA_CORE_signal_load_scacquire };
static const enum hsa_core_id waits[] = { HSA_CORE_signal_wait_relaxed,
					  HSA_CORE_signal_wait_scacquire };
static const enum hsa_core_id stores[] = { HSA_CORE_signal_store_relaxed,
					   HSA_CORE_signal_store_screlease,
					   HSA_CORE_signal_silent_store_relaxed,
					   HSA_CORE_signal_silent_store_screlease };
static const enum hsa_core_id ands[] = { HSA_CORE_signal_and_relaxed, HSA_CORE_signal_and_scacquire,
					 HSA_CORE_signal_and_screlease,
					 HSA_CORE_signal_and_scacq_screl };
static const enum hsa_core_id ors[] = { HSA_CORE_signal_or_relaxed, HSA_CORE_signal_or_scacquire,
					HSA_CORE_signal_or_screlease,
					HSA_CORE_signal_or_scacq_screl };
static const enum hsa_core_id xors[] = { HSA_CORE_signal_xor_relaxed, HSA_CORE_signal_xor_scacquire,
					 HSA_CORE_signal_xor_screlease,
					 HSA_CORE_signal_xor_scacq_screl };
static const enum hsa_core_id exchanges[] = { HSA_CORE_signal_exchange_relaxed,
					      HSA_CORE_signal_exchange_scacquire,
					      HSA_CORE_signal_exchange_screlease,
					      HSA_CORE_signal_exchange_scacq_screl };
static const enum hsa_core_id swaps[] = { HSA_CORE_signal_cas_relaxed,
					  HSA_CORE_signal_cas_scacquire,
					  HSA_CORE_signal_cas_screlease,
					  HSA_CORE_signal_cas_scacq_screl };
#define NR(a) (sizeof(a) / sizeof((a)[0]))

static struct fake_queue *q;
static unsigned nr_looks;

/* The GPU is as late as can be: it runs our queue once somebody looks at that queue's read index. */
static void run_when_looked_at(const hsa_queue_t *handle)
{
	if (!((const struct fake_queue *)(const void *)handle)->is_ours || ++nr_looks < 3)
		return;
	fake.in_index = NULL;
	fake.hold_ours = false;
	fake_gpu_run_ours();
}

/* A signal of value 5 whose dispatch has completed, while nobody has completed it yet. */
static hsa_signal_t make_late(void)
{
	hsa_signal_t s = fake_signal(5);
	union fake_packet p = fake_dispatch(1, s);

	fake.in_index = NULL;
	fake.hold_ours = true;
	fake_submit(q, &p, 1);
	fake_gpu_run(q, 1);
	CHECK_EQ_INT(fake_signal_get(s), 5);
	nr_looks = 0;
	fake.in_index = run_when_looked_at;
	return s;
}

static void open_queue(void)
{
	fake_open(NULL, 0);
	q = fake_queue_create(64);
}

/* The value is `value` for good. */
static void check_value(hsa_signal_t s, int64_t value)
{
	CHECK_NULL((void *)fake.in_index);
	CHECK_EQ_INT(fake_signal_get(s), value);
	fake_gpu_run(q, UINT64_MAX);
	CHECK_EQ_INT(fake_signal_get(s), value);
	fake_harvest();
}

TEST(load_of_a_shared_signal_waits_for_its_completion)
{
	open_queue();
	for (unsigned i = 0; i < NR(loads); i++) {
		hsa_signal_t s = make_late();

		CHECK_EQ_INT(((hsa_signal_load_relaxed_fn_t)fake.core.entry[loads[i]])(s), 4);
		check_value(s, 4);
	}
}

TEST(wait_of_a_shared_signal_waits_for_its_completion)
{
	open_queue();
	for (unsigned i = 0; i < NR(waits); i++) {
		hsa_signal_t s = make_late();
		hsa_signal_wait_relaxed_fn_t fn =
			(hsa_signal_wait_relaxed_fn_t)fake.core.entry[waits[i]];

		/* a time of 0: it only looks */
		CHECK_EQ_INT(fn(s, HSA_SIGNAL_CONDITION_LT, 5, 0, HSA_WAIT_STATE_BLOCKED), 4);
		check_value(s, 4);
	}
}

static void check_changes(const enum hsa_core_id *ids, int64_t operand, int64_t value)
{
	open_queue();
	for (unsigned i = 0; i < 4; i++) {
		hsa_signal_t s = make_late();

		((hsa_signal_store_relaxed_fn_t)fake.core.entry[ids[i]])(s, operand);
		check_value(s, value);
	}
}

TEST(store_to_a_shared_signal_comes_after_its_completion)
{
	check_changes(stores, 9, 9);
}

TEST(and_of_a_shared_signal_comes_after_its_completion)
{
	check_changes(ands, 6, 4 & 6);
}

TEST(or_of_a_shared_signal_comes_after_its_completion)
{
	check_changes(ors, 1, 4 | 1);
}

TEST(xor_of_a_shared_signal_comes_after_its_completion)
{
	check_changes(xors, 1, 4 ^ 1);
}

TEST(exchange_of_a_shared_signal_comes_after_its_completion)
{
	open_queue();
	for (unsigned i = 0; i < NR(exchanges); i++) {
		hsa_signal_t s = make_late();
		hsa_signal_exchange_relaxed_fn_t fn =
			(hsa_signal_exchange_relaxed_fn_t)fake.core.entry[exchanges[i]];

		CHECK_EQ_INT(fn(s, 9), 4);
		check_value(s, 9);
	}
}

TEST(cas_of_a_shared_signal_comes_after_its_completion)
{
	open_queue();
	for (unsigned i = 0; i < NR(swaps); i++) {
		hsa_signal_t s = make_late();
		hsa_signal_cas_relaxed_fn_t fn =
			(hsa_signal_cas_relaxed_fn_t)fake.core.entry[swaps[i]];

		CHECK_EQ_INT(fn(s, 5, 9), 4);
		CHECK_EQ_INT(fn(s, 4, 9), 4);
		check_value(s, 9);
	}
}

/* Whatever is added to it meanwhile, the sum is the same. */
TEST(add_to_a_shared_signal_waits_for_nothing)
{
	hsa_signal_t s;

	open_queue();
	s = make_late();
	FAKE_CORE(signal_add_relaxed)(s, 10);
	FAKE_CORE(signal_subtract_scacq_screl)(s, 3);
	CHECK_EQ_UINT(nr_looks, 0);
	CHECK_EQ_INT(fake_signal_get(s), 12);
	fake.hold_ours = false;
	fake_gpu_run_ours();
	CHECK_EQ_INT(fake_signal_get(s), 11);
}

TEST(destruction_of_a_shared_signal_comes_after_its_completion)
{
	open_queue();
	/* the fake GPU notices a signal that is no more */
	fake_signal_destroy(make_late());
	fake_harvest();
	fake_gpu_run(q, UINT64_MAX);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
}

TEST(destruction_of_a_queue_completes_its_shared_signals)
{
	hsa_signal_t s;

	open_queue();
	s = make_late();
	fake_queue_destroy(q);
	CHECK_EQ_INT(fake_signal_get(s), 4);
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 0);
}

/* A doorbell is no signal that anybody waits for. */
TEST(doorbell_waits_for_nothing)
{
	open_queue();
	make_late();
	fake_submit_dispatch(q, 7);
	CHECK_EQ_UINT(nr_looks, 0);
}

TEST(signal_whose_dispatch_runs_is_not_waited_for)
{
	hsa_signal_t s = fake_signal(5);
	union fake_packet p = fake_dispatch(1, s);

	open_queue();
	fake_submit(q, &p, 1);
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(s), 5);
	fake_gpu_run(q, 1);
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(s), 4);
}

/* ---- the tables ------------------------------------------------------------------------------ */

TEST(functions_are_put_into_the_tables_by_the_first_shared_signal)
{
	void *before[HSA_CORE_NR], *found[HSA_CORE_NR];
	unsigned changed = 0;
	hsa_signal_t s;

	fake_setup(NULL);
	fake_build_tables(48);
	memcpy(found, fake.core.entry, sizeof(found));
	CHECK(table_take(&fake.root));
	memcpy(before, fake.core.entry, sizeof(before));
	q = fake_queue_create(64);
	fake_submit_dispatch(q, 1);
	CHECK_MEM_EQ(fake.core.entry, before, sizeof(before));
	s = make_late();
	fake.in_index = NULL;
	for (unsigned i = 0; i < HSA_CORE_NR; i++)
		changed += fake.core.entry[i] != before[i];
	CHECK_EQ_UINT(changed, NR(loads) + NR(waits) + 6 * 4);
	CHECK_EQ_PTR(fake.core.entry[HSA_CORE_signal_add_relaxed],
		     before[HSA_CORE_signal_add_relaxed]);
	/* doorbells go the same way as before */
	fake_submit_dispatch(q, 2);
	fake.hold_ours = false;
	fake_run_all(q);
	CHECK_EQ_INT(fake_signal_get(s), 4);
	setenv("RTL_DRAIN_MS", "1", 1);
	table_drop();
	CHECK_MEM_EQ(fake.core.entry, found, sizeof(found));
}

static hsa_signal_value_t others_load(hsa_signal_t s)
{
	return fake_signal_get(s) + 100;
}

TEST(function_that_another_tool_puts_in_front_stays_there)
{
	hsa_signal_t s;

	open_queue();
	make_late();
	fake.in_index = NULL;
	fake.core.entry[HSA_CORE_signal_load_relaxed] = (void *)others_load;
	setenv("RTL_DRAIN_MS", "1", 1);
	table_drop();
	CHECK_EQ_PTR(fake.core.entry[HSA_CORE_signal_load_relaxed], (void *)others_load);
	s = fake_signal(1);
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(s), 101);
}

TEST(functions_come_back_with_the_runtime)
{
	hsa_signal_t s;

	setenv("RTL_DRAIN_MS", "1", 1);
	open_queue();
	make_late();
	fake.in_index = NULL;
	table_drop();
	fake_build_tables(48);
	CHECK(table_take(&fake.root));
	q = fake_queue_create(64);
	s = make_late();
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(s), 4);
}

TEST(runtime_without_some_of_the_functions_is_fine)
{
	hsa_signal_t s;

	fake_setup(NULL);
	fake_build_tables(48);
	fake.core.entry[HSA_CORE_signal_xor_relaxed] = NULL;
	fake.core.version.minor_id = 16 + 8 * HSA_CORE_signal_silent_store_relaxed;
	CHECK(table_take(&fake.root));
	q = fake_queue_create(64);
	s = make_late();
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(s), 4);
	CHECK_NULL(fake.core.entry[HSA_CORE_signal_xor_relaxed]);
}
