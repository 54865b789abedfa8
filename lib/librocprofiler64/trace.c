/* SPDX-License-Identifier: MIT */
/* trace.c - features of kind TRACE
 *
 * Threads:  a context is on one thread at a time.
 */
#include <stdlib.h>

#include "v1.h"

struct trace {
	uint32_t nr;
};

hsa_status_t trace_add(struct context *c, uint32_t index, const char *api)
{
	const rocprofiler_feature_t *f = &c->features[index];

	if (!f->parameters && f->parameter_count)
		return error_set(HSA_STATUS_ERROR_INVALID_ARGUMENT, api, "add_trace",
				 "feature %u: 'parameters' is NULL", index);
	return error_set(HSA_STATUS_ERROR, api, "add_trace", "traces are not there yet");
}

hsa_status_t trace_make(struct context *c, const char *api)
{
	(void)c;
	return error_set(HSA_STATUS_ERROR, api, "make_trace", "traces are not there yet");
}

hsa_status_t trace_start(struct context *c, const char *api)
{
	(void)c;
	(void)api;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t trace_stop(struct context *c, const char *api)
{
	(void)c;
	(void)api;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t trace_store(struct context *c, const char *api)
{
	(void)c;
	(void)api;
	return HSA_STATUS_SUCCESS;
}

void trace_close(struct context *c)
{
	free(c->trace);
	c->trace = NULL;
}

EXPORT hsa_status_t rocprofiler_iterate_trace_data(rocprofiler_t *context,
						   rocprofiler_trace_data_callback_t callback,
						   void *data)
{
	struct context *c = context_of(context, __func__);

	(void)data;
	if (!c)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	NEED(callback);
	return FAIL("iterate_trace_data", "the context has no traces");
}
