/* SPDX-License-Identifier: MIT */
/* copy_held.c - copies that wait in librtl while a kernel is replayed
 *
 * Owns:     the list of copies that wait, under `lock`.
 * Threads:  see copy_held.h.
 * Fails:    no memory: the copy is the runtime's at once, as without a replay; it counts as running
 *           until it has completed.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/memory/copy_held.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/life.h"
#include "source/hsa/completion/signal.h"
#include "source/hsa/memory/copy_table.h"
#include "source/hsa/table/real.h"

#define MAX_SIGNALS 32u
#define PER_BLOCK 64u

struct held {
	struct held *next;
	struct copy_args args; /* of a rect to what follows */
	hsa_pitched_ptr_t dst_pitched, src_pitched;
	hsa_dim3_t dst_offset, src_offset, range;
	struct copy_call call;
	copy_end_fn end;
	uint32_t nr_signals;
	hsa_signal_t signals[MAX_SIGNALS];
};

static struct lock lock = LOCK_INIT(LOCK_COPIES_HELD);
static struct held *first RTL_GUARDED_BY(lock), **last RTL_GUARDED_BY(lock) = &first;
static struct held *unused RTL_GUARDED_BY(lock); /* never freed */
static _Atomic uint32_t nr_held;		 /* with an entry in the table of copies */
static _Atomic uint32_t nr_calls;		 /* between copy_held_enter() and _leave() */
static _Atomic uint32_t nr_replays;
static _Atomic uint32_t
	running; /* 1 + order of the copy that is being given to the runtime; 0: none */
static _Atomic bool is_untracked, is_finished;

hsa_status_t copy_call_real(const struct copy_args *a, uint32_t nr, const hsa_signal_t *signals)
{
	switch (a->how) {
	case COPY_LINEAR:
		return real.hsa_amd_memory_async_copy(a->dst, a->dst_agent, a->src, a->src_agent,
						      a->size, nr, signals, a->completion);
	case COPY_ON_ENGINE:
		return real.hsa_amd_memory_async_copy_on_engine(a->dst, a->dst_agent, a->src,
								a->src_agent, a->size, nr, signals,
								a->completion, a->engine,
								a->force_sdma);
	default:
		return real.hsa_amd_memory_async_copy_rect(a->dst_pitched, a->dst_offset,
							   a->src_pitched, a->src_offset, a->range,
							   a->agent, a->direction, nr, signals,
							   a->completion);
	}
}

static bool are_complete(const hsa_signal_t *signals, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (signals[i].handle && signal_value(signal_of(signals[i])) != 0)
			return false;
	return true;
}

/* Whether the copies before `end`, or all, include one in that order. */
RTL_REQUIRES(lock) static bool is_behind(uint32_t order, const struct held *end)
{
	for (const struct held *h = first; h && h != end; h = h->next)
		if (h->args.order == order)
			return true;
	return false;
}

/* NULL: no memory. */
RTL_REQUIRES(lock) static struct held *new_held(void)
{
	struct held *h = unused, *block;

	if (!h) {
		block = alloc_pages(PER_BLOCK * sizeof(*block));
		for (uint32_t i = 0; block && i < PER_BLOCK; i++) {
			block[i].next = unused;
			unused = &block[i];
		}
		h = unused;
	}
	if (h)
		unused = h->next;
	return h;
}

/* The program's structures are its own again when its call returns. */
static void keep_rect(struct held *h)
{
	struct copy_args *a = &h->args;

	h->dst_pitched = *a->dst_pitched;
	h->src_pitched = *a->src_pitched;
	h->dst_offset = *a->dst_offset;
	h->src_offset = *a->src_offset;
	h->range = *a->range;
	a->dst_pitched = &h->dst_pitched;
	a->src_pitched = &h->src_pitched;
	a->dst_offset = &h->dst_offset;
	a->src_offset = &h->src_offset;
	a->range = &h->range;
}

/* What the runtime refuses at once. */
static bool is_incomplete(const struct copy_args *a)
{
	return a->how == COPY_RECT && (!a->dst_pitched || !a->src_pitched || !a->dst_offset ||
				       !a->src_offset || !a->range);
}

/* Whether a copy that was held, or is being given to the runtime, has to be there first. */
static bool has_earlier(uint32_t order)
{
	bool is;

	/* acquire: pairs with run() */
	if (!atomic_load_explicit(&nr_held, memory_order_acquire) &&
	    !atomic_load_explicit(&running, memory_order_acquire))
		return false;
	lock_take(&lock);
	is = is_behind(order, NULL) ||
	     atomic_load_explicit(&running, memory_order_relaxed) == order + 1;
	lock_drop(&lock);
	return is;
}

