/* SPDX-License-Identifier: MIT */
/* slot.h - callback slots: a function of the program and its argument
 *
 * Readers take no lock. They read the pair under a sequence count, so that a function never comes
 * with the argument of another. A call that is running when the slot changes may still use the old
 * pair.
 *
 *  operation | slot_set | slot_get
 *  ----------+----------+---------
 *  slot_set  | no       | yes
 *  slot_get  | yes      | yes
 */
#ifndef RTL_LIB_FACE_SLOT_H
#define RTL_LIB_FACE_SLOT_H

#include <stdatomic.h>
#include <stdint.h>

typedef void (*slot_fn)(uint32_t domain, uint32_t op, const void *data, void *arg);

struct slot {
	_Atomic uint32_t sequence; /* odd: being changed */
	_Atomic slot_fn fn;
	_Atomic(void *) arg;
};

static inline void slot_set(struct slot *s, slot_fn fn, void *arg)
{
	uint32_t n = atomic_load_explicit(&s->sequence, memory_order_relaxed);

	atomic_store_explicit(&s->sequence, n + 1, memory_order_relaxed);
	/* release: the odd count comes first; pairs with the loads of slot_get() */
	atomic_store_explicit(&s->fn, fn, memory_order_release);
	atomic_store_explicit(&s->arg, arg, memory_order_release);
	/* release: pairs with the acquire of the count in slot_get() */
	atomic_store_explicit(&s->sequence, n + 2, memory_order_release);
}

/* HOT: NULL: the slot is empty. */
static inline slot_fn slot_get(struct slot *s, void **arg)
{
	uint32_t before;
	slot_fn fn;

	do {
		/* acquire: pairs with slot_set() */
		before = atomic_load_explicit(&s->sequence, memory_order_acquire);
		/* acquire: a later pair comes with its count */
		fn = atomic_load_explicit(&s->fn, memory_order_acquire);
		*arg = atomic_load_explicit(&s->arg, memory_order_acquire);
	} while (before & 1 || before != atomic_load_explicit(&s->sequence, memory_order_relaxed));
	return fn;
}

#endif
