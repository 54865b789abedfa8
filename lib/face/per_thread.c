/* SPDX-License-Identifier: MIT */
/* per_thread.c - what a face keeps for each thread
 *
 * Owns:     the block of each thread.
 * Threads:  any; each its own block.
 */
#include "base/alloc.h"
#include "per_thread.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local struct per_thread *per_thread_own;
static pthread_key_t key;

static void thread_ends(void *arg)
{
	struct per_thread *t = arg;

	per_thread_own = NULL;
	alloc_free(t->external.ids);
	alloc_free(t);
}

static void make_key(void)
{
	pthread_key_create(&key, thread_ends);
}

struct per_thread *per_thread_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (per_thread_own)
		return per_thread_own;
	pthread_once(&once, make_key);
	per_thread_own = alloc_zero(1, sizeof(*per_thread_own));
	if (per_thread_own)
		pthread_setspecific(key, per_thread_own);
	return per_thread_own;
}

bool id_stack_push(struct id_stack *s, uint64_t id)
{
	if (s->nr == s->size) {
		uint32_t size = s->size ? s->size * 2 : 16;
		uint64_t *larger = alloc_resize(s->ids, size, sizeof(*larger));

		if (!larger)
			return false;
		s->ids = larger;
		s->size = size;
	}
	s->ids[s->nr++] = id;
	return true;
}

bool id_stack_pop(struct id_stack *s, uint64_t *id)
{
	bool any = s->nr != 0;

	*id = any ? s->ids[--s->nr] : 0;
	return any;
}
