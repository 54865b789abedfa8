/* SPDX-License-Identifier: MIT */
/* test_interpose.c - the program's indices and the hardware's: which packets are submitted, and
 * when
 *
 * The fake GPU checks each store to the doorbell (fake_hsa.h), so most tests only check how many
 * packets arrived.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/testpoint.h"
#include "event/life.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/table/table.h"
#include "support/fake_hsa.h"
#include "support/sink_record.h"
#include "support/test.h"

#ifdef RTL_SANITIZE_THREAD
#define SCALE 5
#else
#define SCALE 1
#endif

static const hsa_signal_t none;

/* Makes dispatch `index` valid; its id is its index. */
static void publish(struct fake_queue *q, uint64_t index)
{
	union fake_packet p = fake_dispatch((uint32_t)index, none);

	fake_publish(q, index, &p);
}

static void publish_all(struct fake_queue *q, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		publish(q, from);
}

/* The hardware got `n` packets in all, and was not rung for more. */
static void check_given(struct fake_queue *q, uint64_t n)
{
	uint64_t rings = atomic_load(&q->nr_rings);

	CHECK_EQ_UINT(fake_write_index(q), n);
	CHECK_EQ_UINT(atomic_load(&q->announced), n);
	if (n && rings)
		CHECK_EQ_INT(fake_ring_at(q, rings - 1).value, n - 1);
}

/* All of [0, n) were executed and recorded with their index, and nothing was lost. */
static void check_all(struct fake_queue *q, uint32_t n)
{
	check_given(q, n);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), n);
	fake_check_dispatches(0, n, 0, 0xffff);
	for (uint32_t i = 0; i < n; i++) {
		const struct event_dispatch *d = &sink_record_at(EVENT_DISPATCH, i)->dispatch;

		CHECK_EQ_UINT(d->packet, d->grid[0]);
	}
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

static struct fake_queue *open_queue(uint32_t size)
{
	fake_open(NULL, 0);
	return fake_queue_create(size);
}

/* ---- reserve, publish, ring ------------------------------------------------------------------ */

TEST(packet_is_submitted_at_its_doorbell)
{
	struct fake_queue *q = open_queue(64);

	for (uint64_t i = 0; i < 10; i++) {
		CHECK_EQ_UINT(fake_reserve(q, 1), i);
		check_given(q, i);
		publish(q, i);
		check_given(q, i);
		fake_ring(q, i);
		check_given(q, i + 1);
	}
	check_all(q, 10);
}

/* From now on the fake runtime fails the test where the GPU gets work before the life thread is
 * woken. */
static void fall_asleep(void)
{
	fake.wake_first = true;
	atomic_store(&life_sleeping, LIFE_DEEP);
}

TEST(harvester_is_woken_before_doorbell)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, 1);
	publish(q, 0);
	fall_asleep();
	fake_ring(q, 0);
	CHECK_EQ_UINT(atomic_load(&life_sleeping), LIFE_AWAKE);
	/* several packets at one doorbell */
	fake_reserve(q, 5);
	publish_all(q, 1, 6);
	fall_asleep();
	fake_ring(q, 5);
	CHECK_EQ_UINT(atomic_load(&life_sleeping), LIFE_AWAKE);
	/* a second queue, whose handles are not the last used */
	q = fake_queue_create(64);
	fake_reserve(q, 1);
	publish(q, 0);
	fall_asleep();
	fake_ring(q, 0);
	CHECK_EQ_UINT(atomic_load(&life_sleeping), LIFE_AWAKE);
}

TEST(program_loads_its_own_write_index)
{
	struct fake_queue *q = open_queue(64);

	CHECK_EQ_UINT(fake_reserve(q, 5), 0);
	CHECK_EQ_UINT(FAKE_CORE(queue_load_write_index_relaxed)(&q->hsa), 5);
	CHECK_EQ_UINT(FAKE_CORE(queue_load_write_index_scacquire)(&q->hsa), 5);
	check_given(q, 0);
	publish_all(q, 0, 5);
	fake_ring(q, 4);
	CHECK_EQ_UINT(FAKE_CORE(queue_load_write_index_relaxed)(&q->hsa), 5);
	check_all(q, 5);
}

TEST(unreserved_packet_is_not_submitted)
{
	struct fake_queue *q = open_queue(64);

	CHECK_EQ_UINT(fake_reserve(q, 1), 0);
	publish_all(q, 0, 2);
	fake_ring(q, 0);
	check_given(q, 1);
	fake_harvest();
	check_given(q, 1);
	CHECK_EQ_UINT(fake_reserve(q, 1), 1);
	fake_ring(q, 1);
	check_all(q, 2);
}

TEST(unpublished_packet_holds_back_later_packets)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, 3);
	publish_all(q, 1, 3);
	fake_ring(q, 2);
	check_given(q, 0);
	CHECK_EQ_UINT(atomic_load(&q->nr_rings), 0);
	publish(q, 0);
	fake_ring(q, 0);
	check_given(q, 3);
	check_all(q, 3);
}

