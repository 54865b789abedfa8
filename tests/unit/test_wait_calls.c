/* SPDX-License-Identifier: MIT */
/* test_wait_calls.c - the calls by which a program learns that an operation has completed */
#include <pthread.h>

#include "source/hsa/completion/harvest.h"
#include "source/hsa/queue/queue.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

static struct fake_queue *queue;
static hsa_signal_t signal_0; /* has the value 0 */

/* Submits `n` dispatches and completes them; none is recorded yet. */
static void complete(uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++)
		fake_submit_dispatch(queue, i);
	for (uint32_t i = 0; i < n; i++)
		CHECK_EQ_UINT(fake_gpu_run(queue, 1), 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
}

static void open(uint32_t n)
{
	sink_record.pauses = true; /* as the recorder, so that waits record */
	fake_open(NULL, 74);
	queue = fake_queue_create(64);
	signal_0 = fake_signal(0);
	complete(n);
}

static void check_recorded(uint32_t n)
{
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), n);
}

TEST(load_of_completed_signal_records_what_completed)
{
	open(3);
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(signal_0), 0);
	check_recorded(3);
}

TEST(load_with_acquire_records_what_completed)
{
	open(3);
	CHECK_EQ_INT(FAKE_CORE(signal_load_scacquire)(signal_0), 0);
	check_recorded(3);
}

TEST(load_of_pending_signal_records_nothing)
{
	open(3);
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(fake_signal(1)), 1);
	check_recorded(0);
}

TEST(wait_that_is_met_records_what_completed)
{
	open(3);
	CHECK_EQ_INT(FAKE_CORE(signal_wait_scacquire)(signal_0, HSA_SIGNAL_CONDITION_LT, 1, 1,
						      HSA_WAIT_STATE_BLOCKED),
		     0);
	check_recorded(3);
}

TEST(wait_for_a_positive_value_records_what_completed)
{
	hsa_signal_t counts;

	open(3);
	counts = fake_signal(4);
	CHECK_EQ_INT(FAKE_CORE(signal_wait_relaxed)(counts, HSA_SIGNAL_CONDITION_GTE, 4, 1,
						    HSA_WAIT_STATE_ACTIVE),
		     4);
	check_recorded(3);
}

TEST(wait_that_times_out_records_nothing)
{
	open(3);
	CHECK_EQ_INT(FAKE_CORE(signal_wait_scacquire)(fake_signal(1), HSA_SIGNAL_CONDITION_EQ, 0, 1,
						      HSA_WAIT_STATE_ACTIVE),
		     1);
	check_recorded(0);
}

TEST(exchange_and_swap_of_completed_signal_record_what_completed)
{
	open(2);
	CHECK_EQ_INT(FAKE_CORE(signal_exchange_relaxed)(signal_0, 1), 0);
	check_recorded(2);
	CHECK_EQ_INT(FAKE_CORE(signal_cas_scacq_screl)(signal_0, 1, 0), 1);
}

TEST(unordered_dispatch_behind_pending_one_is_recorded)
{
	union fake_packet p;

	sink_record.pauses = true; /* as the recorder, so that waits record */
	fake_open(NULL, 74);
	queue = fake_queue_create(64);
	signal_0 = fake_signal(0);
	for (uint32_t i = 1; i <= 3; i++) {
		p = fake_dispatch(i, (hsa_signal_t){ 0 });
		p.header &= (uint16_t) ~(1u << HSA_PACKET_HEADER_BARRIER);
		fake_submit(queue, &p, 1);
	}
	/* the second completes before the first */
	fake_gpu_launch(queue, 3);
	fake_gpu_complete(queue, 1);
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(signal_0), 0);
	check_recorded(1);
}

TEST(call_within_a_hook_records_nothing)
{
	open(3);
	thread_get()->in_hook = true;
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(signal_0), 0);
	thread_get()->in_hook = false;
	check_recorded(0);
}

static void *load(void *arg)
{
	(void)arg;
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(signal_0), 0);
	return NULL;
}

TEST(load_returns_while_another_thread_holds_the_harvest_lock)
{
	struct queue *q;
	pthread_t thread;

	open(3);
	q = queue_find(&queue->hsa);
	queue_lock(q);
	CHECK_EQ_INT(pthread_create(&thread, NULL, load, NULL), 0);
	pthread_join(thread, NULL);
	check_recorded(0);
	queue_unlock(q);
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(signal_0), 0);
	check_recorded(3);
}

TEST(load_leaves_recording_to_the_harvester_where_a_sink_may_wait)
{
	fake_open(NULL, 74);
	queue = fake_queue_create(64);
	complete(3);
	CHECK_EQ_INT(FAKE_CORE(signal_load_relaxed)(fake_signal(0)), 0);
	check_recorded(0);
}

