/* SPDX-License-Identifier: MIT */
/* core_layer.c - the functions that librtl itself puts into the runtime's tables
 *
 * Threads:  under ROCr's init lock, except the functions put into the tables.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/core_layer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "event/join.h"
#include "event/life.h"
#include "source/hsa/agent.h"
#include "source/hsa/code/code_calls.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/completion/shared_times.h"
#include "source/hsa/completion/signal_map.h"
#include "source/hsa/completion/wait_calls.h"
#include "source/hsa/counter/counter.h"
#include "source/hsa/memory/copy.h"
#include "source/hsa/memory/reach.h"
#include "source/hsa/memory/scratch.h"
#include "source/hsa/mode.h"
#include "source/hsa/queue/internal_queue.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/queue/queue_calls.h"
#include "source/hsa/queue/shared_calls.h"
#include "source/hsa/table/real.h"
#include "source/hsa/table/table.h"

/* A forked child has no thread that could finish what the fork interrupted. */
static bool forked(void)
{
	return atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED;
}

static hsa_status_t on_signal_destroy(hsa_signal_t signal)
{
	if (signal.handle && !forked()) {
		shared_calls_settle();
		signal_map_destroy(signal_of(signal));
		shared_times_forget(signal_of(signal));
		if (join_is_on())
			join_forget(signal.handle);
	}
	return real.hsa_signal_destroy(signal);
}

/* hsa_init() calls without a matching hsa_shut_down(). Too few if two threads made the first call
 * at once. */
static _Atomic int nr_users;

static hsa_status_t on_init(void)
{
	hsa_status_t status = real.hsa_init();

	if (status == HSA_STATUS_SUCCESS)
		atomic_fetch_add(&nr_users, 1);
	return status;
}

static uint64_t drain_deadline(void)
{
	return clock_now_ns() + env_uint(ENV_DRAIN_MS) * UINT64_C(1000000);
}

/* ROCr unloads tools within the last call, and from 7.2 on refuses their calls by then. */
static hsa_status_t on_shut_down(void)
{
	struct thread *t;

	if (!forked() && atomic_fetch_sub(&nr_users, 1) <= 1 && real_ready() && life_enter(&t)) {
		harvest_before_close(drain_deadline());
		life_leave(t);
	}
	return real.hsa_shut_down();
}

static bool is_runtimes_clock(clockid_t id)
{
	uint64_t ts = 0, now;

	if (real.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ts) != HSA_STATUS_SUCCESS)
		return false;
	now = clock_read_ns(id);
	return now >= ts && now - ts < 1000000;
}

/* Finds the host clock that the runtime uses as system time. */
static void find_clock(void)
{
	static const clockid_t candidates[] = { CLOCK_BOOTTIME, CLOCK_MONOTONIC,
						CLOCK_MONOTONIC_RAW, CLOCK_REALTIME };
	const unsigned nr = sizeof(candidates) / sizeof(candidates[0]);
	uint64_t hz = 0;

	real.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz);
	/* repeated, since this thread may be preempted between two readings */
	for (unsigned i = 0; hz == 1000000000 && i < 4 * nr; i++) {
		if (is_runtimes_clock(candidates[i % nr])) {
			clock_select(candidates[i % nr]);
			return;
		}
	}
	log_warn("system clock: the runtime's is not a host clock; markers and kernels may be off");
}

static bool prepare(const struct hsa_mirror_root *root)
{
	const char *missing;

	if (!life_start())
		return false;
	if (!real_read(root, &missing)) {
		log_warn("runtime: its API table lacks %s; nothing is traced", missing);
		return false;
	}
	mode_choose(root);
	find_clock();
	agent_scan();
	code_object_init();
	return true;
}

/* In the order of the tables. A function that the runtime lacks has no slot. */
static void replace(const struct hsa_mirror_root *root)
{
#define CORE(name, fn) TABLE_CORE(root, name, fn)
#define AMD(name, fn) TABLE_AMD(root, name, fn)
	CORE(init, on_init);
	CORE(shut_down, on_shut_down);
	CORE(queue_create, queue_calls_create);
	CORE(queue_destroy, queue_calls_destroy);
	CORE(queue_inactivate, queue_calls_inactivate);
	CORE(signal_destroy, on_signal_destroy);
	CORE(memory_copy, copy_blocking);
	if (real.hsa_executable_destroy)
		CORE(executable_freeze, code_calls_freeze);
	CORE(executable_destroy, code_calls_destroy);
	AMD(profiling_set_profiler_enabled, queue_calls_set_profiler);
	AMD(profiling_async_copy_enable, copy_profiling_enable);
	AMD(profiling_get_dispatch_time, harvest_dispatch_time);
	AMD(profiling_get_async_copy_time, copy_time);
	AMD(memory_async_copy, copy_async);
	AMD(memory_async_copy_rect, copy_rect);
	AMD(memory_async_copy_on_engine, copy_async_on_engine);
	AMD(memory_async_batch_copy, copy_batch);
	AMD(memory_fill, copy_fill);
	AMD(queue_create, queue_calls_create_described);
	AMD(counted_queue_acquire, queue_calls_acquire);
	AMD(counted_queue_release, queue_calls_release);
#undef CORE
#undef AMD
	interpose_install(root);
	reach_install(root);
	scratch_install(root);
	wait_calls_install(root);
	shared_calls_init(root);
}

static bool install(const struct hsa_mirror_root *root)
{
	if (!prepare(root))
		return false;
	atomic_store(&nr_users, 1);
	real_set_ready(true);
	if (real.hsa_amd_profiling_async_copy_enable)
		real.hsa_amd_profiling_async_copy_enable(true);
	if (real.hsa_amd_register_system_event_handler)
		real.hsa_amd_register_system_event_handler(harvest_on_fault, NULL);
	if (real.hsa_amd_runtime_queue_create_register)
		real.hsa_amd_runtime_queue_create_register(internal_queue_on_create, NULL);
	replace(root);
	return true;
}

static void end(void)
{
	if (!real_ready() || forked())
		return;
	harvest_stop(drain_deadline());
	/* From here on the life thread does not use HSA objects. */
	real_set_ready(false);
	harvest_wait_tick();
	shared_calls_disarm();
	queue_calls_reset();
	counter_reset();
	internal_queue_reset();
	signal_map_reset();
	code_object_reset();
	reach_reset();
}

const struct table_layer core_layer = {
	.name = "core",
	.install = install,
	.remove = end,
};
