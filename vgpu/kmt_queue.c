/* SPDX-License-Identifier: MIT */
/* kmt_queue.c - creation and destruction of queues
 *
 * Threads:  any. A queue belongs to the engine from engine_add() to engine_remove().
 */
#include <pthread.h>
#include <stdlib.h>

#include "cp_aql.h"
#include "engine.h"
#include "fault.h"
#include "kmt.h"
#include "knobs.h"
#include "queue.h"

/* HSA_QUEUE_TYPE from 6.3 on: an SDMA queue on a given engine */
#define QUEUE_SDMA_BY_ENGINE 6u

/* The words that a queue shares with the runtime; freed with it. */
struct words {
	struct words *next;
	uint64_t id;
	uint64_t doorbell, write_ptr, read_ptr;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct words *all_words; /* under lock */

static void keep_words(struct words *w, uint64_t id)
{
	w->id = id;
	pthread_mutex_lock(&lock);
	w->next = all_words;
	all_words = w;
	pthread_mutex_unlock(&lock);
}

static void free_words(uint64_t id)
{
	struct words **at = &all_words, *w;

	pthread_mutex_lock(&lock);
	while (*at && (*at)->id != id)
		at = &(*at)->next;
	w = *at;
	if (w)
		*at = w->next;
	pthread_mutex_unlock(&lock);
	free(w);
}

KMT_API HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
					HSA_QUEUE_PRIORITY priority, void *addr, HSAuint64 bytes,
					HsaEvent *event, HsaQueueResource *res)
{
	bool is_sdma = type == HSA_QUEUE_SDMA || type == HSA_QUEUE_SDMA_XGMI;
	struct queue_wanted wanted = { 0 };
	struct words *words;
	struct queue *q;

	(void)priority;
	if (!addr || !bytes || !res || !kmt_topology_is_gpu(node))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (!is_sdma && (type != HSA_QUEUE_COMPUTE_AQL ||
			 (bytes / QUEUE_PACKET_SIZE & (bytes / QUEUE_PACKET_SIZE - 1))))
		return HSAKMT_STATUS_NOT_SUPPORTED;
	if (kmt_misc_inert())
		return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	if (fault_match(FAULT_QUEUE_CREATE, &(struct fault_event){ node - 1, -1, 0, false })) {
		log_fault(&(struct log_where){ .gpu = node - 1 }, fault_name(FAULT_QUEUE_CREATE),
			  0);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	words = calloc(1, sizeof(*words));
	if (!words)
		return HSAKMT_STATUS_NO_MEMORY;
	wanted = (struct queue_wanted){
		.gpu = node - 1,
		.is_sdma = is_sdma,
		.paused = !percentage,
		.ring = addr,
		.bytes = bytes,
		.read_ptr = is_sdma ? &words->read_ptr : res->Queue_read_ptr_aql,
		.doorbell = &words->doorbell,
		.error_event = event ? event->EventId : 0,
		.error_reason = knobs.exceptions ? res->ErrorReason : NULL,
	};
	if (queue_create(&wanted, &q)) {
		free(words);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	keep_words(words, q->id);
	res->QueueId = q->id;
	res->Queue_DoorBell_aql = &words->doorbell;
	if (is_sdma) {
		res->Queue_write_ptr_aql = &words->write_ptr;
		res->Queue_read_ptr_aql = &words->read_ptr;
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
	queue_pause(q, !percentage);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_API HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID id)
{
	struct queue *q = engine_find(id);

	if (kmt_misc_inert())
		return HSAKMT_STATUS_SUCCESS;
	if (!q)
		return HSAKMT_STATUS_INVALID_HANDLE;
	queue_destroy(q);
	free_words(id);
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
