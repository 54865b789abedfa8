/* SPDX-License-Identifier: MIT */
/* pool.c - contexts that are used again
 *
 * Entries in use are a list in the order in which they were fetched; those at its front that are
 * complete are given to the handler, by one thread at a time. A dispatch callback must not wait for
 * another dispatch: where all entries are in use it gets one more.
 *
 * Owns:     pools with their entries.
 * Threads:  any. No lock is held while the handler runs.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/callout.h"
#include "base/sys.h"
#include "queues.h"

#define MAGIC UINT64_C(0x726f637031706f6f)
#define ALIGN 64u
#define NAP_NS 20000

enum entry_state { ENTRY_FETCHED, ENTRY_COMPLETE, ENTRY_HANDLED };

struct entry {
	struct entry *next; /* in use, or free */
	struct pool *pool;
	struct context *context;
	void *payload;
	enum entry_state state;
};

struct pool {
	uint64_t magic;
	struct lock lock;
	hsa_agent_t agent;
	rocprofiler_feature_t *features;
	uint32_t nr_features;
	rocprofiler_pool_properties_t properties;
	/* under lock */
	struct entry *used, *last, *free;
	uint32_t nr;
	bool is_handling, is_closed;
};

static _Thread_local const struct pool *handling;

static struct pool *pool_of(rocprofiler_pool_t *pool, const char *api)
{
	struct pool *p = pool;

	if (p && p->magic == MAGIC)
		return p;
	error_set(HSA_STATUS_ERROR_INVALID_ARGUMENT, api, "check_arguments",
		  p ? "'pool' is not an open pool" : "'pool' is NULL");
	return NULL;
}

/* ---- entries --------------------------------------------------------------------------------- */

static void free_entry(struct entry *e)
{
	if (e->context)
		open_close(e->context);
	alloc_free(e->payload);
	alloc_free(e);
}

static void on_done(struct group *g, void *arg);

static struct entry *new_entry(struct pool *p, const char *api)
{
	struct entry *e = alloc_zero(1, sizeof(*e));
	size_t size = ((size_t)p->properties.payload_bytes + ALIGN) & ~(size_t)(ALIGN - 1);

	if (!e) {
		error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, api, "new_entry", "no memory");
		return NULL;
	}
	e->pool = p;
	if (open_context(api, p->agent, p->features, p->nr_features, 0, NULL, &e->context) !=
	    HSA_STATUS_SUCCESS) {
		alloc_free(e);
		return NULL;
	}
	e->context->on_done = on_done;
	e->context->on_done_arg = e;
	e->payload = aligned_alloc(ALIGN, size);
	if (e->payload) {
		memset(e->payload, 0, size);
		return e;
	}
	free_entry(e);
	error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, api, "new_entry", "no memory");
	return NULL;
}

static void put_used(struct pool *p, struct entry *e) RTL_REQUIRES(p->lock);
static void put_used(struct pool *p, struct entry *e)
{
	e->next = NULL;
	e->state = ENTRY_FETCHED;
	if (p->used)
		p->last->next = e;
	else
		p->used = e;
	p->last = e;
}

static void put_free(struct pool *p, struct entry *e) RTL_REQUIRES(p->lock);
static void put_free(struct pool *p, struct entry *e)
{
	struct entry **link = &p->used, *before = NULL;

	while (*link && *link != e) {
		before = *link;
		link = &(*link)->next;
	}
	if (!*link)
		return;
	*link = e->next;
	if (p->last == e)
		p->last = before;
	e->next = p->free;
	p->free = e;
}

static void free_pool(struct pool *p)
{
	struct entry *e, *next;

	p->magic = 0;
	for (e = p->used; e; e = next) {
		next = e->next;
		free_entry(e);
	}
	for (e = p->free; e; e = next) {
		next = e->next;
		free_entry(e);
	}
	alloc_free(p);
}

/* The next one to be handled. NULL: none, or another thread handles one. */
static struct entry *begin_handling(struct pool *p)
{
	struct entry *e = NULL;

	lock_take(&p->lock);
	if (!p->is_handling && !p->is_closed && p->used && p->used->state == ENTRY_COMPLETE) {
		e = p->used;
		e->state = ENTRY_HANDLED;
		p->is_handling = true;
	}
	lock_drop(&p->lock);
	return e;
}

struct handling {
	struct pool *p;
	struct entry *e;
	const struct pool *before;
};

static void call_handler(void *arg)
{
	const struct handling *h = arg;
	const rocprofiler_pool_entry_t shown = { h->e->context, h->e->payload };

	h->p->properties.handler(&shown, h->p->properties.handler_arg);
}

/* False: the handler has closed the pool. */
static bool end_handling(const struct handling *h)
{
	struct pool *p = h->p;
	bool is_closed;

	handling = h->before;
	lock_take(&p->lock);
	p->is_handling = false;
	put_free(p, h->e);
	is_closed = p->is_closed;
	lock_drop(&p->lock);
	if (is_closed)
		free_pool(p);
	return !is_closed;
}

/* The handler did not return. */
static void leave_handling(void *arg)
{
	end_handling(arg);
}

/* Handles what is complete at the front. False: the handler has closed the pool. */
static bool handle(struct pool *p)
{
	struct handling h = { p, NULL, handling };

	while ((h.e = begin_handling(p)) != NULL) {
		handling = p;
		if (p->properties.handler)
			callout(call_handler, leave_handling, &h);
		if (!end_handling(&h))
			return false;
	}
	return true;
}