/* ---- handlers and waits for several signals, of a runtime that calls them at once ------------ */

static hsa_amd_signal_handler handler;
static void *handler_data;
static hsa_status_t handler_status;
static uint32_t any;

static hsa_status_t fake_async_handler(hsa_signal_t s, hsa_signal_condition_t condition,
				       hsa_signal_value_t value, hsa_amd_signal_handler fn,
				       void *data)
{
	(void)s;
	(void)condition;
	(void)value;
	handler = fn;
	handler_data = data;
	return handler_status;
}

static uint32_t fake_wait_any(uint32_t nr, hsa_signal_t *signals,
			      hsa_signal_condition_t *conditions, hsa_signal_value_t *compare,
			      uint64_t timeout, hsa_wait_state_t state, hsa_signal_value_t *value)
{
	(void)nr;
	(void)signals;
	(void)conditions;
	(void)compare;
	(void)timeout;
	(void)state;
	*value = 0;
	return any;
}

static void open_with_handlers(uint32_t n)
{
	sink_record.pauses = true;
	fake_setup(NULL);
	fake_build_tables(74);
	*hsa_table_amd_slot(&fake.amd, HSA_AMD_signal_async_handler) = (void *)fake_async_handler;
	*hsa_table_amd_slot(&fake.amd, HSA_AMD_signal_wait_any) = (void *)fake_wait_any;
	*hsa_table_amd_slot(&fake.amd, HSA_AMD_signal_wait_all) = (void *)fake_wait_any;
	handler_status = HSA_STATUS_SUCCESS;
	CHECK(table_take(&fake.root));
	queue = fake_queue_create(64);
	signal_0 = fake_signal(0);
	complete(n);
}

static uint32_t nr_handled;
static uint64_t nr_seen;

static bool handle(hsa_signal_value_t value, void *data)
{
	CHECK_EQ_INT(value, 0);
	CHECK_EQ_PTR(data, &nr_handled);
	nr_seen = sink_record_count(EVENT_DISPATCH);
	return ++nr_handled < 2;
}

static hsa_status_t add_handler(void)
{
	return FAKE_AMD(signal_async_handler)(signal_0, HSA_SIGNAL_CONDITION_LT, 1, handle,
					      &nr_handled);
}

TEST(handler_runs_after_what_completed_was_recorded)
{
	open_with_handlers(3);
	CHECK_EQ_INT(add_handler(), HSA_STATUS_SUCCESS);
	CHECK(handler(0, handler_data));
	CHECK_EQ_UINT(nr_seen, 3);
	CHECK(!handler(0, handler_data));
	CHECK_EQ_UINT(nr_handled, 2);
}

TEST(handler_that_has_returned_false_leaves_its_wrapper_to_the_next)
{
	void *first;

	open_with_handlers(1);
	CHECK_EQ_INT(add_handler(), HSA_STATUS_SUCCESS);
	first = handler_data;
	nr_handled = 1;
	CHECK(!handler(0, handler_data));
	CHECK_EQ_INT(add_handler(), HSA_STATUS_SUCCESS);
	CHECK_EQ_PTR(handler_data, first);
	CHECK_EQ_INT(add_handler(), HSA_STATUS_SUCCESS);
	CHECK(handler_data != first);
}

TEST(handler_that_the_runtime_refuses_returns_its_status)
{
	open_with_handlers(1);
	handler_status = HSA_STATUS_ERROR_INVALID_SIGNAL;
	CHECK_EQ_INT(add_handler(), HSA_STATUS_ERROR_INVALID_SIGNAL);
}

TEST(wait_for_any_signal_records_what_completed_when_one_has)
{
	hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_LT;
	hsa_signal_value_t one = 1, value;

	open_with_handlers(3);
	any = UINT32_MAX;
	CHECK_EQ_UINT(FAKE_AMD(signal_wait_any)(1, &signal_0, &condition, &one, 1,
						HSA_WAIT_STATE_ACTIVE, &value),
		      UINT32_MAX);
	check_recorded(0);
	any = 0;
	CHECK_EQ_UINT(FAKE_AMD(signal_wait_any)(1, &signal_0, &condition, &one, 1,
						HSA_WAIT_STATE_ACTIVE, &value),
		      0);
	check_recorded(3);
}

TEST(wait_for_all_signals_records_what_completed)
{
	hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_LT;
	hsa_signal_value_t one = 1, value;

	open_with_handlers(3);
	any = 0;
	CHECK_EQ_UINT(FAKE_AMD(signal_wait_all)(1, &signal_0, &condition, &one, 1,
						HSA_WAIT_STATE_ACTIVE, &value),
		      0);
	check_recorded(3);
}
