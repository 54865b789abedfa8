/* SPDX-License-Identifier: MIT */
/* calls.c - API calls of HIP and HSA: from the core's live.h to callbacks and records
 *
 * Owns:     this library's index among the subscribers.
 * Threads:  any.
 * Hot path: on_enter(), on_return(), on_record(): no lock but the pool's.
 */
#include "calls.h"

#include <string.h>

#include "facade.h"
#include "record.h"

/* What a callback of an HSA call gets. For HIP it is the runtime's own structure. */
struct hsa_block {
	struct hsa_api_data_t data;
	uint64_t phase_data;
};
_Static_assert(sizeof(struct hsa_block) <= LIVE_SCRATCH_SIZE, "fits into the memory of a call");

static int index_of = -1; /* set in calls_start(), constant after */
static const struct rtl_core *core;

/* Domain and operation as in the client's headers. */
static uint32_t domain_of(const struct live_call *call, uint32_t *id)
{
	if (call->domain == API_HSA) {
		*id = calls_hsa_id[call->operation];
		return ACTIVITY_DOMAIN_HSA_API;
	}
	*id = call->operation;
	return ACTIVITY_DOMAIN_HIP_API;
}

static struct hsa_block *begin_block(struct live_call *call, uint32_t id)
{
	struct hsa_block *b = live_scratch(call, index_of);

	memset(b, 0, sizeof(*b));
	b->data.correlation_id = call->correlation;
	b->data.phase = ACTIVITY_API_PHASE_ENTER;
	b->data.phase_data = &b->phase_data;
	if (call->args)
		calls_hsa_args(id, call->args, &b->data);
	return b;
}

static void on_enter(struct live_call *call)
{
	activity_rtapi_callback_t fn;
	uint32_t domain, id;
	void *arg;

	domain = domain_of(call, &id);
	fn = registry_get_callback(domain, id, &arg);
	if (!fn)
		return;
	call->own[index_of] = true;
	fn(domain, id, call->domain == API_HSA ? &begin_block(call, id)->data : call->args, arg);
}

static void on_return(struct live_call *call)
{
	void *data = call->args, *arg;
	activity_rtapi_callback_t fn;
	uint32_t domain, id;

	/* a call that began before the client wanted it, or while it was stopped, has no end
	 * either */
	if (record_is_stopped() || !call->own[index_of])
		return;
	domain = domain_of(call, &id);
	if (call->domain == API_HSA) {
		struct hsa_block *b = live_scratch(call, index_of);

		b->data.phase = ACTIVITY_API_PHASE_EXIT;
		if (call->result)
			memcpy(&b->data.uint64_t_retval, call->result, calls_hsa[id].result_size);
		data = &b->data;
	}
	fn = registry_get_callback(domain, id, &arg);
	if (fn)
		fn(domain, id, data, arg);
}

static void on_record(const struct live_call *call)
{
	uint32_t domain, id;
	struct buffer *pool;

	if (record_is_stopped())
		return;
	domain = domain_of(call, &id);
	pool = registry_get_pool(domain, id);
	if (pool)
		record_write_call(pool, domain, id, call);
}

static const struct live_subscriber subscriber = {
	.enter = on_enter,
	.exit = on_return,
	.record = on_record,
};

int calls_start(const struct rtl_core *of)
{
	core = of;
	index_of = core->live_subscribe(&subscriber);
	return index_of;
}

void calls_want(uint32_t domain, uint32_t id)
{
	unsigned int what = LIVE_NOTHING;
	void *arg;

	if (registry_get_callback(domain, id, &arg))
		what |= LIVE_CALLS;
	if (registry_get_pool(domain, id))
		what |= LIVE_RECORDS;
	if (domain == ACTIVITY_DOMAIN_HIP_API)
		core->live_want(index_of, API_HIP_CALLBACKS, id, what);
	else if (id < HSA_API_ID_DISPATCH) /* which is no function */
		core->live_want(index_of, API_HSA, calls_hsa[id].op, what);
}

void calls_pause(bool paused)
{
	core->live_pause(index_of, paused);
}
