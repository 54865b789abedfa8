/* SPDX-License-Identifier: MIT */
/* completer.c - completes signals that several operations share
 *
 * Threads:  the holder of the turn of the program's queue.
 * Fails:    no hardware queue can be made, or it does not advance: completer_ready() returns false,
 *           and the operation keeps its owner's signal, untimed.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/queue/completer.h"

#include <stdatomic.h>
#include <time.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/sys.h"
#include "source/hsa/agent.h"
#include "source/hsa/table/real.h"

/* Rounds, not a time: about 200 ms when all threads run. */
#define FULL_WAIT_ROUNDS 800u
/* About 10 ms: the bound if the hardware does not advance. */
#define SETTLE_ROUNDS 200000u

/* An error of librtl's queue must not reach the program. */
static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	(void)data;
	log_warn("queue %llu of librtl: error 0x%x; signals that dispatches share may stay where "
		 "they are",
		 (unsigned long long)source->id, (unsigned)status);
}

static hsa_queue_t *make(struct queue *q)
{
	struct queue_completer *c = &q->completer;
	hsa_queue_t *hsa = NULL;

	if (c->refused)
		return NULL;
	if (real.hsa_queue_create(agent_handle(q->agent), q->size, HSA_QUEUE_TYPE_MULTI, on_error,
				  NULL, UINT32_MAX, UINT32_MAX, &hsa) != HSA_STATUS_SUCCESS) {
		c->refused = true;
		log_warn("queue %u: no completer queue can be made; dispatches that share a signal "
			 "have no times",
			 q->index);
		return NULL;
	}
	atomic_store_explicit(&c->next, real.hsa_queue_load_write_index_relaxed(hsa),
			      memory_order_relaxed);
	/* pairs with completer_passed() */
	atomic_store_explicit(&c->hsa, hsa, memory_order_release);
	return hsa;
}

static union packet *packet_at(const hsa_queue_t *hsa, uint64_t index)
{
	return (union packet *)hsa->base_address + index % hsa->size;
}

bool completer_ready(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 200000 };
	const hsa_queue_t *hsa = atomic_load_explicit(&q->completer.hsa, memory_order_relaxed);

	if (!hsa)
		hsa = make(q);
	for (unsigned round = 0; hsa && round < FULL_WAIT_ROUNDS; round++) {
		if (atomic_load_explicit(&q->completer.next, memory_order_relaxed) -
			    real.hsa_queue_load_read_index_scacquire(hsa) <
		    hsa->size)
			return true;
		if (round < 16)
			RTL_RELAX();
		else
			sys_nap(&nap);
	}
	return false;
}

uint64_t completer_add(struct queue *q, const union packet *p, const amd_signal_t *ours,
		       amd_signal_t *owner)
{
	hsa_queue_t *hsa = atomic_load_explicit(&q->completer.hsa, memory_order_relaxed);
	uint64_t index = atomic_load_explicit(&q->completer.next, memory_order_relaxed); /* owner */
	union packet *slot = packet_at(hsa, index);
	union packet b;
	uint16_t header;

	packet_make_completion(&b, p, signal_handle(ours), signal_handle(owner));
	header = b.header;
	b.header = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
	*slot = b;
	/* the packet processor may take the packet as soon as its header is valid */
	__atomic_store_n(&slot->header, header, __ATOMIC_RELEASE);
	real.hsa_queue_store_write_index_screlease(hsa, index + 1);
	real.hsa_signal_store_screlease(hsa->doorbell_signal, (hsa_signal_value_t)index);
	/* pairs with completer_settle(): the packet is in the ring */
	atomic_store_explicit(&q->completer.next, index + 1, memory_order_release);
	return index;
}

/* The packet processor never waits on these packets for long: their dispatches have completed, so
 * this takes microseconds. */
static void settle(const struct queue_completer *c, const hsa_queue_t *hsa)
{
	/* acquire: pairs with completer_add() */
	uint64_t end = atomic_load_explicit(&c->next, memory_order_acquire);

	for (unsigned round = 0; round < SETTLE_ROUNDS; round++) {
		uint64_t done = real.hsa_queue_load_read_index_scacquire(hsa);
		const union packet *p = packet_at(hsa, done);

		if (done >= end || signal_value(signal_of(p->barrier.dep_signal[0])) > 0)
			return;
		RTL_RELAX();
	}
}

void completer_settle(struct queue *q)
{
	struct queue_completer *c = &q->completer;
	hsa_queue_t *hsa;

	if (!atomic_load_explicit(&c->hsa, memory_order_relaxed))
		return;
	/* seq_cst, both: pairs with completer_destroy(), which either sees this reader or has
	 * removed the queue */
	atomic_fetch_add(&c->nr_readers, 1);
	hsa = atomic_load(&c->hsa);
	if (hsa)
		settle(c, hsa);
	atomic_fetch_sub(&c->nr_readers, 1);
}

uint64_t completer_passed(const struct queue *q)
{
	const hsa_queue_t *hsa = atomic_load_explicit(&q->completer.hsa, memory_order_acquire);

	return hsa ? real.hsa_queue_load_read_index_scacquire(hsa) : 0;
}

void completer_destroy(struct queue *q)
{
	hsa_queue_t *hsa = atomic_exchange(&q->completer.hsa, NULL);

	q->completer.refused = false;
	if (!hsa)
		return;
	while (atomic_load(&q->completer.nr_readers))
		RTL_RELAX();
	real.hsa_queue_destroy(hsa);
}
