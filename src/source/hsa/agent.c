/* SPDX-License-Identifier: MIT */
/* agent.c - the agents of this process
 *
 * Owns:    the table of agents; entries are only added.
 * Threads: agent_scan() under ROCr's init lock; look-ups any thread, without a lock.
 * Locks:   LOCK_GPU_CLOCK, while the runtime converts ticks.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/agent.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <hsa/hsa_ext_amd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/str.h"
#include "event/bus.h"
#include "event/filter.h"
#include "source/hsa/table/real.h"

struct agent {
	_Atomic uint64_t handle;    /* release: the other fields are set before it */
	_Atomic uint64_t last_tick; /* relaxed: any recent value is good enough */
	bool is_gpu, is_cpu, is_left_out;
	uint32_t bdf, node;
	struct gpu_clock clock; /* under clock_lock */
};

#define CLOCK_STEP (1u << 20)
/* A tick whose time is further ahead is none: the program wrote something else to its signal. */
#define AHEAD_NS UINT64_C(1000000000)

static struct agent agents[AGENT_MAX];
static _Atomic uint32_t nr_agents;
static uint32_t nr_gpus;
static struct lock clock_lock = LOCK_INIT(LOCK_GPU_CLOCK);

static uint32_t info_u32(hsa_agent_t a, uint32_t what)
{
	uint32_t v = 0;

	return real.hsa_agent_get_info(a, (hsa_agent_info_t)what, &v) == HSA_STATUS_SUCCESS ? v : 0;
}

static uint32_t info_string(hsa_agent_t a, uint32_t what)
{
	char text[256] = "";

	if (real.hsa_agent_get_info(a, (hsa_agent_info_t)what, text) != HSA_STATUS_SUCCESS)
		return 0;
	return bus_string(text, strnlen(text, sizeof(text)));
}