TEST(packets_published_out_of_order_are_submitted_in_order)
{
	struct fake_queue *q = open_queue(64);

	for (int i = 0; i < 4; i++)
		fake_reserve(q, 1);
	publish(q, 2);
	fake_ring(q, 2);
	check_given(q, 0);
	publish(q, 0);
	fake_ring(q, 0);
	check_given(q, 1);
	publish(q, 3);
	fake_ring(q, 3);
	check_given(q, 1);
	publish(q, 1);
	fake_ring(q, 1);
	check_all(q, 4);
}

TEST(batch_of_reservations_needs_one_doorbell)
{
	struct fake_queue *q = open_queue(64);

	CHECK_EQ_UINT(fake_reserve(q, 10), 0);
	CHECK_EQ_UINT(fake_reserve(q, 10), 10);
	publish_all(q, 0, 20);
	check_given(q, 0);
	fake_ring(q, 19);
	check_all(q, 20);
	CHECK_EQ_UINT(atomic_load(&q->nr_rings), 1);
}

TEST(packets_without_doorbell_are_not_submitted)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, 10);
	publish_all(q, 0, 10);
	fake_harvest();
	check_given(q, 0);
	fake_ring(q, 9);
	check_all(q, 10);
}

TEST(long_batch_is_submitted_in_chunks)
{
	static const int64_t expected[] = { 31, 63, 95, 99 };
	struct fake_queue *q = open_queue(128);

	fake_reserve(q, 100);
	publish_all(q, 0, 100);
	fake_ring(q, 99);
	CHECK_EQ_UINT(atomic_load(&q->nr_rings), 4);
	for (uint64_t i = 0; i < 4; i++)
		CHECK_EQ_INT(fake_ring_at(q, i).value, expected[i]);
	check_all(q, 100);
}

TEST(batch_of_exact_chunks_rings_once_for_each_chunk)
{
	struct fake_queue *q = open_queue(128);

	fake_reserve(q, 64);
	publish_all(q, 0, 64);
	fake_ring(q, 63);
	CHECK_EQ_UINT(atomic_load(&q->nr_rings), 2);
	check_all(q, 64);
}

/* ---- doorbells with values of all kinds ------------------------------------------------------ */

TEST(doorbell_with_old_value_submits_valid_packets)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, 4);
	publish_all(q, 0, 4);
	fake_ring(q, 0);
	check_given(q, 4);
	fake_ring(q, 1); /* nothing new: the hardware's doorbell is not rung */
	CHECK_EQ_UINT(atomic_load(&q->nr_rings), 1);
	check_all(q, 4);
}

TEST(doorbell_with_future_value_submits_valid_packets_only)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, 1);
	publish(q, 0);
	fake_ring(q, 2);
	check_given(q, 1);
	/* the announced packet follows without a doorbell of its own */
	CHECK_EQ_UINT(fake_reserve(q, 2), 1);
	fake_tick(1);
	check_given(q, 1);
	publish(q, 1);
	fake_tick(1);
	check_given(q, 2);
	publish(q, 2);
	fake_tick(1);
	check_all(q, 3);
}

TEST(packet_published_after_its_doorbell_is_submitted_by_harvester)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, 1);
	fake_ring(q, 0);
	fake_tick(1);
	check_given(q, 0);
	publish(q, 0);
	check_given(q, 0);
	fake_tick(1);
	check_all(q, 1);
}

TEST(packet_reserved_after_its_doorbell_is_submitted_by_harvester)
{
	struct fake_queue *q = open_queue(64);

	fake_ring(q, 0);
	fake_tick(1);
	CHECK_EQ_UINT(fake_reserve(q, 1), 0);
	publish(q, 0);
	fake_tick(1);
	check_all(q, 1);
}

TEST(harvester_polls_often_while_announced_packet_is_missing)
{
	struct fake_queue *q = open_queue(64);
	uint64_t now = clock_now_ns();

	fake_reserve(q, 2);
	publish(q, 1);
	fake_ring(q, 1);
	CHECK_LE_UINT(harvest_source.tick(now), 20000);
	publish(q, 0);
	CHECK_GT_UINT(harvest_source.tick(now + 1), 20000);
	check_given(q, 2);
	/* packets that are not even reserved are no reason to poll often */
	fake_ring(q, 50);
	CHECK_GT_UINT(harvest_source.tick(now + 2), 20000);
	check_all(q, 2);
}

TEST(packet_of_stalled_producer_is_submitted_by_harvester)
{
	struct fake_queue *q = open_queue(64);

	CHECK_EQ_UINT(fake_reserve(q, 1), 0); /* and stalls before publishing */
	CHECK_EQ_UINT(fake_reserve(q, 1), 1);
	publish(q, 1);
	fake_ring(q, 1);
	fake_tick(1);
	check_given(q, 0);
	publish(q, 0);
	fake_tick(1);
	check_all(q, 2);
}

