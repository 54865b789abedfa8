/* SPDX-License-Identifier: MIT */
/* test_shared_calls.c - calls that read or change a shared signal find it completed with its
 * dispatch, as untraced */
#include <stdlib.h>

#include "event/life.h"
#include "source/hsa/queue/shared_calls.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

/* Every function that waits for the completers, grouped by signature. */
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

/* The GPU is as late as possible: it executes librtl's queue only when that queue's read index is
 * read. */
static void run_when_looked_at(const hsa_queue_t *handle)
{
	if (!((const struct fake_queue *)(const void *)handle)->is_ours || ++nr_looks < 3)
		return;
	fake.in_index = NULL;
	fake.hold_ours = false;
	fake_gpu_run_ours();
}

/* A signal of value 5 whose dispatch has completed, and which its barrier packet has not completed
 * yet. */
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

/* The value is `value` and stays so. */
static void check_value(hsa_signal_t s, int64_t value)
{
	CHECK_NULL((void *)fake.in_index);
	CHECK_EQ_INT(fake_signal_get(s), value);
	fake_gpu_run(q, UINT64_MAX);
	CHECK_EQ_INT(fake_signal_get(s), value);
	fake_harvest();
}

TEST(load_of_shared_signal_waits_for_completion)
{
	open_queue();
	for (unsigned i = 0; i < NR(loads); i++) {
		hsa_signal_t s = make_late();

		CHECK_EQ_INT(((hsa_signal_load_relaxed_fn_t)fake.core.entry[loads[i]])(s), 4);
		check_value(s, 4);
	}
}

TEST(wait_for_shared_signal_waits_for_completion)
{
	open_queue();
	for (unsigned i = 0; i < NR(waits); i++) {
		hsa_signal_t s = make_late();
		hsa_signal_wait_relaxed_fn_t fn =
			(hsa_signal_wait_relaxed_fn_t)fake.core.entry[waits[i]];

		/* timeout 0: the call only polls */
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

TEST(store_to_shared_signal_follows_completion)
{
	check_changes(stores, 9, 9);
}

TEST(and_on_shared_signal_follows_completion)
{
	check_changes(ands, 6, 4 & 6);
}

TEST(or_on_shared_signal_follows_completion)
{
	check_changes(ors, 1, 4 | 1);
}

TEST(xor_on_shared_signal_follows_completion)
{
	check_changes(xors, 1, 4 ^ 1);
}

TEST(exchange_of_shared_signal_follows_completion)
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

TEST(cas_of_shared_signal_follows_completion)
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

/* The order of an addition and the completion does not change the sum. */
TEST(add_to_shared_signal_does_not_wait)
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

TEST(destruction_of_shared_signal_follows_completion)
{
	open_queue();
	/* the fake GPU detects a write to a destroyed signal */
	fake_signal_destroy(make_late());
	fake_harvest();
	fake_gpu_run(q, UINT64_MAX);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
}

TEST(destroyed_queue_has_completed_its_shared_signals)
{
	hsa_signal_t s;

	open_queue();
	s = make_late();
	fake_queue_destroy(q);
	CHECK_EQ_INT(fake_signal_get(s), 4);
	CHECK_EQ_UINT(atomic_load(&fake.nr_own_queues), 0);
}

/* Programs do not wait for a doorbell's value. */
TEST(doorbell_store_does_not_wait)
{
	open_queue();
	make_late();
	fake_submit_dispatch(q, 7);
	CHECK_EQ_UINT(nr_looks, 0);
}

TEST(signal_of_running_dispatch_is_not_waited_for)
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

TEST(first_shared_signal_patches_the_tables)
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
	/* doorbells use the same functions as before */
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

TEST(function_of_another_tool_stays_in_the_table)
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

TEST(restarted_runtime_is_patched_again)
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

TEST(missing_functions_are_not_patched)
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
