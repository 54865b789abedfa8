/* SPDX-License-Identifier: MIT */
/* kmt_queue.c - creation and destruction of queues
 *
 * Threads:  any. A queue belongs to the engine from engine_add() to engine_remove().
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cp_aql.h"
#include "deliver.h"
#include "engine.h"
#include "fault.h"
#include "kernel.h"
#include "kmt.h"
#include "knobs.h"
#include "queue.h"

/* HSA_QUEUE_TYPE from 6.3 on: an SDMA queue on a given engine */
#define QUEUE_SDMA_BY_ENGINE 6u

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

static void connect(struct queue *q, HsaQueueResource *res)
{
	res->QueueId = q->id;
	if (q->is_sdma) {
		q->number = q->id;
		q->named = true;
		res->Queue_DoorBell_aql = (HSAuint64 *)&q->doorbell;
		res->Queue_write_ptr_aql = (HSAuint64 *)&q->sdma->write_ptr;
		res->Queue_read_ptr_aql = (HSAuint64 *)&q->sdma->read_ptr;
		return;
	}
	q->aq = (amd_queue_t *)((char *)res->Queue_read_ptr_aql -
				offsetof(amd_queue_t, read_dispatch_id));
	q->next = q->seen = q->aq->read_dispatch_id;
	q->rung = q->next;
	q->doorbell = knobs.doorbell != KNOBS_DOORBELL_LENIENT ? QUEUE_NOT_RUNG : 0;
	q->error_reason = knobs.exceptions ? res->ErrorReason : NULL;
	res->Queue_DoorBell_aql = (HSAuint64 *)&q->doorbell;
}

KMT_API HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
					HSA_QUEUE_PRIORITY priority, void *addr, HSAuint64 bytes,
					HsaEvent *event, HsaQueueResource *res)
{
	bool is_sdma = type == HSA_QUEUE_SDMA || type == HSA_QUEUE_SDMA_XGMI;
	struct queue *q;
	struct log_where where;

	(void)priority;
	if (!addr || !bytes || !res || !kmt_topology_is_gpu(node))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (!is_sdma && (type != HSA_QUEUE_COMPUTE_AQL ||
			 (bytes / QUEUE_PACKET_SIZE & (bytes / QUEUE_PACKET_SIZE - 1))))
		return HSAKMT_STATUS_NOT_SUPPORTED;
	if (kmt_misc_inert())
		return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	if (fault_match(FAULT_QUEUE_CREATE, &(struct fault_event){ node - 1, -1, 0, false })) {
		where = (struct log_where){ .gpu = node - 1 };
		log_fault(&where, fault_name(FAULT_QUEUE_CREATE), 0);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	q = new_queue(is_sdma, bytes);
	if (!q)
		return HSAKMT_STATUS_NO_MEMORY;
	q->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	q->gpu = node - 1;
	q->ring = addr;
	q->paused = !percentage;
	q->error_event = event;
	connect(q, res);
	if (is_sdma) {
		where = queue_where(q);
		log_queue(&where, true, "sdma", q->size);
	}
	if (engine_add(q)) {
		free_queue(q);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtCreateQueueExt(HSAuint32 node, HSA_QUEUE_TYPE type,
					   HSAuint32 percentage, HSA_QUEUE_PRIORITY priority,
					   HSAuint32 engine, void *addr, HSAuint64 bytes,
					   HsaEvent *event, HsaQueueResource *res)
{
	(void)engine; /* every queue has an engine of its own */
	if ((unsigned int)type == QUEUE_SDMA_BY_ENGINE)
		type = HSA_QUEUE_SDMA;
	return hsaKmtCreateQueue(node, type, percentage, priority, addr, bytes, event, res);
}

/* Runtimes create queues with it since the thunk of ROCm 7.13. The metadata ring is a feature of gfx1250. */
KMT_API HSAKMT_STATUS hsaKmtCreateQueueV2(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
					  HSA_QUEUE_PRIORITY priority, HSAuint32 engine, void *addr,
					  HSAuint64 bytes, HSAuint64 metadata_bytes,
					  HsaEvent *event, HsaQueueResource *res)
{
	if (metadata_bytes)
		return HSAKMT_STATUS_NOT_SUPPORTED;
	return hsaKmtCreateQueueExt(node, type, percentage, priority, engine, addr, bytes, event,
				    res);
}

/* For libdtif.so, whose doorbells are not memory. */
KMT_API HSAKMT_STATUS hsaKmtQueueRingDoorbell(HSA_QUEUEID id)
{
	struct queue *q;

	if (kmt_misc_inert())
		return HSAKMT_STATUS_SUCCESS;
	q = knobs.doorbell != KNOBS_DOORBELL_LENIENT ? engine_find(id) : NULL;
	if (q) {
		engine_lock();
		cp_aql_ring(q);
		engine_unlock();
	}
	engine_kick();
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID id, HSAuint32 percentage,
					HSA_QUEUE_PRIORITY priority, void *addr, HSAuint64 size,
					HsaEvent *event)
{
	struct queue *q = engine_find(id);

	(void)priority;
	(void)addr;
	(void)size;
	(void)event;
	if (kmt_misc_inert())
		return HSAKMT_STATUS_SUCCESS;
	if (!q)
		return HSAKMT_STATUS_INVALID_HANDLE;
	engine_lock();
	q->paused = !percentage;
	engine_unlock();
	engine_kick();
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID id)
{
	struct queue *q = engine_find(id);
	struct log_where where;

	if (kmt_misc_inert())
		return HSAKMT_STATUS_SUCCESS;
	if (!q)
		return HSAKMT_STATUS_INVALID_HANDLE;
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
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID id, HSAuint32 count, HSAuint32 *mask)
{
	(void)id;
	(void)count;
	(void)mask;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID id, HSAuint32 nr, HSAuint32 *first)
{
	(void)id;
	/* barriers of a dispatch are its own: no number is ever used up */
	if (!first || nr > KMT_GWS)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	*first = 0;
	return HSAKMT_STATUS_SUCCESS;
}