static void on_done(struct group *g, void *arg)
{
	struct entry *e = arg;
	struct pool *p = e->pool;

	(void)g;
	lock_take(&p->lock);
	e->state = ENTRY_COMPLETE;
	lock_drop(&p->lock);
	handle(p);
}

/* ---- the functions --------------------------------------------------------------------------- */

EXPORT hsa_status_t rocprofiler_pool_open(hsa_agent_t agent, rocprofiler_feature_t *features,
					  uint32_t feature_count, rocprofiler_pool_t **pool,
					  uint32_t mode, rocprofiler_pool_properties_t *properties)
{
	struct pool *p;

	(void)mode;
	NEED(pool);
	NEED(properties);
	p = alloc_zero(1, sizeof(*p));
	if (!p)
		return error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, __func__, "pool_open",
				 "no memory");
	*p = (struct pool){ .magic = MAGIC,
			    .agent = agent,
			    .features = features,
			    .nr_features = feature_count,
			    .properties = *properties };
	lock_init(&p->lock, LOCK_V1_POOL);
	context_clear(features, feature_count);
	/* what is wrong with the features is found here */
	p->free = new_entry(p, __func__);
	if (!p->free) {
		hsa_status_t status = rocprofiler_errno();

		alloc_free(p);
		return status;
	}
	p->nr = 1;
	*pool = p;
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_pool_close(rocprofiler_pool_t *pool)
{
	struct pool *p = pool_of(pool, __func__);
	const struct timespec nap = { .tv_nsec = NAP_NS };
	bool is_busy = true;

	if (!p)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (handling == p) {
		lock_take(&p->lock);
		p->is_closed = true;
		lock_drop(&p->lock);
		return HSA_STATUS_SUCCESS;
	}
	dispatch_settle();
	handle(p);
	while (is_busy) {
		lock_take(&p->lock);
		is_busy = p->is_handling;
		lock_drop(&p->lock);
		if (is_busy)
			sys_nap(&nap);
	}
	free_pool(p);
	return HSA_STATUS_SUCCESS;
}

/* NULL: none is free. */
static struct entry *take_free(struct pool *p, bool *may_add)
{
	struct entry *e;

	lock_take(&p->lock);
	e = p->free;
	if (e) {
		p->free = e->next;
		put_used(p, e);
	}
	*may_add = p->nr < p->properties.num_entries || dispatch_is_in_callback();
	if (!e && *may_add)
		p->nr++;
	lock_drop(&p->lock);
	return e;
}

static struct entry *add_used(struct pool *p, const char *api)
{
	struct entry *e = new_entry(p, api);

	lock_take(&p->lock);
	if (e)
		put_used(p, e);
	else
		p->nr--;
	lock_drop(&p->lock);
	return e;
}

EXPORT hsa_status_t rocprofiler_pool_fetch(rocprofiler_pool_t *pool,
					   rocprofiler_pool_entry_t *entry)
{
	struct pool *p = pool_of(pool, __func__);
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t waited_ns = 0;
	struct entry *e;
	bool may_add;

	if (!p)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	NEED(entry);
	while (!(e = take_free(p, &may_add)) && !may_add) {
		handle(p);
		sys_nap(&nap);
		waited_ns += NAP_NS;
		if (waited_ns > settings.timeout)
			return FAIL("wait",
				    "all %u entries stay in use for longer than the timeout",
				    p->properties.num_entries);
	}
	if (!e)
		e = add_used(p, __func__);
	if (!e)
		return rocprofiler_errno();
	*entry = (rocprofiler_pool_entry_t){ e->context, e->payload };
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_pool_flush(rocprofiler_pool_t *pool)
{
	struct pool *p = pool_of(pool, __func__);

	if (!p)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (handling != p && !dispatch_is_in_callback())
		dispatch_settle();
	handle(p);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_pool_release(rocprofiler_pool_entry_t *entry)
{
	struct context *c;
	struct entry *e;

	NEED(entry);
	c = context_of(entry->context, __func__);
	if (!c || c->on_done != on_done)
		return error_set(HSA_STATUS_ERROR_INVALID_ARGUMENT, __func__, "pool_release",
				 "the entry is not of a pool");
	e = c->on_done_arg;
	dispatch_close(c);
	lock_take(&e->pool->lock);
	if (e->state == ENTRY_FETCHED)
		put_free(e->pool, e);
	lock_drop(&e->pool->lock);
	handle(e->pool);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_pool_iterate(
	rocprofiler_pool_t *pool,
	hsa_status_t (*callback)(rocprofiler_pool_entry_t *entry, void *data), void *data)
{
	struct pool *p = pool_of(pool, __func__);
	rocprofiler_pool_entry_t *all;
	hsa_status_t status = HSA_STATUS_SUCCESS;
	uint32_t n = 0;

	if (!p)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	NEED(callback);
	lock_take(&p->lock);
	all = alloc_zero(p->nr + 1, sizeof(*all));
	for (const struct entry *e = p->used; all && e; e = e->next)
		all[n++] = (rocprofiler_pool_entry_t){ e->context, e->payload };
	lock_drop(&p->lock);
	if (!all)
		return error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, __func__, "pool_iterate",
				 "no memory");
	for (uint32_t i = 0; i < n && status == HSA_STATUS_SUCCESS; i++)
		status = callback(&all[i], data);
	alloc_free(all);
	return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
}
