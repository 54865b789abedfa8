/* SPDX-License-Identifier: MIT */
/* callbacks.c - the client sets, starts and stops the callbacks of queues and their dispatches
 *
 * Threads:  any.
 */
#include "queues.h"

#include <stddef.h>

static hsa_status_t set(rocprofiler_queue_callbacks_t callbacks, void *data, const char *api)
{
	if (!link_core())
		return error_set(HSA_STATUS_ERROR, api, "set_callbacks",
				 "librtl.so.1 is of another build; nothing is intercepted");
	if (!queues_set_callbacks(callbacks, data))
		return error_set(
			HSA_STATUS_ERROR, api, "set_callbacks",
			"there are queue callbacks with other data; rocprofiler_remove_queue_callbacks() comes first");
	dispatch_switch(callbacks.dispatch != NULL);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t remove_all(void)
{
	queues_remove_callbacks();
	dispatch_switch(false);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t switch_all(bool on)
{
	dispatch_switch(queues_switch_callbacks(on));
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_set_queue_callbacks(rocprofiler_queue_callbacks_t callbacks,
						    void *data)
{
	return set(callbacks, data, __func__);
}

EXPORT hsa_status_t rocprofiler_remove_queue_callbacks(void)
{
	return remove_all();
}

EXPORT hsa_status_t rocprofiler_start_queue_callbacks(void)
{
	return switch_all(true);
}

EXPORT hsa_status_t rocprofiler_stop_queue_callbacks(void)
{
	return switch_all(false);
}

EXPORT hsa_status_t rocprofiler_set_intercepting(rocprofiler_intercepting_t callbacks, void *data)
{
	return set(callbacks, data, __func__);
}

EXPORT hsa_status_t rocprofiler_remove_intercepting(void)
{
	return remove_all();
}

EXPORT hsa_status_t rocprofiler_add_dispatch_callback(rocprofiler_callback_t callback, void *data)
{
	const rocprofiler_queue_callbacks_t callbacks = { callback, NULL, NULL };

	NEED(callback);
	return set(callbacks, data, __func__);
}
