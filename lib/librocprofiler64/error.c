/* SPDX-License-Identifier: MIT */
/* error.c - the text and the status of each thread's last error
 *
 * A text is "function(), step(), what is wrong" and a newline, as AMD's library has them. Success
 * leaves both as they are.
 *
 * Threads:  any; each its own.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../face/per_thread.h"
#include "v1.h"

hsa_status_t error_set(hsa_status_t status, const char *api, const char *inner, const char *format,
		       ...)
{
	struct per_thread *t = per_thread_get();
	size_t n, last = sizeof(t->error) - 2;
	va_list args;

	if (!t)
		return status;
	t->status = (uint32_t)status;
	snprintf(t->error, last, "%s(), %s(), ", api, inner);
	n = strlen(t->error);
	va_start(args, format);
	vsnprintf(t->error + n, last - n + 1, format, args);
	va_end(args);
	n = strlen(t->error);
	memcpy(t->error + n, "\n", 2);
	return status;
}

EXPORT const char *rocprofiler_last_error_string(void)
{
	const struct per_thread *t = per_thread_get();

	return t ? t->error : "";
}

EXPORT hsa_status_t rocprofiler_error_string(const char **str)
{
	NEED(str);
	*str = rocprofiler_last_error_string();
	return HSA_STATUS_SUCCESS;
}

EXPORT rocprofiler_errno_t rocprofiler_errno(void)
{
	const struct per_thread *t = per_thread_get();

	return t ? (rocprofiler_errno_t)t->status : HSA_STATUS_SUCCESS;
}