TEST(hardware_doorbell_never_gets_the_programs_value)
{
	static const int64_t values[] = { -1, 0, 1, 5, 63, 1 << 20, INT64_MAX, INT64_MIN, -2 };
	struct fake_queue *q = open_queue(64);
	uint32_t n = 0;

	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++, n++) {
			CHECK_EQ_UINT(fake_reserve(q, 1), n);
			publish(q, n);
			fake_ring(q, (uint64_t)values[i]);
			fake_tick(1);
			check_given(q, n + 1);
			fake_gpu_run(q, UINT64_MAX);
		}
	}
	check_all(q, n);
}

/* ---- every function that reserves, and every one that rings ---------------------------------- */

static const enum hsa_core_id adds[] = { HSA_CORE_queue_add_write_index_relaxed,
					 HSA_CORE_queue_add_write_index_scacquire,
					 HSA_CORE_queue_add_write_index_screlease,
					 HSA_CORE_queue_add_write_index_scacq_screl };
static const enum hsa_core_id swaps[] = { HSA_CORE_queue_cas_write_index_relaxed,
					  HSA_CORE_queue_cas_write_index_scacquire,
					  HSA_CORE_queue_cas_write_index_screlease,
					  HSA_CORE_queue_cas_write_index_scacq_screl };
static const enum hsa_core_id stores[] = { HSA_CORE_queue_store_write_index_relaxed,
					   HSA_CORE_queue_store_write_index_screlease };
static const enum hsa_core_id doorbells[] = { HSA_CORE_signal_store_relaxed,
					      HSA_CORE_signal_store_screlease,
					      HSA_CORE_signal_silent_store_relaxed,
					      HSA_CORE_signal_silent_store_screlease };

static void ring_by(struct fake_queue *q, enum hsa_core_id id, uint64_t value)
{
	hsa_signal_store_relaxed_fn_t fn = (hsa_signal_store_relaxed_fn_t)fake.core.entry[id];

	fn(q->hsa.doorbell_signal, (hsa_signal_value_t)value);
}

TEST(every_doorbell_function_submits)
{
	struct fake_queue *q = open_queue(64);

	for (uint64_t i = 0; i < 4; i++) {
		fake_reserve(q, 1);
		publish(q, i);
		ring_by(q, doorbells[i], i);
		check_given(q, i + 1);
		/* release, so that the packets come first, for every memory order that the program
		 * used */
		CHECK_EQ_INT(fake_ring_at(q, i).how, HSA_CORE_signal_store_screlease);
	}
	check_all(q, 4);
}

TEST(stores_to_other_signals_are_passed_on)
{
	hsa_signal_t s;

	open_queue(64);
	s = fake_signal(0);
	for (int i = 0; i < 4; i++) {
		((hsa_signal_store_relaxed_fn_t)fake.core.entry[doorbells[i]])(s, i + 1);
		CHECK_EQ_INT(fake_signal_get(s), i + 1);
	}
}

TEST(every_add_function_reserves)
{
	struct fake_queue *q = open_queue(64);

	for (uint64_t i = 0; i < 4; i++) {
		hsa_queue_add_write_index_relaxed_fn_t fn =
			(hsa_queue_add_write_index_relaxed_fn_t)fake.core.entry[adds[i]];

		CHECK_EQ_UINT(fn(&q->hsa, 3), 3 * i);
		publish_all(q, 3 * i, 3 * i + 3);
		fake_ring(q, 3 * i + 2);
	}
	check_all(q, 12);
}

TEST(every_cas_function_reserves_or_returns_the_index)
{
	struct fake_queue *q = open_queue(64);

	for (uint64_t i = 0; i < 4; i++) {
		hsa_queue_cas_write_index_relaxed_fn_t fn =
			(hsa_queue_cas_write_index_relaxed_fn_t)fake.core.entry[swaps[i]];

		CHECK_EQ_UINT(fn(&q->hsa, 2 * i + 1, 2 * i + 3), 2 * i);
		CHECK_EQ_UINT(fn(&q->hsa, 2 * i, 2 * i + 2), 2 * i);
		CHECK_EQ_UINT(fn(&q->hsa, 2 * i, 2 * i + 2), 2 * i + 2);
		check_given(q, 2 * i);
		publish_all(q, 2 * i, 2 * i + 2);
		fake_ring(q, 2 * i + 1);
	}
	check_all(q, 8);
}

/* One producer that counts by itself: it stores the index before the packet, or after it. */
TEST(every_store_function_reserves)
{
	struct fake_queue *q = open_queue(64);
	uint64_t n = 0;

	for (unsigned i = 0; i < 2; i++) {
		hsa_queue_store_write_index_relaxed_fn_t fn =
			(hsa_queue_store_write_index_relaxed_fn_t)fake.core.entry[stores[i]];

		fn(&q->hsa, n + 1);
		publish(q, n);
		fake_ring(q, n);
		check_given(q, ++n);
		publish_all(q, n, n + 3);
		check_given(q, n);
		fn(&q->hsa, n + 3);
		check_given(q, n);
		fake_ring(q, n + 2);
		check_given(q, n += 3);
		CHECK_EQ_UINT(FAKE_CORE(queue_load_write_index_relaxed)(&q->hsa), n);
	}
	check_all(q, (uint32_t)n);
}

