/* SPDX-License-Identifier: MIT */
/* hsa_calls.c - callbacks of HSA's calls: those of the client, and those of roctracer's domain
 * HSA_EVT
 *
 * Owns:     both kinds of callbacks.
 * Threads:  any.
 */
#define LOG_TOPIC "rocprofiler"
#include "hsa_calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../face/hsa_events.h"
#include "../face/slot.h"
#include "base/alloc.h"
#include "base/log.h"
#include "v1.h"
#define ROCP_INTERNAL_BUILD
#include "rocprofiler/activity.h"

#define DOMAIN_HSA_EVT 7u

typedef void (*event_fn)(uint32_t domain, uint32_t op, const void *data, void *arg);

GUARDED_LOCK(lock, LOCK_V1_HSA_CALLS);
/* written under lock; a slot's function is of another type, by its number */
static struct slot clients[HSA_EVT_ID_NUMBER], events[HSA_EVT_ID_NUMBER];
static bool is_intercepting RTL_GUARDED_BY(lock);
static bool is_subscribed RTL_GUARDED_BY(lock);
static _Atomic uint32_t enabled; /* events */

static bool has(struct slot *s)
{
	void *arg;

	return slot_get(s, &arg) != NULL;
}

static void report(uint32_t event, const void *data)
{
	rocprofiler_hsa_callback_fun_t client;
	event_fn fn;
	void *arg;

	/* kernels are reported for their names, too. relaxed: a call that runs meanwhile may be
	 * seen */
	if (runtime_is_quiet() ||
	    !(atomic_load_explicit(&enabled, memory_order_relaxed) & 1u << event))
		return;
	client = (rocprofiler_hsa_callback_fun_t)(void *)slot_get(&clients[event], &arg);
	if (client)
		client((rocprofiler_hsa_cb_id_t)event, data, arg);
	fn = slot_get(&events[event], &arg);
	if (fn)
		fn(DOMAIN_HSA_EVT, event, data, arg);
}

RTL_REQUIRES(lock) static bool subscribe(void)
{
	const struct hsa_events_user user = {
		.core = link_core(),
		.report = report,
		.numbers_by_index = true,
		.reports_code_memory = true,
	};

	if (is_subscribed)
		return true;
	if (!user.core || hsa_events_start(&user) < 0 || !user.core->hsa_wrap()) {
		log_warn("HSA's calls can't be intercepted: too many libraries do");
		return false;
	}
	is_subscribed = true;
	return true;
}

/* What has a callback is enabled. */
RTL_REQUIRES(lock) static void update(void)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < HSA_EVT_ID_NUMBER; i++) {
		/* packets need no other interception than dispatches do */
		if (has(&events[i]) ||
		    (has(&clients[i]) && (is_intercepting || i == HSA_EVT_ID_SUBMIT)))
			wanted |= 1u << i;
	}
	if (!wanted && !is_subscribed)
		return;
	if (!subscribe())
		return;
	atomic_store_explicit(&enabled, wanted, memory_order_relaxed);
	for (uint32_t i = 0; i < HSA_EVT_ID_NUMBER; i++)
		hsa_events_want(i, wanted & 1u << i);
}

void hsa_calls_on_runtime(void)
{
	bool has_wrappers;

	lock_take(&lock);
	has_wrappers = is_subscribed;
	lock_drop(&lock);
	if (has_wrappers)
		hsa_events_on_runtime();
}

void hsa_calls_start(void)
{
	lock_take(&lock);
	is_intercepting = true;
	update();
	lock_drop(&lock);
	/* the tables were taken before the tool was loaded */
	if (runtime_has_tables())
		hsa_calls_on_runtime();
}

static void set(struct slot *s, rocprofiler_hsa_callback_fun_t fn, void *arg)
{
	slot_set(s, (slot_fn)(void *)fn, fn ? arg : NULL);
}

EXPORT hsa_status_t rocprofiler_set_hsa_callbacks(const rocprofiler_hsa_callbacks_t callbacks,
						  void *arg)
{
	bool was_subscribed, has_wrappers;

	lock_take(&lock);
	was_subscribed = is_subscribed;
	set(&clients[HSA_EVT_ID_ALLOCATE], callbacks.allocate, arg);
	set(&clients[HSA_EVT_ID_DEVICE], callbacks.device, arg);
	set(&clients[HSA_EVT_ID_MEMCOPY], callbacks.memcopy, arg);
	set(&clients[HSA_EVT_ID_SUBMIT], callbacks.submit, arg);
	set(&clients[HSA_EVT_ID_KSYMBOL], callbacks.ksymbol, arg);
	set(&clients[HSA_EVT_ID_CODEOBJ], callbacks.codeobj, arg);
	update();
	has_wrappers = is_subscribed;
	lock_drop(&lock);
	if (has_wrappers && !was_subscribed && runtime_has_tables())
		hsa_calls_on_runtime();
	return HSA_STATUS_SUCCESS;
}

/* ---- hooks of roctracer up to 5.2 ------------------------------------------------------------ */

EXPORT const char *GetEvtName(uint32_t op);
EXPORT bool RegisterEvtCallback(uint32_t op, void *callback, void *arg);
EXPORT bool RemoveEvtCallback(uint32_t op);

/* The caller frees it. */
EXPORT const char *GetEvtName(uint32_t op)
{
	static const char *const names[HSA_EVT_ID_NUMBER] = { "ALLOCATE", "DEVICE",  "MEMCOPY",
							      "SUBMIT",	  "KSYMBOL", "CODEOBJ" };

	return alloc_string(op < HSA_EVT_ID_NUMBER ? names[op] : "CODEOBJ");
}

static bool set_event(uint32_t op, void *callback, void *arg)
{
	bool was_subscribed, has_wrappers;

	if (op >= HSA_EVT_ID_NUMBER)
		return false;
	lock_take(&lock);
	was_subscribed = is_subscribed;
	slot_set(&events[op], (slot_fn)callback, arg);
	update();
	has_wrappers = is_subscribed;
	lock_drop(&lock);
	if (has_wrappers && !was_subscribed && runtime_has_tables())
		hsa_calls_on_runtime();
	return true;
}

EXPORT bool RegisterEvtCallback(uint32_t op, void *callback, void *arg)
{
	return callback && set_event(op, callback, arg);
}

EXPORT bool RemoveEvtCallback(uint32_t op)
{
	return set_event(op, NULL, NULL);
}
