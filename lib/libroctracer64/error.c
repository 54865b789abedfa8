/* SPDX-License-Identifier: MIT */
/* error.c - a status for each error and generation, and the thread's error text
 *
 * Threads:  any.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../face/per_thread.h"
#include "base/alloc.h"
#include "facade.h"

/* libroctracer64.so.1 and .so.4: statuses are what a client was compiled with. */
static const int statuses[ERROR_NR] = {
#if ROCTRACER64_GENERATION == 1
	[ERROR_NONE] = 0,
	[ERROR_GENERAL] = 1,
	[ERROR_DOMAIN] = 4,
	[ERROR_ARGUMENT] = 5,
	[ERROR_NO_DEFAULT_POOL] = 0, /* accepted there; records are dropped */
	[ERROR_DEFAULT_POOL_SET] = 1,
	[ERROR_MEMORY] = 1,
	[ERROR_EMPTY_STACK] = 1,
	[ERROR_HIP_API_OP] = 6,
	[ERROR_HIP_OPS_OP] = 7,
	[ERROR_HSA_OP] = 0, /* ignored there */
	[ERROR_ROCTX_OP] = 8,
#else
	[ERROR_NONE] = ROCTRACER_STATUS_SUCCESS,
	[ERROR_GENERAL] = ROCTRACER_STATUS_ERROR,
	[ERROR_DOMAIN] = ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID,
	[ERROR_ARGUMENT] = ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT,
	[ERROR_NO_DEFAULT_POOL] = ROCTRACER_STATUS_ERROR_DEFAULT_POOL_UNDEFINED,
	[ERROR_DEFAULT_POOL_SET] = ROCTRACER_STATUS_ERROR_DEFAULT_POOL_ALREADY_DEFINED,
	[ERROR_MEMORY] = ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION,
	[ERROR_EMPTY_STACK] = ROCTRACER_STATUS_ERROR_MISMATCHED_EXTERNAL_CORRELATION_ID,
	[ERROR_HIP_API_OP] = ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT,
	[ERROR_HIP_OPS_OP] = ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT,
	[ERROR_HSA_OP] = ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT,
	[ERROR_ROCTX_OP] = ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT,
#endif
};

enum error error_set(enum error e, const char *outer, const char *inner, const char *format, ...)
{
	struct per_thread *t = per_thread_get();
	size_t n;
	va_list args;

	if (!t || !statuses[e])
		return e;
	snprintf(t->error, sizeof(t->error), "%s(), %s(), ", outer, inner);
	n = strlen(t->error);
	va_start(args, format);
	vsnprintf(t->error + n, sizeof(t->error) - n, format, args);
	va_end(args);
#if ROCTRACER64_GENERATION == 1
	/* texts of that generation end in a newline */
	n = strlen(t->error);
	if (n + 1 < sizeof(t->error))
		memcpy(t->error + n, "\n", 2);
#endif
	return e;
}

roctracer_status_t error_status(enum error e)
{
	return (roctracer_status_t)statuses[e];
}

const char *error_text(void)
{
	static const char none[] = "";
	struct per_thread *t = per_thread_get();
	char *copy = alloc_string(t ? t->error : none);

	return copy ? copy : none;
}