/* ---- the ring wraps around, and is full ------------------------------------------------------ */

TEST(wrapped_ring_loses_no_dispatch)
{
	struct fake_queue *q = open_queue(64);
	uint32_t n = 0;

	for (unsigned round = 0; round < 300; round++) {
		uint32_t some = 1 + round % 64;

		fake_reserve(q, some);
		publish_all(q, n, n + some);
		n += some;
		fake_ring(q, n - 1);
		check_given(q, n);
		fake_gpu_run(q, UINT64_MAX);
		if (round % 7 == 0)
			fake_tick(1);
	}
	check_all(q, n);
}

/* Producers reserve before slots are free: those slots contain valid packets of the previous round.
 */
TEST(stale_packets_of_full_ring_are_not_submitted)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, 64);
	publish_all(q, 0, 64);
	fake_ring(q, 63);
	check_given(q, 64);
	CHECK_EQ_UINT(fake_reserve(q, 10), 64);
	fake_ring(q, 73);
	fake_tick(1);
	check_given(q, 64);
	/* some slots are free, and the others still contain packets of the previous round */
	fake_gpu_run(q, 5);
	fake_ring(q, 73);
	fake_tick(1);
	check_given(q, 64);
	publish_all(q, 64, 69);
	fake_ring(q, 68);
	check_given(q, 69);
	fake_gpu_run(q, UINT64_MAX);
	publish_all(q, 69, 74);
	fake_tick(1); /* announced before */
	check_all(q, 74);
}

/* The processor has freed a slot, and the program's write index is more than a ring ahead. */
TEST(reservations_of_several_rounds_wait_for_their_slots)
{
	struct fake_queue *q = open_queue(64);

	CHECK_EQ_UINT(fake_reserve(q, 64 * 4), 0);
	for (uint64_t i = 0; i < 256; i++) {
		publish(q, i);
		fake_ring(q, 255);
		check_given(q, i + 1);
		fake_gpu_run(q, 1);
	}
	check_all(q, 256);
}

TEST(ring_is_filled_to_the_last_slot)
{
	struct fake_queue *q = open_queue(64);
	uint64_t n = 0;

	for (unsigned round = 0; round < 50; round++) {
		while (n - atomic_load(q->read) < 64) {
			fake_reserve(q, 1);
			publish(q, n);
			fake_ring(q, n++);
		}
		CHECK_EQ_UINT(fake_in_ring(q), 64);
		fake_gpu_run(q, 1 + round % 64);
	}
	fake_gpu_run(q, UINT64_MAX);
	check_all(q, (uint32_t)n);
}

/* ---- indices that others move ---------------------------------------------------------------- */

static void bypass(struct fake_queue *q, bool run)
{
	union fake_packet p[3] = { fake_dispatch(1000, none), fake_barrier(none, none),
				   fake_dispatch(1001, none) };

	fake_bypass(q, p, 3);
	if (run)
		fake_gpu_run(q, UINT64_MAX);
}

static void check_bypassed(bool run)
{
	struct fake_queue *q = open_queue(64);
	union fake_packet p = fake_dispatch(0, none);

	fake_submit(q, &p, 1);
	fake_gpu_run(q, 1);
	bypass(q, run);
	/* the program's next packet comes after them */
	CHECK_EQ_UINT(FAKE_CORE(queue_load_write_index_relaxed)(&q->hsa), 4);
	CHECK_EQ_UINT(fake_reserve(q, 1), 4);
	fake_publish(q, 4, &p);
	fake_ring(q, 4);
	check_given(q, 5);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 2);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 2);
	CHECK_EQ_UINT(sink_record_at(EVENT_DISPATCH, 1)->dispatch.packet, 4);
	CHECK_EQ_UINT(sink_record_losses(), 2);
}

TEST(bypassing_packets_are_counted_and_skipped)
{
	check_bypassed(false);
}

TEST(executed_bypassing_packets_are_counted_and_skipped)
{
	check_bypassed(true);
}

TEST(bypassing_packets_are_found_by_harvester)
{
	struct fake_queue *q = open_queue(64);

	bypass(q, false);
	fake_tick(200);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 2);
	fake_tick(200);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 2);
	CHECK_EQ_UINT(fake_reserve(q, 1), 3);
}

TEST(bypassing_barriers_are_not_counted)
{
	struct fake_queue *q = open_queue(64);
	union fake_packet p = fake_barrier(none, none);

	fake_bypass(q, &p, 1);
	fake_tick(200);
	fake_gpu_run(q, 1);
	fake_bypass(q, &p, 1);
	fake_gpu_run(q, 1);
	fake_tick(200);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(fake_reserve(q, 1), 2);
}

TEST(cas_from_moved_index_fails_with_new_index)
{
	struct fake_queue *q = open_queue(64);

	bypass(q, true);
	CHECK_EQ_UINT(fake_reserve_cas(q, 0, 1), 3);
	CHECK_EQ_UINT(fake_reserve_cas(q, 3, 4), 3);
	publish(q, 3);
	fake_ring(q, 3);
	check_given(q, 4);
}

