/* SPDX-License-Identifier: MIT */
/* empty_given.c - calls of functions that end the process when their arguments are zero, with what
 * they need
 *
 * What they need is made before the first call of all. Handles of HSA are passed as numbers, and
 * what the functions return is a status.
 */
#include <stdlib.h>

#include "empty_calls.h"

#define PAGE 4096u

typedef int (*any_fn)(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);

/* 0: no library has it */
static any_fn find(const char *name)
{
	any_fn fn;

	*(void **)&fn = empty_find(name);
	return fn;
}

static int call(const char *name, const void *a, const void *b, const void *c, const void *d,
		const void *e, const void *f)
{
	any_fn fn = find(name);

	return fn ? fn((uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uintptr_t)d, (uintptr_t)e,
		       (uintptr_t)f) :
		    -1;
}

static enum empty_result given(long long *result, const char *name, const void *a, const void *b,
			       const void *c, const void *d, const void *e, const void *f)
{
	if (!find(name))
		return EMPTY_ABSENT;
	*result = call(name, a, b, c, d, e, f);
	return EMPTY_STATUS;
}

/* ---- HIP ------------------------------------------------------------------------------------- */

static void *stream;
static uint64_t written[32];

void empty_give_hip(void)
{
	int (*configure)(uint64_t grid_xy, uint32_t grid_z, uint64_t block_xy, uint32_t block_z,
			 size_t shared, void *on);

	call("hipStreamCreate", &stream, NULL, NULL, NULL, NULL, NULL);
	/* launches that are set up: for functions that take one */
	*(void **)&configure = empty_find("hipConfigureCall");
	for (int i = 0; configure && i < 4; i++)
		configure(UINT64_C(1) << 32 | 1, 1, UINT64_C(1) << 32 | 1, 1, 0, NULL);
}

#define GIVEN(name, ...)                                                                           \
	static enum empty_result call_##name(long long *result)                                    \
	{                                                                                          \
		return given(result, #name, __VA_ARGS__);                                          \
	}
GIVEN(hipLaunchByPtr, NULL, NULL, NULL, NULL, NULL, NULL)
GIVEN(hipSetupArgument, written, (void *)8, NULL, NULL, NULL, NULL)
GIVEN(hipStreamUpdateCaptureDependencies, stream, NULL, NULL, NULL, NULL, NULL)

/* ---- HSA ------------------------------------------------------------------------------------- */

static _Alignas(PAGE) char page[PAGE];
static void *soft_queue;
static uint64_t cpu;

static int keep_first(uint64_t handle, void *to)
{
	*(uint64_t *)to = handle;
	/* ends the iteration */
	return 1;
}

void empty_give_hsa(void)
{
	void *at = NULL;
	uint64_t region = 0;

	/* the first agent is a processor, whose first region is the system's memory */
	call("hsa_iterate_agents", (void *)keep_first, &cpu, NULL, NULL, NULL, NULL);
	call("hsa_agent_iterate_regions", (void *)(uintptr_t)cpu, (void *)keep_first, &region, NULL,
	     NULL, NULL);
	call("hsa_soft_queue_create", (void *)(uintptr_t)region, (void *)64, NULL, (void *)1,
	     (void *)(uintptr_t)empty_signal, &soft_queue);
	call("hsa_amd_memory_lock", page, (void *)(uintptr_t)PAGE, NULL, NULL, &at, NULL);
}

GIVEN(hsa_amd_memory_unlock, page, NULL, NULL, NULL, NULL, NULL)
#undef GIVEN

/* These return nothing. */
#define GIVEN(name)                                                                                \
	static enum empty_result call_##name(long long *result)                                    \
	{                                                                                          \
		(void)result;                                                                      \
		if (!find(#name))                                                                  \
			return EMPTY_ABSENT;                                                       \
		(void)call(#name, soft_queue, NULL, NULL, NULL, NULL, NULL);                       \
		return EMPTY_OTHER;                                                                \
	}
GIVEN(hsa_queue_store_read_index_relaxed)
GIVEN(hsa_queue_store_read_index_screlease)
#undef GIVEN

#define GIVEN(name)                                                                                \
	{                                                                                          \
#name, call_##name                                                                 \
	}
const struct empty_call empty_given[] = {
	GIVEN(hipLaunchByPtr),
	GIVEN(hipSetupArgument),
	GIVEN(hipStreamUpdateCaptureDependencies),
	GIVEN(hsa_amd_memory_unlock),
	GIVEN(hsa_queue_store_read_index_relaxed),
	GIVEN(hsa_queue_store_read_index_screlease),
	{ NULL, NULL },
};
#undef GIVEN
