/* SPDX-License-Identifier: MIT */
/* signal_pool.c - completion signals of our own
 *
 * Owns:     the free signals of each queue, as a ring: the harvester puts in, who submits packets takes.
 * Hot path: signal_pool_take(), signal_pool_put().
 * Fails:    no signal to be had: NULL; the caller submits the packet untimed and counts it.
 */
#include "source/hsa/completion/signal_pool.h"

#include <errno.h>
#include <stddef.h>

#include <hsa/hsa_ext_amd.h>

#include "base/alloc.h"
#include "source/hsa/table/real.h"

_Static_assert(offsetof(amd_signal_t, value) == 8 && offsetof(amd_signal_t, start_ts) == 32 &&
		       offsetof(amd_signal_t, end_ts) == 40,
	       "amd_signal_t as the GPU writes it");

amd_signal_t *signal_pool_make(void)
{
	hsa_signal_t s = { .handle = 0 };
	amd_signal_t *sig;

	if (real.hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &s) !=
	    HSA_STATUS_SUCCESS)
		return NULL;
	sig = signal_of(s);
	signal_clear_ticks(sig);
	return sig;
}

static void push(struct signal_pool *p, amd_signal_t *s)
{
	uint64_t tail = atomic_load_explicit(&p->tail, memory_order_relaxed); /* owner */

	atomic_store_explicit(&p->ring[tail & p->mask], (uint64_t)(uintptr_t)s,
			      memory_order_relaxed);
	/* pairs with the acquire in signal_pool_take(): the slot comes before the tail */
	atomic_store_explicit(&p->tail, tail + 1, memory_order_release);
}

static uint64_t nr_free(struct signal_pool *p)
{
	return atomic_load_explicit(&p->tail, memory_order_relaxed) -
	       atomic_load_explicit(&p->head, memory_order_relaxed);
}

int signal_pool_init(struct signal_pool *p, uint32_t size)
{
	uint32_t n = 2 * size;

	if (!p->ring) {
		p->ring = alloc_pages(n * sizeof(*p->ring));
		if (!p->ring)
			return -ENOMEM;
		p->mask = n - 1;
	}
	for (uint32_t i = 0; i < SIGNAL_POOL_START; i++) {
		amd_signal_t *s = signal_pool_make();

		if (!s)
			break;
		push(p, s);
	}
	return 0;
}

void signal_pool_put(struct signal_pool *p, amd_signal_t *s)
{
	/* Never: the ring holds more than can exist. One is not destroyed here, because who submits
	 * packets may be looking at it (back_pressure.c). */
	if (nr_free(p) > p->mask)
		return;
	signal_clear_ticks(s);
	__atomic_store_n(&s->value, 1, __ATOMIC_RELAXED);
	push(p, s);
}

void signal_pool_grow(struct signal_pool *p, uint64_t nr_in_flight)
{
	uint64_t want = nr_in_flight / 2 + SIGNAL_POOL_START / 2;

	for (int i = 0; i < 64 && nr_free(p) < want && nr_free(p) <= p->mask / 2; i++) {
		amd_signal_t *s = signal_pool_make();

		if (!s)
			return;
		push(p, s);
	}
}

void signal_pool_trim(struct signal_pool *p, uint32_t keep)
{
	while (nr_free(p) > keep)
		real.hsa_signal_destroy(signal_handle(signal_pool_take(p)));
}

void signal_pool_fini(struct signal_pool *p)
{
	signal_pool_trim(p, 0);
}