/* librtl does not repair a write index that another tool moves back. */
TEST(write_index_moved_back_submits_nothing_twice)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, 4);
	publish_all(q, 0, 4);
	fake_ring(q, 3);
	fake_gpu_run(q, UINT64_MAX);
	atomic_store(q->write, 2);
	CHECK_EQ_UINT(fake_reserve(q, 1), 4);
	publish(q, 4);
	fake_ring(q, 4);
	check_all(q, 5);
}

/* The program writes the real doorbell itself: the hardware takes packets that librtl did not
 * submit. */
static struct fake_queue *ring_directly(uint64_t n)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, n);
	publish_all(q, 0, n);
	fake_ring_hardware(q, n - 1);
	fake_gpu_run(q, UINT64_MAX);
	CHECK_EQ_UINT(atomic_load(q->read), n);
	return q;
}

TEST(read_index_beyond_submitted_packets_ends_holding_back)
{
	struct fake_queue *q = ring_directly(5);
	struct queue *ours = queue_find(&q->hsa);

	CHECK_EQ_UINT(fake_write_index(q), 0);
	CHECK(!atomic_load(&ours->bypassed));
	fake_tick(200);
	CHECK(atomic_load(&ours->bypassed));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 5);
	/* from now on the indices are the hardware's, at once, and the doorbell is the program's */
	CHECK_EQ_UINT(fake_write_index(q), 5);
	CHECK_EQ_UINT(fake_reserve(q, 2), 5);
	CHECK_EQ_UINT(fake_write_index(q), 7);
	CHECK_EQ_UINT(fake_reserve_cas(q, 7, 8), 7);
	CHECK_EQ_UINT(fake_write_index(q), 8);
	fake_reserve_store(q, 9);
	CHECK_EQ_UINT(fake_write_index(q), 9);
	publish_all(q, 5, 9);
	fake_ring(q, 8);
	CHECK_EQ_INT(fake_ring_at(q, 0).value, 8);
	fake_gpu_run(q, UINT64_MAX);
	CHECK_EQ_UINT(atomic_load(q->read), 9);
	fake_tick(200);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 9);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 0);
	fake_queue_destroy(q);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 9);
}

/* Another thread had the turn when holding back ended. */
TEST(doorbell_that_gets_the_turn_after_holding_back_rings_for_all_packets)
{
	struct fake_queue *q = ring_directly(5);
	struct queue *ours = queue_find(&q->hsa);

	fake_tick(200);
	CHECK(atomic_load(&ours->bypassed));
	CHECK_EQ_UINT(fake_reserve(q, 2), 5);
	publish_all(q, 5, 7);
	CHECK(queue_turn_try(ours));
	interpose_submit(ours);
	while (!queue_turn_end(ours))
		;
	CHECK_EQ_UINT(atomic_load(&q->nr_rings), 1);
	CHECK_EQ_INT(fake_ring_at(q, 0).value, 6);
}

TEST(announced_packets_are_submitted_when_holding_back_ends)
{
	struct fake_queue *q = open_queue(64);

	/* 0 is not valid yet, so 1 and 2 are held back; the program then rings the real doorbell
	 * for 0 */
	fake_reserve(q, 3);
	publish_all(q, 1, 3);
	fake_ring(q, 2);
	check_given(q, 0);
	publish(q, 0);
	fake_ring_hardware(q, 0);
	fake_gpu_run(q, 1);
	fake_tick(200);
	CHECK_EQ_UINT(fake_write_index(q), 3);
	CHECK_EQ_UINT(atomic_load(&q->nr_rings), 1);
	CHECK_EQ_INT(fake_ring_at(q, 0).value, 2);
	fake_gpu_run(q, UINT64_MAX);
	CHECK_EQ_UINT(atomic_load(q->read), 3);
	fake_tick(200);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 3);
}

static uint64_t tick_until_submitted(const struct fake_queue *q, uint64_t end)
{
	uint32_t looks = 0;

	for (; fake_write_index(q) < end && looks < 100; looks++)
		fake_tick(200);
	return looks;
}

/* As by a thread that is preempted before its doorbell, or a program that rings the hardware's. */
TEST(packets_that_stay_unannounced_are_submitted)
{
	struct fake_queue *q = open_queue(64);
	uint64_t looks;

	fake_reserve(q, 3);
	publish_all(q, 0, 2);
	looks = tick_until_submitted(q, 2);
	CHECK_GT_UINT(looks, 4);
	CHECK_LT_UINT(looks, 10);
	check_given(q, 2); /* the third is not written yet */
	publish(q, 2);
	fake_ring(q, 2);
	check_all(q, 3);
}

TEST(queue_whose_packets_are_never_announced_is_not_held_back)
{
	struct fake_queue *q = open_queue(64);

	for (uint32_t n = 0; n < 4; n++) {
		fake_reserve(q, 1);
		publish(q, n);
		CHECK_GT_UINT(tick_until_submitted(q, n + 1), 4);
		CHECK_EQ_UINT(atomic_load(&q->nr_rings), n < 3 ? n + 1 : 3);
		fake_run_all(q);
	}
	fake_reserve(q, 1);
	CHECK_EQ_UINT(fake_write_index(q), 5);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 3);
}

