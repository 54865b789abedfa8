/* SPDX-License-Identifier: MIT */
/* hsa_calls.c - HSA's calls while they run
 *
 * Owns:     the mask of wanted calls.
 * Threads:  any.
 * Hot path: hsa_calls_begin(): one load where nothing is wanted.
 */
#include "hsa_calls.h"

#include <errno.h>
#include <string.h>

#include "facade.h"

static _Atomic uint8_t wanted[HSA_API_ID_NUMBER];
static _Atomic uint32_t nr_wanted;

void hsa_calls_want(uint32_t id, bool on)
{
	if (id >= HSA_API_ID_NUMBER)
		return;
	/* relaxed: a call that runs meanwhile is told or not */
	if (atomic_exchange_explicit(&wanted[id], on, memory_order_relaxed) == on)
		return;
	if (on)
		atomic_fetch_add_explicit(&nr_wanted, 1, memory_order_relaxed);
	else
		atomic_fetch_sub_explicit(&nr_wanted, 1, memory_order_relaxed);
}

bool hsa_calls_any(void)
{
	return atomic_load_explicit(&nr_wanted, memory_order_relaxed) > 0;
}

bool hsa_calls_begin(uint32_t id, struct hsa_call *c)
{
	int saved = errno;

	if (!atomic_load_explicit(&wanted[id], memory_order_relaxed) || stream_is_stopped())
		return false;
	memset(&c->data, 0, sizeof(c->data));
	c->phase_data = 0;
	c->data.phase_data = &c->phase_data;
	c->has_pool = registry_get_pool(ACTIVITY_DOMAIN_HSA_API, id) != NULL;
	c->has_callback = false;
	c->data.correlation_id = stream_core()->api_open(&c->outer);
	c->begin_ns = stream_core()->now_ns();
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
	call_back(id, c, true);
	errno = saved;
}

void hsa_calls_leave(uint32_t id, struct hsa_call *c)
{
	int saved = errno;
	struct pool *pool;

	stream_core()->api_close(c->outer);
	if (!stream_is_stopped()) {
		c->data.phase = ACTIVITY_API_PHASE_EXIT;
		call_back(id, c, false);
		pool = registry_get_pool(ACTIVITY_DOMAIN_HSA_API, id);
		if (pool && c->has_pool)
			stream_write_call(pool, ACTIVITY_DOMAIN_HSA_API, id, c->data.correlation_id,
					  c->begin_ns, stream_core()->now_ns());
	}
	errno = saved;
}
