/* SPDX-License-Identifier: MIT */
/* queue.c - creation and destruction of queues by requests of /dev/kfd
 *
 * Owns:     the page of doorbells of each GPU, and which slots of it are in use.
 * Threads:  any. A queue belongs to the engine from engine_add() to engine_remove().
 * Locks:    `lock`, for the doorbells.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../engine/engine.h"
#include "../engine/fault.h"
#include "../engine/gpu.h"
#include "../engine/knobs.h"
#include "../engine/queue.h"
#include "driver.h"
#include "kfd_abi.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* under lock */
static uint64_t *doorbells[KNOBS_DEVICES_MAX]; /* of a GPU; NULL: not mapped yet */
static bool slot_used[KNOBS_DEVICES_MAX][DOORBELL_SLOTS];

/* A free doorbell of the GPU; -1: there is none. */
static int take_slot(unsigned int gpu, uint64_t **at)
{
	int slot = -1;

	pthread_mutex_lock(&lock);
	if (!doorbells[gpu]) {
		int file = node_file((struct node){ NODE_KFD, 0 });
		void *page = file < 0 ? MAP_FAILED :
					mmap(NULL, DOORBELLS_SIZE, PROT_READ | PROT_WRITE,
					     MAP_SHARED, file, (off_t)DOORBELLS_AT(gpu));

		doorbells[gpu] = page == MAP_FAILED ? NULL : page;
	}
	for (unsigned int i = 0; doorbells[gpu] && slot < 0 && i < DOORBELL_SLOTS; i++) {
		if (!slot_used[gpu][i])
			slot = (int)i;
	}
	if (slot >= 0) {
		slot_used[gpu][slot] = true;
		*at = &doorbells[gpu][slot];
	}
	pthread_mutex_unlock(&lock);
	return slot;
}

static void put_slot(unsigned int gpu, const uint64_t *at)
{
	pthread_mutex_lock(&lock);
	slot_used[gpu][at - doorbells[gpu]] = false;
	pthread_mutex_unlock(&lock);
}

/* The parent's doorbells are in a file that the child has not. */
void queue_forked(void)
{
	memset(doorbells, 0, sizeof(doorbells));
	memset(slot_used, 0, sizeof(slot_used));
	pthread_mutex_init(&lock, NULL);
}

static void *pointer(uint64_t addr)
{
	return (void *)(uintptr_t)
		addr; /* NOLINT(performance-no-int-to-ptr): programs have it as a number */
}

static bool is_sdma(uint32_t type)
{
	return type == KFD_QUEUE_SDMA || type == KFD_QUEUE_SDMA_XGMI ||
	       type == KFD_QUEUE_SDMA_BY_ENGINE;
}

static int check(const struct kfd_create_queue *args)
{
	uint32_t slots = args->ring_size / QUEUE_PACKET_SIZE;

	if (!args->ring_base || !args->ring_size || !args->read_pointer || !args->write_pointer)
		return -EFAULT;
	if (!is_sdma(args->queue_type) && args->queue_type != KFD_QUEUE_AQL)
		return -EINVAL;
	return args->ring_size & (args->ring_size - 1) || !slots ? -EINVAL : 0;
}

int queue_request_create(struct kfd_create_queue *args)
{
	int gpu = driver_gpu(args->gpu_id), slot, err;
	struct queue_wanted wanted = { 0 };
	struct queue *q;

	err = gpu < 0 ? -EINVAL : check(args);
	if (err)
		return err;
	if (fault_match(FAULT_QUEUE_CREATE, &(struct fault_event){ gpu, -1, 0, false })) {
		log_fault(&(struct log_where){ .gpu = (unsigned int)gpu },
			  fault_name(FAULT_QUEUE_CREATE), 0);
		return -ENOMEM;
	}
	wanted.gpu = (unsigned int)gpu;
	wanted.is_sdma = is_sdma(args->queue_type);
	wanted.ring = pointer(args->ring_base);
	wanted.bytes = args->ring_size;
	wanted.paused = !args->percentage;
	wanted.read_ptr = pointer(args->read_pointer);
	if (args->ctx_save_restore && knobs.exceptions) {
		const struct kfd_save_area *area = pointer(args->ctx_save_restore);

		wanted.error_reason = pointer(area->error_reason);
		wanted.error_event = area->error_event;
	}
	slot = take_slot(wanted.gpu, &wanted.doorbell);
	if (slot < 0)
		return -ENOSPC;
	err = queue_create(&wanted, &q);
	if (err) {
		put_slot(wanted.gpu, wanted.doorbell);
		return err;
	}
	args->queue_id = (uint32_t)q->id;
	args->doorbell_offset = DOORBELLS_OFFSET(wanted.gpu) | (uint64_t)slot * sizeof(uint64_t);
	return 0;
}

int queue_request_update(const struct kfd_update_queue *args)
{
	struct queue *q = engine_find(args->queue_id);

	if (!q)
		return -EFAULT;
	queue_pause(q, !args->percentage);
	return 0;
}

int queue_request_destroy(uint32_t id)
{
	struct queue *q = engine_find(id);
	unsigned int gpu;
	uint64_t *doorbell;

	if (!q)
		return -EINVAL;
	gpu = q->gpu;
	doorbell = q->doorbell;
	queue_destroy(q);
	put_slot(gpu, doorbell);
	return 0;
}
