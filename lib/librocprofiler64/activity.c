/* SPDX-License-Identifier: MIT */
/* activity.c - hooks for roctracer up to 5.2, which looks them up: PC samples
 *
 * Samples of the program counter are not there: InitActivityCallback() refuses, with a text. Those
 * of events are in hsa_calls.c.
 */
#include <string.h>

#include "base/alloc.h"
#include "v1.h"

EXPORT const char *GetOpName(uint32_t op);
EXPORT bool RegisterApiCallback(uint32_t op, void *callback, void *arg);
EXPORT bool RemoveApiCallback(uint32_t op);
EXPORT bool InitActivityCallback(void *callback, void *arg);
EXPORT bool EnableActivityCallback(uint32_t op, bool enable);

/* The caller frees it. */
EXPORT const char *GetOpName(uint32_t op)
{
	(void)op;
	return alloc_string("PCSAMPLE");
}

/* There are no calls of that domain. */
EXPORT bool RegisterApiCallback(uint32_t op, void *callback, void *arg)
{
	(void)op;
	(void)callback;
	(void)arg;
	return true;
}

EXPORT bool RemoveApiCallback(uint32_t op)
{
	(void)op;
	return true;
}

EXPORT bool InitActivityCallback(void *callback, void *arg)
{
	(void)callback;
	(void)arg;
	error_set(HSA_STATUS_ERROR, __func__, "init",
		  "samples of the program counter are not there");
	return false;
}

EXPORT bool EnableActivityCallback(uint32_t op, bool enable)
{
	(void)op;
	return !enable;
}
