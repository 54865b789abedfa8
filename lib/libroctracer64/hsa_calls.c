/* SPDX-License-Identifier: MIT */
/* hsa_calls.c - HSA's calls while they run
 *
 * Owns:     what is wanted of each function.
 * Threads:  any.
 * Hot path: hsa_calls_begin(): one load where nothing is wanted.
 */
#include "hsa_calls.h"

#include <errno.h>
#include <string.h>

#include "facade.h"
#include "hsa_events.h"

/* of a function in `wanted` */
#define CALL 1u
#define EFFECTS 2u

static _Atomic uint8_t wanted[HSA_API_ID_NUMBER];
static _Atomic uint32_t nr_wanted;

static void set(uint32_t id, uint8_t bit, bool on)
{
	uint8_t before;

	if (id >= HSA_API_ID_NUMBER)
		return;
	/* relaxed: a call that runs meanwhile is told or not */
	if (on) {
		before = atomic_fetch_or_explicit(&wanted[id], bit, memory_order_relaxed);
		if (!before)
			atomic_fetch_add_explicit(&nr_wanted, 1, memory_order_relaxed);
	} else {
		before =
			atomic_fetch_and_explicit(&wanted[id], (uint8_t)~bit, memory_order_relaxed);
		if (before == bit)
			atomic_fetch_sub_explicit(&nr_wanted, 1, memory_order_relaxed);
	}
}

void hsa_calls_want(uint32_t id, bool on)
{
	set(id, CALL, on);
}

void hsa_calls_watch(uint32_t id, bool on)
{
	set(id, EFFECTS, on);
}

bool hsa_calls_any(void)
{
	return atomic_load_explicit(&nr_wanted, memory_order_relaxed) > 0;
}

bool hsa_calls_begin(uint32_t id, struct hsa_call *c)
{
	int saved = errno;
	uint8_t mask = atomic_load_explicit(&wanted[id], memory_order_relaxed);

	if (!mask)
		return false;
	c->is_told = mask & CALL && !stream_is_stopped();
	c->has_events = mask & EFFECTS;
	if (!c->is_told && !c->has_events)
		return false;
	memset(&c->data, 0, sizeof(c->data));
	c->phase_data = 0;
	c->data.phase_data = &c->phase_data;
	c->has_callback = c->has_pool = false;
	if (c->is_told) {
		c->has_pool = registry_get_pool(ACTIVITY_DOMAIN_HSA_API, id) != NULL;
		c->data.correlation_id = stream_core()->api_open(&c->outer);
		c->begin_ns = stream_core()->now_ns();
	}
	errno = saved;
	return true;
}

static void call_back(uint32_t id, struct hsa_call *c, bool is_first)
{
	activity_rtapi_callback_t fn;
	void *arg;

	fn = registry_get_callback(ACTIVITY_DOMAIN_HSA_API, id, &arg);
	if (!fn || !(is_first || c->has_callback))
		return;
	c->has_callback = true;
	fn(ACTIVITY_DOMAIN_HSA_API, id, &c->data, arg);
}

void hsa_calls_enter(uint32_t id, struct hsa_call *c)
{
	int saved = errno;

	c->data.phase = ACTIVITY_API_PHASE_ENTER;
	if (c->is_told)
		call_back(id, c, true);
	if (c->has_events)
		hsa_events_before(id, &c->data);
	errno = saved;
}

void hsa_calls_leave(uint32_t id, struct hsa_call *c)
{
	int saved = errno;
	struct pool *pool;

	if (c->has_events)
		hsa_events_after(id, &c->data);
	if (c->is_told)
		stream_core()->api_close(c->outer);
	if (c->is_told && !stream_is_stopped()) {
		c->data.phase = ACTIVITY_API_PHASE_EXIT;
		call_back(id, c, false);
		pool = registry_get_pool(ACTIVITY_DOMAIN_HSA_API, id);
		if (pool && c->has_pool)
			stream_write_call(pool, ACTIVITY_DOMAIN_HSA_API, id, c->data.correlation_id,
					  c->begin_ns, stream_core()->now_ns());
	}
	errno = saved;
}
