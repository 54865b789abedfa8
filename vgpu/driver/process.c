/* SPDX-License-Identifier: MIT */
/* process.c - the engine's library in a process: its start, fork(), and what it shares with
 * libvgpu.so
 *
 * Threads:  any.
 * Locks:    `start_lock`, outermost; then the engine's, event.c's, memory.c's, the log's, smi.c's.
 * Life:     a forked child has nothing of its parent's: its descriptors are refused, as in the
 *           kernel, and there is no engine until it opens a device itself.
 */
#include <pthread.h>

#include "../engine/clock.h"
#include "../engine/engine.h"
#include "../engine/gpu.h"
#include "../engine/knobs.h"
#include "../engine/log.h"
#include "driver.h"

static const struct driver_front *front; /* constant after vgpu_engine() */

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static bool started; /* atomic: read without the lock */
static bool ever;    /* under the lock: this process or one that it was forked from had started */

static void fork_prepare(void)
{
	pthread_mutex_lock(&start_lock);
	engine_lock();
	event_lock();
	memory_lock();
	log_lock();
}

static void fork_release(bool child)
{
	log_unlock(child);
	memory_unlock(child);
	event_unlock(child);
	engine_unlock();
	pthread_mutex_unlock(&start_lock);
}

static void fork_parent(void)
{
	fork_release(false);
}

static void fork_child(void)
{
	__atomic_store_n(&started, false, __ATOMIC_RELAXED);
	front->forget_nodes();
	kfd_forked();
	queue_forked();
	smi_forked();
	engine_forked();
	fork_release(true);
}

void driver_start(void)
{
	/* pairs with the release below: what a start made is visible */
	if (__atomic_load_n(&started, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&start_lock);
	if (!started) {
		if (!ever) {
			knobs_init();
			clock_init();
			pthread_atfork(fork_prepare, fork_parent, fork_child);
		} else {
			clock_restart();
		}
		ever = true;
		log_open();
		__atomic_store_n(&started, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&start_lock);
}

int driver_gpu(uint32_t gpu_id)
{
	for (unsigned int gpu = 0; gpu < knobs.devices; gpu++) {
		if (gpu_number(gpu) == gpu_id)
			return (int)gpu;
	}
	return -1;
}

int node_file(struct node node)
{
	return front->node_file(node);
}

struct node node_of_fd(int fd)
{
	return front->node_of_fd(fd);
}

__attribute__((visibility("default"))) const struct driver_engine *
vgpu_engine(const struct driver_front *its)
{
	static const struct driver_engine engine = {
		.kfd_request = kfd_request,
		.drm_request = drm_request,
		.mmap = memory_mmap,
		.seek = memory_seek,
		.memory_used = memory_used,
		.start = driver_start,
	};

	front = its;
	return &engine;
}