TEST(late_doorbells_keep_a_queue_traced)
{
	struct fake_queue *q = open_queue(64);

	for (uint32_t n = 0; n < 10; n++) {
		fake_reserve(q, 1);
		publish(q, n);
		CHECK_GT_UINT(tick_until_submitted(q, n + 1), 4);
		fake_ring(q, n);
	}
	check_all(q, 10);
}

TEST(packet_announced_late_is_traced)
{
	struct fake_queue *q = open_queue(64);

	for (uint32_t n = 0; n < 10; n++) {
		fake_reserve(q, 1);
		publish(q, n);
		for (int look = 0; look < 4; look++)
			fake_tick(200);
		fake_ring(q, n);
	}
	check_all(q, 10);
}

TEST(destroyed_queue_counts_bypassing_packets)
{
	struct fake_queue *q = ring_directly(5);

	fake_queue_destroy(q);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_queue_bypassed), 5);
}

/* ---- making and destroying queues ------------------------------------------------------------ */

static RTL_UNUSED void *submit_one(void *arg)
{
	fake_submit_dispatch(arg, 0);
	return NULL;
}

/* Destroys the queue while a thread is stopped within its doorbell. */
static void destroy_in_doorbell(const char *testpoint)
{
#ifdef RTL_DEBUG_CHECKS
	struct fake_queue *q = open_queue(64);
	struct queue *ours = queue_find(&q->hsa);
	pthread_t thread;

	testpoint_set(testpoint, 100);
	CHECK_OK(pthread_create(&thread, NULL, submit_one, q));
	while (atomic_load(&ours->turn) == QUEUE_IDLE)
		sched_yield();
	fake_queue_destroy(q);
	/* the fake runtime accepts no doorbell after that */
	CHECK_OK(pthread_join(thread, NULL));
	check_given(q, 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_unfinished), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 1);
#else
	SKIP("%s: no testpoints in this build", testpoint);
#endif
}

TEST(queue_is_destroyed_during_submission)
{
	destroy_in_doorbell("submit_valid");
}

TEST(queue_is_destroyed_before_the_turn_is_released)
{
	destroy_in_doorbell("turn_end");
}

TEST(destroyed_queue_submits_announced_packets)
{
	struct fake_queue *q = open_queue(64);

	fake_reserve(q, 2);
	publish(q, 1);
	fake_ring(q, 1);
	publish(q, 0);
	check_given(q, 0);
	fake_queue_destroy(q);
	check_given(q, 2);
	CHECK_EQ_UINT(queue_count(), 1);
}

TEST(queue_with_failed_destruction_stays_traced)
{
	struct fake_queue *q = open_queue(64);
	uint32_t n = 0;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 20; i++)
			fake_submit_dispatch(q, n++);
		fake.refuse_destroy = true;
		CHECK_EQ_INT(FAKE_CORE(queue_destroy)(&q->hsa), HSA_STATUS_ERROR_INVALID_QUEUE);
		fake.refuse_destroy = false;
		CHECK_EQ_PTR(queue_find(&q->hsa), queue_at(0));
		CHECK_EQ_PTR(queue_find_doorbell(q->hsa.doorbell_signal.handle), queue_at(0));
	}
	check_all(q, n);
	fake_queue_destroy(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE), 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 1);
}

static struct fake_queue *second;

/* The runtime reuses the memory for the next queue before hsa_queue_destroy() has returned. */
static void use_memory_again(struct fake_queue *q)
{
	fake.in_destroy = NULL;
	fake.reuse = q;
	second = fake_queue_create(64);
	CHECK_EQ_PTR(second, q);
	for (uint32_t i = 0; i < 3; i++)
		fake_submit_dispatch(second, 100 + i);
}

TEST(new_queue_with_same_address_and_doorbell_is_traced)
{
	struct fake_queue *q = open_queue(64);

	for (uint32_t i = 0; i < 3; i++)
		fake_submit_dispatch(q, i);
	fake_run_all(q);
	fake.in_destroy = use_memory_again;
	fake_queue_destroy(q);
	CHECK_EQ_PTR(queue_find(&second->hsa), queue_at(1));
	fake_submit_dispatch(second, 103);
	fake_run_all(second);
	fake_check_dispatches(0, 3, 0, 0xffff);
	fake_check_dispatches(100, 4, 0, 0xffff);
	for (uint64_t i = 0; i < 7; i++) {
		const struct event_dispatch *d = &sink_record_at(EVENT_DISPATCH, i)->dispatch;

		CHECK_EQ_UINT(d->queue, d->grid[0] >= 100);
		CHECK_EQ_UINT(d->packet, d->grid[0] % 100);
	}
	CHECK_EQ_UINT(sink_record_losses(), 0);
	fake_queue_destroy(second);
	CHECK_EQ_UINT(sink_record_count(EVENT_QUEUE_END), 2);
	CHECK_EQ_UINT(atomic_load(&fake.nr_signals_destroyed), atomic_load(&fake.nr_signals_made));
}

