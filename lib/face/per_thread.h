/* SPDX-License-Identifier: MIT */
/* per_thread.h - what a face keeps for each thread: the text of its last error, a stack of external
 * correlation ids */
#ifndef RTL_LIB_FACE_PER_THREAD_H
#define RTL_LIB_FACE_PER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* External correlation ids, the innermost last. Zeroed: empty. */
struct id_stack {
	uint64_t *ids;
	uint32_t nr, size;
};

struct per_thread {
	char error[1024];
	uint32_t status; /* of that error, where a face keeps it */
	struct id_stack external;
};

extern _Thread_local struct per_thread *per_thread_own;

/* This thread's block, made at the first call and freed when the thread ends. NULL: no memory. */
struct per_thread *per_thread_get(void);

/* false: no memory. */
bool id_stack_push(struct id_stack *s, uint64_t id);
/* false: the stack is empty, and *id is 0. */
bool id_stack_pop(struct id_stack *s, uint64_t *id);

/* HOT: the innermost external id of this thread. false: there is none. */
static inline bool per_thread_external(uint64_t *id)
{
	const struct per_thread *t = per_thread_own;

	if (!t || !t->external.nr)
		return false;
	*id = t->external.ids[t->external.nr - 1];
	return true;
}

#endif