static void describe(hsa_agent_t a, uint32_t index, hsa_device_type_t type)
{
	struct event ev = { .kind = EVENT_AGENT };
	struct event_agent *e = &ev.agent;

	e->index = index;
	e->handle = a.handle;
	e->name = info_string(a, HSA_AGENT_INFO_NAME);
	e->vendor = info_string(a, HSA_AGENT_INFO_VENDOR_NAME);
	e->product = info_string(a, HSA_AMD_AGENT_INFO_PRODUCT_NAME);
	e->uuid = info_string(a, HSA_AMD_AGENT_INFO_UUID);
	e->agent_type = type == HSA_DEVICE_TYPE_GPU ? REC_AGENT_GPU :
			type == HSA_DEVICE_TYPE_CPU ? REC_AGENT_CPU :
						      REC_AGENT_OTHER;
	e->gpu_index = type == HSA_DEVICE_TYPE_GPU ? nr_gpus++ : UINT32_MAX;
	agents[index].is_left_out = type == HSA_DEVICE_TYPE_GPU &&
				    filter_leaves_out_gpu(e->gpu_index);
	e->node = agents[index].node;
	e->nr_cu = info_u32(a, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
	e->simd_per_cu = info_u32(a, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU);
	e->max_waves_per_cu = info_u32(a, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU);
	e->clock_mhz = info_u32(a, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY);
	e->wave_size = info_u32(a, HSA_AGENT_INFO_WAVEFRONT_SIZE);
	e->bdf = agents[index].bdf;
	bus_emit(&ev);
}

/* Calls name memory by its pool: a fact about the process, "HANDLE AGENT", says whose it is. */
static hsa_status_t describe_pool(hsa_amd_memory_pool_t pool, void *data)
{
	struct event ev = { .kind = EVENT_INFO };
	const uint32_t *agent = data;
	char text[48];
	struct str s;

	str_init(&s, text, sizeof(text));
	str_add_uint(&s, pool.handle);
	str_add(&s, " ");
	str_add_uint(&s, *agent);
	ev.info.key = bus_string("memory_pool", SIZE_MAX);
	ev.info.value = bus_string(text, SIZE_MAX);
	bus_emit(&ev);
	return HSA_STATUS_SUCCESS;
}

static void describe_pools(hsa_agent_t a, uint32_t index)
{
	if (env_bool(ENV_HSA_API) && real.hsa_amd_agent_iterate_memory_pools)
		real.hsa_amd_agent_iterate_memory_pools(a, describe_pool, &index);
}

static hsa_status_t add(hsa_agent_t a, void *data)
{
	uint32_t n =
		atomic_load_explicit(&nr_agents, memory_order_relaxed); /* there is one writer */
	uint32_t bdf = info_u32(a, HSA_AMD_AGENT_INFO_BDFID);
	uint32_t node = info_u32(a, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID);
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
	uint32_t i;

	(void)data;
	real.hsa_agent_get_info(a, HSA_AGENT_INFO_DEVICE, &type);
	for (i = 0; i < n; i++)
		if (agents[i].node == node && agents[i].bdf == bdf &&
		    agents[i].is_gpu == (type == HSA_DEVICE_TYPE_GPU))
			break;
	if (i == AGENT_MAX) {
		log_warn("agent %u: beyond the limit of %u; its work is not traced", i, AGENT_MAX);
		return HSA_STATUS_SUCCESS;
	}
	if (i == n) {
		agents[i].node = node;
		agents[i].bdf = bdf;
		agents[i].is_gpu = type == HSA_DEVICE_TYPE_GPU;
		agents[i].is_cpu = type == HSA_DEVICE_TYPE_CPU;
		describe(a, i, type);
	}
	describe_pools(a, i);
	/* pairs with the acquire in agent_index(): the fields come before the handle */
	atomic_store_explicit(&agents[i].handle, a.handle, memory_order_release);
	if (i == n)
		atomic_store_explicit(&nr_agents, n + 1, memory_order_release);
	return HSA_STATUS_SUCCESS;
}

void agent_scan(void)
{
	if (real.hsa_iterate_agents(add, NULL) != HSA_STATUS_SUCCESS)
		log_warn("agents: the runtime does not list them; operations carry no device");
}

uint32_t agent_index(hsa_agent_t agent)
{
	uint32_t n = atomic_load_explicit(&nr_agents, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		/* pairs with the release in add() */
		if (atomic_load_explicit(&agents[i].handle, memory_order_acquire) == agent.handle)
			return i;
	return AGENT_NONE;
}

bool agent_is_gpu(uint32_t index)
{
	return index < AGENT_MAX && agents[index].is_gpu;
}

uint32_t agent_host(void)
{
	/* acquire: pairs with the release in add() */
	uint32_t n = atomic_load_explicit(&nr_agents, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		if (agents[i].is_cpu)
			return i;
	return AGENT_NONE;
}

bool agent_is_left_out(uint32_t index)
{
	return index < AGENT_MAX && agents[index].is_left_out;
}

hsa_agent_t agent_handle(uint32_t index)
{
	hsa_agent_t a = { .handle = 0 };

	if (index < AGENT_MAX)
		a.handle = atomic_load_explicit(&agents[index].handle, memory_order_relaxed);
	return a;
}

static bool convert(hsa_agent_t a, uint64_t ticks, uint64_t *ns)
{
	return real.hsa_amd_profiling_convert_tick_to_system_domain(a, ticks, ns) ==
	       HSA_STATUS_SUCCESS;
}

uint64_t agent_runtime_ns(uint32_t index, uint64_t ticks)
{
	uint64_t ns = 0;

	return convert(agent_handle(index), ticks, &ns) ? ns : agent_system_ns(index, ticks);
}

/* Whether `ticks` may be a reading of the GPU's counter. Clocks that are settled by another number
 * would be wrong for all later ticks. */
static bool is_plausible(const struct gpu_clock *c, uint64_t ticks, uint64_t ns)
{
	const struct gpu_clock_piece *last = c->nr ? &c->piece[c->nr - 1] : NULL;
	uint64_t latest = clock_now_ns() + AHEAD_NS;

	if (ns > latest || ticks > INT64_MAX)
		return false;
	return !last ||
	       (double)last->ns + (double)(ticks - last->ticks) * c->ns_per_tick <= (double)latest;
}

/* Settles the clock at `ticks`. *ns: the time, also where it can't be settled; 0: not known. */
static bool settle(struct agent *of, hsa_agent_t a, uint64_t ticks, uint64_t *ns)
	RTL_REQUIRES(clock_lock)
{
	/* The other tick of the line is earlier: for a tick far ahead the runtime measures its
	 * clocks again, and the two would be on different lines. */
	uint64_t back = ticks < CLOCK_STEP ? ticks : CLOCK_STEP, before;

	*ns = 0;
	if (!convert(a, ticks, ns)) {
		/* ROCr 7.2 and later refuse before they unload tools */
		if (of->clock.nr)
			*ns = gpu_clock_continue(&of->clock, ticks);
		return of->clock.nr;
	}
	if (!is_plausible(&of->clock, ticks, *ns) || !convert(a, ticks - back, &before) ||
	    before >= *ns)
		return false;
	gpu_clock_extend(&of->clock, ticks, *ns, (double)(*ns - before) / (double)back);
	atomic_store_explicit(&of->last_tick, ticks, memory_order_relaxed);
	return true;
}

uint64_t agent_settle_ns(struct gpu_clock_piece *p, uint32_t index, uint64_t ticks)
{
	const struct gpu_clock_piece *found;
	uint64_t ns = 0;

	if (index >= AGENT_MAX || !ticks)
		return 0;
	lock_take(&clock_lock);
	found = gpu_clock_find(&agents[index].clock, ticks);
	if (!found && settle(&agents[index], agent_handle(index), ticks, &ns))
		found = gpu_clock_find(&agents[index].clock, ticks);
	if (found) {
		*p = *found;
		ns = gpu_clock_ns(p, ticks);
	}
	lock_drop(&clock_lock);
	return ns;
}

uint64_t agent_system_ns(uint32_t index, uint64_t ticks)
{
	struct gpu_clock_piece unused;

	return agent_settle_ns(&unused, index, ticks);
}

/* The HSA API can't read a GPU's counter. The runtime converts ticks linearly, so two conversions
 * near a known tick give the tick of any time. */
static bool ticks_now(hsa_agent_t a, uint64_t tick, uint64_t now_ns, uint64_t *out)
{
	uint64_t t0, t1;

	if (!convert(a, tick, &t0) || !convert(a, tick + CLOCK_STEP, &t1) || t1 <= t0)
		return false;
	/* the tick may be slightly in the future since the clocks are inexact */
	*out = tick + (uint64_t)(int64_t)((double)(int64_t)(now_ns - t0) * (double)CLOCK_STEP /
					  (double)(t1 - t0));
	return true;
}

void agent_emit_clocks(void)
{
	uint32_t n = atomic_load_explicit(&nr_agents, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t tick = atomic_load_explicit(&agents[i].last_tick, memory_order_relaxed);
		struct event ev = { .kind = EVENT_CLOCK };
		uint64_t at, sys;

		if (!agents[i].is_gpu || tick == 0 ||
		    !ticks_now(agent_handle(i), tick, clock_now_ns(), &at))
			continue;
		sys = agent_system_ns(i, at);
		if (!sys)
			continue;
		ev.clock.agent = i + 1;
		ev.clock.ticks = at;
		ev.clock.system_ns = sys;
		ev.clock.monotonic_ns = clock_read_ns(CLOCK_MONOTONIC);
		ev.clock.boottime_ns = clock_read_ns(CLOCK_BOOTTIME);
		ev.clock.realtime_ns = clock_read_ns(CLOCK_REALTIME);
		bus_emit(&ev);
	}
}
