/* SPDX-License-Identifier: MIT */
/* queue.c - the life of a queue
 *
 * Threads:  any. A queue belongs to the engine from engine_add() to engine_remove().
 */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>

#include "deliver.h"
#include "engine.h"
#include "kernel.h"
#include "knobs.h"
#include "mem.h"

static uint64_t last_id;

static void free_queue(struct queue *q)
{
	if (!q)
		return;
	free(q->seen_ns);
	free(q->flights);
	free(q->sdma);
	free(q->late);
	free(q);
}

static struct queue *new_queue(bool is_sdma, uint64_t bytes)
{
	struct queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->is_sdma = is_sdma;
	if (is_sdma) {
		q->size = bytes;
		q->sdma = calloc(1, sizeof(*q->sdma));
	} else {
		q->size = bytes / QUEUE_PACKET_SIZE;
		q->seen_ns = calloc(q->size, sizeof(*q->seen_ns));
		q->flights =
			aligned_alloc(QUEUE_PACKET_SIZE, QUEUE_FLIGHTS_MAX * sizeof(*q->flights));
	}
	if (is_sdma ? !q->sdma : !q->seen_ns || !q->flights) {
		free_queue(q);
		return NULL;
	}
	return q;
}

static void connect(struct queue *q, const struct queue_wanted *wanted)
{
	q->doorbell = wanted->doorbell;
	if (q->is_sdma) {
		q->number = q->id;
		q->named = true;
		q->sdma->read_ptr = wanted->read_ptr;
		q->sdma->seen = mem_load64(wanted->read_ptr);
		mem_store64(q->doorbell, q->sdma->seen);
		return;
	}
	q->aq = (amd_queue_t *)((char *)wanted->read_ptr - offsetof(amd_queue_t, read_dispatch_id));
	q->next = q->seen = q->rung = q->aq->read_dispatch_id;
	mem_store64(q->doorbell, knobs.doorbell != KNOBS_DOORBELL_LENIENT ? QUEUE_NOT_RUNG : 0);
	q->error_reason = wanted->error_reason;
	q->error_event = wanted->error_event;
}

int queue_create(const struct queue_wanted *wanted, struct queue **out)
{
	struct queue *q = new_queue(wanted->is_sdma, wanted->bytes);
	struct log_where where;
	int err;

	*out = NULL;
	if (!q)
		return -ENOMEM;
	q->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	q->gpu = wanted->gpu;
	q->ring = wanted->ring;
	q->paused = wanted->paused;
	connect(q, wanted);
	if (q->is_sdma) {
		where = queue_where(q);
		log_queue(&where, true, "sdma", q->size);
	}
	err = engine_add(q);
	if (err) {
		free_queue(q);
		return err;
	}
	*out = q;
	return 0;
}

void queue_pause(struct queue *q, bool paused)
{
	engine_lock();
	q->paused = paused;
	engine_unlock();
	engine_kick();
}

void queue_destroy(struct queue *q)
{
	struct log_where where;

	engine_remove(q);
	engine_lock();
	deliver_all(q);
	for (unsigned int i = 0; i < q->nr_flights; i++)
		kernel_end(&q->flights[i]);
	engine_unlock();
	where = queue_where(q);
	if (!q->named)
		where.queue = q->aq->hsa_queue.id;
	log_queue(&where, false, q->is_sdma ? "sdma" : "aql", q->size);
	log_flush();
	free_queue(q);
}
