/* SPDX-License-Identifier: MIT */
/* context.c - librocprofiler-sdk: contexts, and what they want
 *
 * Sets of contexts are masks of 64 bits. A context gets a bit with its first service that needs
 * one; those that sample GPUs alone need none, and tools make one for each counter.
 *
 * Owns:     the contexts, which are never freed; the masks of those that want an operation, and of
 *           those that are active.
 * Threads:  any. Contexts and services are made within a tool's initialize function.
 * Hot path: context_mask(), context_at(): no lock.
 */
#include "context.h"

#include "../face/fork_guard.h"
#include "base/alloc.h"

/* handles of contexts begin here; 0 is none */
#define FIRST_HANDLE UINT64_C(4096)

GUARDED_LOCK(lock, LOCK_SDK_CONTEXTS);
static struct context *contexts[SDK_MAX_CONTEXTS];
static _Atomic uint32_t nr_contexts;
struct context *context_by_slot[SDK_MAX_SLOTS];
static int nr_slots RTL_GUARDED_BY(lock);
_Atomic uint64_t context_kinds;
_Atomic bool context_effects;
_Atomic uint64_t context_wanted[SDK_NR_KINDS][SDK_MAX_OPERATIONS];
_Atomic uint64_t context_active;
_Atomic uint64_t context_ended; /* of clients that are finalised */
_Atomic uint64_t context_records_wanted[SDK_NR_BUFFER_KINDS][SDK_MAX_OPERATIONS];
_Atomic uint64_t context_record_kinds;

struct context *context_find(rocprofiler_context_id_t id)
{
	uint64_t index = id.handle - FIRST_HANDLE;

	/* acquire: pairs with context_make() */
	return index < atomic_load_explicit(&nr_contexts, memory_order_acquire) ? contexts[index] :
										  NULL;
}

RTL_REQUIRES(lock)
static struct context *add(int client)
{
	uint32_t nr = atomic_load(&nr_contexts);
	struct context *c = nr < SDK_MAX_CONTEXTS ? alloc_zero(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	contexts[nr] = c;
	atomic_store_explicit(&c->slot, -1, memory_order_relaxed);
	c->id.handle = FIRST_HANDLE + nr;
	c->client = client;
	/* release: pairs with context_find() */
	atomic_store_explicit(&nr_contexts, nr + 1, memory_order_release);
	return c;
}

struct context *context_make(int client)
{
	struct context *c;

	lock_take(&lock);
	c = add(client);
	lock_drop(&lock);
	return c;
}

bool context_take_slot(struct context *c)
{
	bool has_one;

	lock_take(&lock);
	has_one = context_bit(c) != 0;
	if (!has_one && nr_slots < (int)SDK_MAX_SLOTS) {
		context_by_slot[nr_slots] = c;
		/* release: pairs with context_bit() */
		atomic_store_explicit(&c->slot, nr_slots++, memory_order_release);
		if (atomic_load(&c->is_active))
			atomic_fetch_or(&context_active, context_bit(c));
		has_one = true;
	}
	lock_drop(&lock);
	return has_one;
}

void context_switch(struct context *c, bool on)
{
	lock_take(&lock);
	atomic_store(&c->is_active, on);
	if (on)
		/* release: pairs with context_mask() */
		atomic_fetch_or_explicit(&context_active, context_bit(c), memory_order_release);
	else
		atomic_fetch_and_explicit(&context_active, ~context_bit(c), memory_order_relaxed);
	lock_drop(&lock);
}

void context_each(int client, void (*fn)(struct context *c))
{
	uint32_t nr = atomic_load(&nr_contexts);

	for (uint32_t i = 0; i < nr; i++)
		if (contexts[i]->client == client)
			fn(contexts[i]);
}

uint64_t context_of_client(int client)
{
	uint32_t nr = atomic_load(&nr_contexts);
	uint64_t mask = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (contexts[i]->client == client)
			mask |= context_bit(contexts[i]);
	return mask;
}

void context_end_client(int client)
{
	atomic_fetch_or(&context_ended, context_of_client(client));
}

void context_note_kind(uint32_t callback_kind, uint32_t buffer_kind)
{
#if ROCPROFILER_SDK_ABI > 0
	if (callback_kind == ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION ||
	    callback_kind == ROCPROFILER_CALLBACK_TRACING_HIP_STREAM ||
	    callback_kind == ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH ||
	    callback_kind == ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION ||
	    buffer_kind == ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION ||
	    buffer_kind == ROCPROFILER_BUFFER_TRACING_HIP_GRAPH ||
	    buffer_kind == ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION)
		atomic_store(&context_effects, true);
#endif
	(void)callback_kind;
	(void)buffer_kind;
}

bool context_are_operations(const rocprofiler_tracing_operation_t *operations, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if ((uint64_t)(int64_t)operations[i] >= SDK_MAX_OPERATIONS)
			return false;
	return true;
}

void context_want(const struct context *c, _Atomic uint64_t row[SDK_MAX_OPERATIONS],
		  const rocprofiler_tracing_operation_t *operations, size_t nr)
{
	uint64_t bit = context_bit(c);

	/* release: pairs with the masks' readers: the service */
	for (size_t i = 0; operations && i < nr; i++)
		atomic_fetch_or_explicit(&row[operations[i]], bit, memory_order_release);
	for (uint32_t i = 0; (!operations || !nr) && i < SDK_MAX_OPERATIONS; i++)
		atomic_fetch_or_explicit(&row[i], bit, memory_order_release);
}
