/* SPDX-License-Identifier: MIT */
/* kmt_dtif.c - what libdtif.so has besides the thunk's functions
 *
 * With HSA_ENABLE_DTIF=1 a runtime from 7.0 on loads libdtif.so by this name and takes the whole thunk from it, by
 * dlsym, instead of the one that it was linked with. It then rings the doorbells of AQL queues by
 * hsaKmtQueueRingDoorbell() and uses no events.
 *
 * Life:     the library stays when the runtime closes it (-z nodelete), since its thread does.
 */
#include "kmt.h"

void *DtifCreate(const char *api);
void DtifDestroy(void);

static char instance;

KMT_API void *DtifCreate(const char *api)
{
	(void)api;
	return &instance;
}

KMT_API void DtifDestroy(void)
{
}