TEST(consecutive_queues_with_same_memory_are_traced)
{
	struct fake_queue *q = open_queue(64), *next;

	for (uint32_t i = 0; i < 200; i++) {
		fake_submit_dispatch(q, 2 * i);
		fake_submit_dispatch(q, 2 * i + 1);
		fake_run_all(q);
		fake_queue_destroy(q);
		fake.reuse = q;
		next = fake_queue_create(64);
		CHECK_EQ_PTR(next, q);
	}
	CHECK_EQ_UINT(queue_count(), 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 400);
	fake_check_dispatches(0, 400, 0, 0xffff);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(many_queues_are_each_found_by_their_own_handle)
{
	struct fake_queue *q[200]; /* more queues than cached look-ups */

	fake_open(NULL, 0);
	for (uint32_t i = 0; i < 200; i++)
		q[i] = fake_queue_create(64);
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < 200; i++)
			fake_submit_dispatch(q[i], 200 * round + i);
	for (uint32_t i = 0; i < 200; i++)
		fake_gpu_run(q[i], UINT64_MAX);
	fake_harvest();
	fake_check_dispatches(0, 600, 0, 0xffff);
	for (uint64_t i = 0; i < 600; i++) {
		const struct event_dispatch *d = &sink_record_at(EVENT_DISPATCH, i)->dispatch;

		CHECK_EQ_UINT(d->queue, d->grid[0] % 200);
		CHECK_EQ_UINT(d->packet, d->grid[0] / 200);
	}
}

TEST(queue_in_device_memory_is_detected)
{
	fake_open(NULL, 0);
	CHECK(!queue_find(&fake_queue_create(64)->hsa)->in_device_memory);
	fake.in_device = true;
	CHECK(queue_find(&fake_queue_create(64)->hsa)->in_device_memory);
}

