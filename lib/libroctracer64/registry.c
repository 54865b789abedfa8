/* SPDX-License-Identifier: MIT */
/* registry.c - the callback and the pool of each operation
 *
 * Owns:     the table. Writers take the lock, readers take none.
 * Threads:  any.
 * Hot path: registry_get_callback(), registry_get_pool().
 */

#include "../face/fork_guard.h"
#include "facade.h"

GUARDED_LOCK(lock, LOCK_REGISTRY);
static registry_want_fn want;
struct registered registry_table[ACTIVITY_DOMAIN_NUMBER][REGISTRY_MAX_OPS];

void registry_start(registry_want_fn fn)
{
	want = fn;
}

static enum error check(const char *outer, uint32_t domain, uint32_t op)
{
	static const enum error too_large[ACTIVITY_DOMAIN_NUMBER] = {
		[ACTIVITY_DOMAIN_HSA_API] = ERROR_HSA_OP,
		[ACTIVITY_DOMAIN_HSA_OPS] = ERROR_HSA_OP,
		[ACTIVITY_DOMAIN_HIP_OPS] = ERROR_HIP_OPS_OP,
		[ACTIVITY_DOMAIN_HIP_API] = ERROR_HIP_API_OP,
		[ACTIVITY_DOMAIN_ROCTX] = ERROR_ROCTX_OP,
		[ACTIVITY_DOMAIN_HSA_EVT] = ERROR_HSA_OP,
	};
	uint32_t nr = names_nr_ops(domain);

	if (!nr)
		return error_set(ERROR_DOMAIN, outer, "check", "invalid domain ID(%u)", domain);
#if ROCTRACER64_GENERATION == 1
	if (domain == ACTIVITY_DOMAIN_HIP_API && op == 0)
		nr = 0;
#endif
	if (op >= nr || op >= REGISTRY_MAX_OPS)
		return error_set(too_large[domain], outer, "check",
				 "invalid op ID(%u), domain ID(%u)", op, domain);
	return ERROR_NONE;
}

RTL_REQUIRES(lock) static void subscribe(uint32_t domain, uint32_t op)
{
	const struct registered *r = &registry_table[domain][op];

	/* the first use of the library may be this one */
	if (!link_core())
		return;
	want(domain, op,
	     atomic_load_explicit(&r->callback.fn, memory_order_relaxed) ||
		     atomic_load_explicit(&r->pool, memory_order_relaxed));
}

RTL_REQUIRES(lock)
static void set_callback(uint32_t domain, uint32_t op, activity_rtapi_callback_t fn, void *arg)
{
	slot_set(&registry_table[domain][op].callback, fn, arg);
	subscribe(domain, op);
}

RTL_REQUIRES(lock)
static void set_pool(uint32_t domain, uint32_t op, struct buffer *pool)
{
	/* release: pairs with the acquire in registry_get_pool(): the pool's making */
	atomic_store_explicit(&registry_table[domain][op].pool, pool, memory_order_release);
	subscribe(domain, op);
}

enum error registry_callback(const char *outer, uint32_t domain, uint32_t op,
			     activity_rtapi_callback_t fn, void *arg)
{
	enum error e = check(outer, domain, op);

	if (e)
		return e;
	lock_take(&lock);
	set_callback(domain, op, fn, arg);
	lock_drop(&lock);
	return ERROR_NONE;
}

enum error registry_activity(const char *outer, uint32_t domain, uint32_t op, struct buffer *pool)
{
	enum error e = check(outer, domain, op);

	if (e)
		return e;
	lock_take(&lock);
	set_pool(domain, op, pool);
	lock_drop(&lock);
	return ERROR_NONE;
}

/* The number of the domain's operations. EXT_API has none and is not an error. */
static enum error check_domain(const char *outer, uint32_t domain, uint32_t *nr)
{
	*nr = names_nr_ops(domain);
	if (*nr > REGISTRY_MAX_OPS)
		*nr = REGISTRY_MAX_OPS;
	if (*nr || domain == ACTIVITY_DOMAIN_EXT_API)
		return ERROR_NONE;
	return error_set(ERROR_DOMAIN, outer, "check", "invalid domain ID(%u)", domain);
}

enum error registry_domain_callback(const char *outer, uint32_t domain,
				    activity_rtapi_callback_t fn, void *arg)
{
	uint32_t nr;
	enum error e = check_domain(outer, domain, &nr);

	lock_take(&lock);
	for (uint32_t op = domain == ACTIVITY_DOMAIN_HIP_API; !e && op < nr; op++)
		set_callback(domain, op, fn, arg);
	lock_drop(&lock);
	return e;
}

enum error registry_domain_activity(const char *outer, uint32_t domain, struct buffer *pool)
{
	uint32_t nr;
	enum error e = check_domain(outer, domain, &nr);

	lock_take(&lock);
	for (uint32_t op = domain == ACTIVITY_DOMAIN_HIP_API; !e && op < nr; op++)
		set_pool(domain, op, pool);
	lock_drop(&lock);
	return e;
}

void registry_forget_pool(const struct buffer *pool)
{
	lock_take(&lock);
	for (uint32_t domain = 0; domain < ACTIVITY_DOMAIN_NUMBER; domain++) {
		for (uint32_t op = 0; op < REGISTRY_MAX_OPS; op++) {
			if (registry_get_pool(domain, op) == pool)
				set_pool(domain, op, NULL);
		}
	}
	lock_drop(&lock);
}