bool copy_held_hold(const struct copy_args *a, uint32_t nr, const hsa_signal_t *signals,
		    const struct copy_call *call, copy_end_fn end)
{
	struct held *h;

	if (nr > MAX_SIGNALS || (nr && !signals) || !a->completion.handle || !call->info ||
	    is_incomplete(a))
		return false;
	/* seq_cst: pairs with copy_held_close(): the copy's entry is in the table before this is
	 * read */
	atomic_thread_fence(memory_order_seq_cst);
	if (are_complete(signals, nr) && !atomic_load_explicit(&nr_replays, memory_order_relaxed) &&
	    !has_earlier(a->order))
		return false;
	lock_take(&lock);
	h = atomic_load_explicit(&is_finished, memory_order_relaxed) ? NULL : new_held();
	if (h) {
		h->next = NULL;
		h->args = *a;
		if (a->how == COPY_RECT)
			keep_rect(h);
		h->call = *call;
		h->end = end;
		h->nr_signals = nr;
		if (nr)
			memcpy(h->signals, signals, nr * sizeof(*signals));
		*last = h;
		last = &h->next;
		atomic_fetch_add_explicit(&nr_held, 1, memory_order_relaxed);
	}
	lock_drop(&lock);
	if (h)
		life_kick();
	return h != NULL;
}

void copy_held_enter(void)
{
	const struct timespec nap = { .tv_nsec = 50000 };
	uint64_t deadline_ns = clock_now_ns() + 2 * env_uint(ENV_PMC_WAIT_MS) * UINT64_C(1000000);

	for (;;) {
		/* seq_cst, both: pairs with copy_held_close() */
		atomic_fetch_add(&nr_calls, 1);
		if (!atomic_load(&nr_replays) || clock_now_ns() > deadline_ns)
			return;
		atomic_fetch_sub(&nr_calls, 1);
		sys_nap(&nap);
	}
}

void copy_held_leave(void)
{
	atomic_fetch_sub(&nr_calls, 1);
}

void copy_held_untracked(void)
{
	atomic_store_explicit(&is_untracked, true, memory_order_relaxed);
}

/* Gives a copy to the runtime, which waits for the first `nr` of its signals. */
static void run(struct held *h, uint32_t nr)
{
	hsa_status_t status;

	internal_queue_enter(&h->call.internal);
	status = copy_call_real(&h->args, nr, nr ? h->signals : NULL);
	if (status != HSA_STATUS_SUCCESS) {
		log_warn("a copy of %zu bytes that waited for a replay is refused: status 0x%x",
			 h->args.size, (unsigned)status);
		real.hsa_signal_store_screlease(h->args.completion, -1);
	}
	atomic_store_explicit(&running, 0, memory_order_release);
	h->end(&h->call, status);
	lock_take(&lock);
	h->next = unused;
	unused = h;
	lock_drop(&lock);
}

/* Takes the first copy that need not wait; `all`: each one. */
static struct held *take(bool all)
{
	struct held *h, **at;

	lock_take(&lock);
	for (at = &first; (h = *at) != NULL; at = &h->next)
		if (all ||
		    (are_complete(h->signals, h->nr_signals) && !is_behind(h->args.order, h)))
			break;
	if (h) {
		/* before nr_held: pairs with has_earlier() */
		atomic_store_explicit(&running, h->args.order + 1, memory_order_release);
		*at = h->next;
		if (last == &h->next)
			last = at;
		atomic_fetch_sub_explicit(&nr_held, 1, memory_order_relaxed);
	}
	lock_drop(&lock);
	return h;
}

bool copy_held_tick(void)
{
	struct held *h;

	if (!atomic_load_explicit(&nr_held, memory_order_relaxed))
		return false;
	while (!atomic_load_explicit(&nr_replays, memory_order_relaxed) &&
	       (h = take(false)) != NULL)
		run(h, 0);
	return atomic_load_explicit(&nr_held, memory_order_relaxed) != 0;
}

bool copy_held_close(bool *ever)
{
	*ever = !atomic_load_explicit(&is_untracked, memory_order_relaxed);
	/* seq_cst, all: pairs with copy_held_enter() and copy_held_hold() */
	atomic_fetch_add(&nr_replays, 1);
	if (*ever && !atomic_load(&nr_calls) &&
	    copy_table_count() <= atomic_load_explicit(&nr_held, memory_order_relaxed))
		return true;
	copy_held_open();
	return false;
}

void copy_held_open(void)
{
	atomic_fetch_sub(&nr_replays, 1);
}

void copy_held_finish(void)
{
	struct held *h;

	lock_take(&lock);
	atomic_store_explicit(&is_finished, true, memory_order_relaxed);
	lock_drop(&lock);
	while ((h = take(true)) != NULL)
		run(h, h->nr_signals);
}
