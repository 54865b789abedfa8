/* SPDX-License-Identifier: MIT */
/* hiplife_part.c - libraries of hiplife that call HIP when they are loaded, used and unloaded
 *
 * PART=1 is linked to the program, and its constructor runs before that of any preloaded library;
 * PART=2 is loaded and unloaded at run time; PART=3 has no link to HIP, so that it is unloaded
 * after it.
 */
#include <hip/hip_runtime_api.h>

#include <stdlib.h>

#define STEP (PART * 1000)

/* Each call has a unique number, which identifies it in the trace. */
static void call(int number)
{
	(void)hipGetErrorString((hipError_t)number);
}

#if PART == 1
static void at_exit(void)
{
	for (int i = 0; i < 10; i++)
		call(STEP + 100 + i);
}
#endif

__attribute__((constructor)) static void loaded(void)
{
#if PART == 1
	/* registered before main() registers its handlers, so it runs after those */
	atexit(at_exit);
#endif
	for (int i = 0; i < 10; i++)
		call(STEP + i);
}

__attribute__((destructor)) static void unloaded(void)
{
	for (int i = 0; i < 10; i++)
		call(STEP + 200 + i);
}

void hiplife_part_work(int load);

void hiplife_part_work(int load)
{
	void *p;

	for (int i = 0; i < 10; i++)
		call(STEP + 300 + 10 * load + i);
	if (PART == 2 && hipMalloc(&p, 4096 * (size_t)(load + 1)) == hipSuccess)
		(void)hipFree(p);
}