TEST(queue_used_before_tracing_continues_from_its_index)
{
	struct fake_queue *q, *again;

	fake_open(NULL, 0);
	table_drop();
	q = fake_queue_create(64);
	bypass(q, true);
	CHECK(table_take(&fake.root));
	/* a cooperative queue that the program had before: the runtime returns the same one */
	fake.cooperative = q;
	again = NULL;
	CHECK_EQ_INT(FAKE_CORE(queue_create)(fake_agent(1), 64, HSA_QUEUE_TYPE_COOPERATIVE, NULL,
					     NULL, 0, 0, (hsa_queue_t **)(void *)&again),
		     HSA_STATUS_SUCCESS);
	CHECK_EQ_PTR(again, q);
	CHECK_EQ_UINT(fake_reserve(q, 1), 3);
	publish(q, 3);
	fake_ring(q, 3);
	fake_run_all(q);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

/* ---- threads --------------------------------------------------------------------------------- */

static _Atomic bool keep_ringing;

static RTL_UNUSED void *ring_on(void *arg)
{
	uint32_t id = 1;

	while (atomic_load(&keep_ringing))
		fake_submit_dispatch(arg, id++);
	return NULL;
}

/* The holder of the turn serves others for a bounded number of rounds. */
TEST(doorbell_returns_while_other_threads_keep_ringing)
{
#ifdef RTL_DEBUG_CHECKS
	struct fake_gpu g = { 0 };
	pthread_t thread;

	fake_open_live(NULL, 0);
	g.q = fake_queue_create(64);
	fake_gpu_start(&g);
	testpoint_set("turn_end", 1);
	atomic_store(&keep_ringing, true);
	CHECK_OK(pthread_create(&thread, NULL, ring_on, g.q));
	for (int i = 0; i < 10; i++)
		fake_ring(g.q, 0);
	atomic_store(&keep_ringing, false);
	CHECK_OK(pthread_join(thread, NULL));
	fake_gpu_stop(&g);
	life_stop();
	CHECK_EQ_UINT(sink_record_losses(), 0);
#else
	SKIP("no testpoints in this build");
#endif
}

#define NR_THREADS 8u
#define PER_THREAD (20000u / SCALE)

struct producer {
	pthread_t thread;
	struct fake_queue *q;
	unsigned seed;
	uint32_t first, nr; /* ids of its packets */
	unsigned ways;	    /* enum way, as bits */
	uint32_t tid;
};
enum way {
	WAY_BATCH = 1,	 /* several packets with one reservation */
	WAY_CAS = 2,	 /* reserves by compare-and-swap, too */
	WAY_VALUES = 4,	 /* rings with other values than its last packet's */
	WAY_EARLY = 8,	 /* sometimes rings before its last packet is valid, and not again */
	WAY_SIGNALS = 16 /* packets with signals of its own */
};

static uint64_t reserve_some(struct producer *p, uint32_t n)
{
	uint64_t was;

	if (!(p->ways & WAY_CAS) || rand_r(&p->seed) % 2)
		return fake_reserve(p->q, n);
	was = FAKE_CORE(queue_load_write_index_relaxed)(&p->q->hsa);
	for (uint64_t is; (is = fake_reserve_cas(p->q, was, was + n)) != was; was = is)
		;
	return was;
}

/* Waits until packet `index` has a free slot; packets from `first` on are published. */
static void wait_for_slot(struct producer *p, uint64_t first, uint64_t index)
{
	uint64_t read = FAKE_CORE(queue_load_read_index_scacquire)(&p->q->hsa);

	if (index > first && index - read >= p->q->hsa.size)
		fake_ring(p->q, index - 1);
	while (index - FAKE_CORE(queue_load_read_index_scacquire)(&p->q->hsa) >= p->q->hsa.size)
		sched_yield();
}

static uint64_t doorbell_value(struct producer *p, uint64_t last)
{
	if (!(p->ways & WAY_VALUES))
		return last;
	switch (rand_r(&p->seed) % 4) {
	case 0:
		return FAKE_CORE(queue_load_write_index_relaxed)(&p->q->hsa) - 1;
	case 1:
		return FAKE_CORE(queue_load_write_index_relaxed)(&p->q->hsa);
	default:
		return last;
	}
}

/* Packets [index, index + n) of the queue. */
static void produce_some(struct producer *p, uint64_t index, uint32_t n)
{
	bool early = p->ways & WAY_EARLY && rand_r(&p->seed) % 4 == 0;

	for (uint32_t i = 0; i < n; i++) {
		union fake_packet d = fake_dispatch(p->first++, none);

		if (p->ways & WAY_SIGNALS && rand_r(&p->seed) % 4 == 0)
			d.dispatch.completion_signal = fake_signal(1);
		wait_for_slot(p, index, index + i);
		if (early && i + 1 == n)
			fake_ring(p->q, doorbell_value(p, index + i));
		fake_publish(p->q, index + i, &d);
	}
	if (!early)
		fake_ring(p->q, doorbell_value(p, index + n - 1));
}

static void *produce(void *arg)
{
	struct producer *p = arg;

	p->tid = thread_get()->tid;
	for (uint32_t left = p->nr, n; left; left -= n) {
		n = p->ways & WAY_BATCH ? 1 + (uint32_t)rand_r(&p->seed) % 5 : 1;
		n = n < left ? n : left;
		produce_some(p, reserve_some(p, n), n);
	}
	return NULL;
}

static void run_producers(struct producer *p, struct fake_queue *q, uint32_t each, unsigned ways)
{
	for (unsigned i = 0; i < NR_THREADS; i++) {
		p[i] = (struct producer){
			.q = q, .seed = i + 1, .first = i * each, .nr = each, .ways = ways
		};
		CHECK_OK(pthread_create(&p[i].thread, NULL, produce, &p[i]));
	}
	for (unsigned i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_join(p[i].thread, NULL));
	/* the harvester submits packets that were announced too early */
	while (atomic_load(q->read) < (uint64_t)NR_THREADS * each)
		usleep(100);
}

/* NR_THREADS threads on one queue: each packet that they reserve is recorded once. */
static void produce_and_check(uint32_t ring, unsigned ways, unsigned pause_us)
{
	struct producer p[NR_THREADS];
	struct fake_gpu g = { .stretch = 17, .pause_us = pause_us };

	fake_open_live(NULL, 0);
	g.q = fake_queue_create(ring);
	fake_gpu_start(&g);
	run_producers(p, g.q, PER_THREAD, ways);
	fake_gpu_stop(&g);
	life_stop();
	CHECK_EQ_UINT(sink_record_losses(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), NR_THREADS * PER_THREAD);
	fake_check_dispatches(0, NR_THREADS * PER_THREAD, 0, (uint16_t)~REC_F_HAD_SIGNAL);
	CHECK_EQ_UINT(fake_write_index(g.q), NR_THREADS * PER_THREAD);
}

TEST(threads_with_single_packets_lose_none)
{
	produce_and_check(1024, 0, 0);
}

TEST(threads_on_small_ring_with_slow_gpu_lose_no_packet)
{
	produce_and_check(64, WAY_BATCH, 20);
}

TEST(threads_with_mixed_reservations_and_doorbells_lose_no_packet)
{
	produce_and_check(256, WAY_BATCH | WAY_CAS | WAY_VALUES | WAY_EARLY | WAY_SIGNALS, 0);
}

TEST(packets_submitted_by_other_threads_keep_their_origin)
{
	static const struct event *all[NR_THREADS * 2000];
	struct producer p[NR_THREADS];
	struct fake_gpu g = { 0 };

	fake_open_live(NULL, 0);
	g.q = fake_queue_create(1024);
	fake_gpu_start(&g);
	run_producers(p, g.q, 2000, WAY_BATCH | WAY_VALUES);
	fake_gpu_stop(&g);
	life_stop();
	CHECK_EQ_UINT(sink_record_count(EVENT_DISPATCH), NR_THREADS * 2000);
	sink_record_each(EVENT_DISPATCH, all, NR_THREADS * 2000);
	for (uint64_t i = 0; i < NR_THREADS * 2000; i++) {
		const struct event_dispatch *d = &all[i]->dispatch;

		CHECK_EQ_UINT(d->tid, p[d->grid[0] / 2000].tid);
	}
}
