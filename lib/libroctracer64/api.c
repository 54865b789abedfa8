/* SPDX-License-Identifier: MIT */
/* api.c - libroctracer64: the exported functions
 *
 * Owns:     the default pool, the handlers that roctracer_set_properties() sets.
 * Threads:  any.
 * Locks:    default_lock, for the default pool alone; pools are opened and closed outside it.
 */
#include <stdlib.h>
#include <string.h>

#include "../face/fork_guard.h"
#include "../face/per_thread.h"
#include "facade.h"

#define MIN_HALF (2 * sizeof(activity_record_t))

typedef void (*mark_fn)(uint32_t domain, uint32_t cid, const void *data, void *arg);

GUARDED_LOCK(default_lock, LOCK_DEFAULT_POOL);
static struct buffer *default_pool RTL_GUARDED_BY(default_lock);
/* atomic */
static _Atomic mark_fn mark_handler;
static _Atomic roctracer_start_cb_t start_hook;
static _Atomic roctracer_stop_cb_t stop_hook;

/* The domains that have operations, for roctracer_enable_callback() and the like. */
static const uint32_t all_domains[] = {
	ACTIVITY_DOMAIN_HSA_API, ACTIVITY_DOMAIN_HSA_OPS, ACTIVITY_DOMAIN_HIP_OPS,
	ACTIVITY_DOMAIN_HIP_API, ACTIVITY_DOMAIN_ROCTX,	  ACTIVITY_DOMAIN_HSA_EVT,
};
#define NR_DOMAINS (sizeof(all_domains) / sizeof(all_domains[0]))

EXPORT uint32_t roctracer_version_major(void)
{
	return 4;
}

EXPORT uint32_t roctracer_version_minor(void)
{
	return ROCTRACER64_GENERATION == 1 ? 0 : 1;
}

EXPORT const char *roctracer_error_string(void)
{
	return error_text();
}

EXPORT const char *roctracer_op_string(uint32_t domain, uint32_t op, uint32_t kind)
{
	return names_op(domain, op, kind);
}

EXPORT roctracer_status_t roctracer_op_code(uint32_t domain, const char *str, uint32_t *op,
					    uint32_t *kind)
{
	return error_status(names_code(domain, str, op, kind));
}

EXPORT roctracer_status_t roctracer_set_properties(roctracer_domain_t domain, void *properties)
{
	const roctracer_ext_properties_t *ext = properties;

	switch (domain) {
	case ACTIVITY_DOMAIN_EXT_API:
		if (!ext)
			return error_status(
				error_set(ERROR_ARGUMENT, __func__, "check", "NULL properties"));
		atomic_store(&start_hook, ext->start_cb);
		atomic_store(&stop_hook, ext->stop_cb);
		break;
	case ACTIVITY_DOMAIN_HIP_API:
		atomic_store(&mark_handler, (mark_fn)properties);
		break;
	case ACTIVITY_DOMAIN_HSA_API:
#if ROCTRACER64_GENERATION == 1
		/* a tool passes the tables from its OnLoad() */
		if (properties)
			stream_on_load(properties);
#endif
		break;
	case ACTIVITY_DOMAIN_HSA_OPS:
	case ACTIVITY_DOMAIN_HIP_OPS:
	case ACTIVITY_DOMAIN_HSA_EVT:
		break;
	default:
		return error_status(error_set(ERROR_DOMAIN, __func__, "check",
					      "invalid domain ID(%d)", (int)domain));
	}
	return ROCTRACER_STATUS_SUCCESS;
}

/* HIP_API_ID_ANY */
static bool is_any(activity_domain_t domain, uint32_t op)
{
	return domain == ACTIVITY_DOMAIN_HIP_API && op == ROCTRACER_OP_ANY;
}

static enum error set_callback(const char *outer, activity_domain_t domain, uint32_t op,
			       activity_rtapi_callback_t callback, void *arg)
{
	if (is_any(domain, op))
		return registry_domain_callback(outer, domain, callback, arg);
	return registry_callback(outer, domain, op, callback, arg);
}

static enum error set_activity(const char *outer, activity_domain_t domain, uint32_t op,
			       struct buffer *pool)
{
	if (is_any(domain, op))
		return registry_domain_activity(outer, domain, pool);
	return registry_activity(outer, domain, op, pool);
}

EXPORT roctracer_status_t roctracer_enable_op_callback(activity_domain_t domain, uint32_t op,
						       activity_rtapi_callback_t callback,
						       void *arg)
{
	return error_status(set_callback(__func__, domain, op, callback, arg));
}

EXPORT roctracer_status_t roctracer_enable_domain_callback(activity_domain_t domain,
							   activity_rtapi_callback_t callback,
							   void *arg)
{
	return error_status(registry_domain_callback(__func__, domain, callback, arg));
}

EXPORT roctracer_status_t roctracer_enable_callback(activity_rtapi_callback_t callback, void *arg)
{
	for (size_t i = 0; i < NR_DOMAINS; i++)
		registry_domain_callback(__func__, all_domains[i], callback, arg);
	return ROCTRACER_STATUS_SUCCESS;
}

EXPORT roctracer_status_t roctracer_disable_op_callback(activity_domain_t domain, uint32_t op)
{
	/* roctracer_op_code() gives 0 for a name that this HIP lacks */
	if (domain == ACTIVITY_DOMAIN_HIP_API && op == 0)
		return ROCTRACER_STATUS_SUCCESS;
	return error_status(set_callback(__func__, domain, op, NULL, NULL));
}

EXPORT roctracer_status_t roctracer_disable_domain_callback(activity_domain_t domain)
{
	return error_status(registry_domain_callback(__func__, domain, NULL, NULL));
}

EXPORT roctracer_status_t roctracer_disable_callback(void)
{
	for (size_t i = 0; i < NR_DOMAINS; i++)
		registry_domain_callback(__func__, all_domains[i], NULL, NULL);
	return ROCTRACER_STATUS_SUCCESS;
}

static struct buffer *get_default(void)
{
	struct buffer *p;

	lock_take(&default_lock);
	p = default_pool;
	lock_drop(&default_lock);
	return p;
}

/* `pool` or the default one. */
static struct buffer *choose(roctracer_pool_t *pool)
{
	return pool ? pool : get_default();
}

/* ERROR_MEMORY: that many records were lost. */
static enum error report_lost(const char *outer, uint64_t nr)
{
	if (!nr)
		return ERROR_NONE;
	return error_set(ERROR_MEMORY, outer, "put_aside", "no memory: %llu records lost",
			 (unsigned long long)nr);
}

static enum error open_pool(const char *outer, const roctracer_properties_t *properties,
			    struct buffer **out)
{
	struct buffer_config config = {
		.half_size = properties->buffer_size < MIN_HALF ? MIN_HALF :
								  properties->buffer_size,
		.entry_size = sizeof(activity_record_t),
		.link = offsetof(activity_record_t, kernel_name),
		.watermark = SIZE_MAX,
		.policy = BUFFER_WAIT,
		.deliver = properties->buffer_callback_fun,
		.arg = properties->buffer_callback_arg,
		.allocate = properties->alloc_fun,
		.allocate_arg = properties->alloc_arg,
		.core = link_core(),
		.reason = SPOOL_REASON_pool_memory,
	};

	if (buffer_open(&config, out) == 0)
		return ERROR_NONE;
	return error_set(ERROR_MEMORY, outer, "open_pool", "no memory or no thread");
}

static enum error open_default(const char *outer, const roctracer_properties_t *properties)
{
	struct buffer *p, *there;
	uint64_t none;
	enum error e;

	if (get_default())
		return error_set(ERROR_DEFAULT_POOL_SET, outer, "open_default",
				 "default pool already set");
	e = open_pool(outer, properties, &p);
	if (e)
		return e;
	lock_take(&default_lock);
	there = default_pool;
	if (!there)
		default_pool = p;
	lock_drop(&default_lock);
	if (!there)
		return ERROR_NONE;
	buffer_close(p, &none);
	return error_set(ERROR_DEFAULT_POOL_SET, outer, "open_default", "default pool already set");
}

EXPORT roctracer_status_t roctracer_open_pool_expl(const roctracer_properties_t *properties,
						   roctracer_pool_t **pool)
{
	struct buffer *p;
	enum error e;

	if (!properties)
		return error_status(
			error_set(ERROR_ARGUMENT, __func__, "check", "NULL properties"));
	if (!pool)
		return error_status(open_default(__func__, properties));
	e = open_pool(__func__, properties, &p);
	*pool = p;
	return error_status(e);
}

EXPORT roctracer_status_t roctracer_open_pool(const roctracer_properties_t *properties)
{
	return roctracer_open_pool_expl(properties, NULL);
}

EXPORT roctracer_status_t roctracer_close_pool_expl(roctracer_pool_t *pool)
{
	struct buffer *p = choose(pool);
	uint64_t nr_lost;

	if (!p)
		return ROCTRACER_STATUS_SUCCESS;
	stream_settle();
	registry_forget_pool(p);
	if (buffer_close(p, &nr_lost) != 0)
		return error_status(error_set(ERROR_GENERAL, __func__, "buffer_close",
					      "inside of the pool's own callback"));
	lock_take(&default_lock);
	if (default_pool == p)
		default_pool = NULL;
	lock_drop(&default_lock);
	return error_status(report_lost(__func__, nr_lost));
}

EXPORT roctracer_status_t roctracer_close_pool(void)
{
	return roctracer_close_pool_expl(NULL);
}

EXPORT roctracer_pool_t *roctracer_default_pool_expl(roctracer_pool_t *pool)
{
	struct buffer *before;

	lock_take(&default_lock);
	before = default_pool;
	if (pool)
		default_pool = pool;
	lock_drop(&default_lock);
	return before;
}

EXPORT roctracer_pool_t *roctracer_default_pool(void)
{
	return roctracer_default_pool_expl(NULL);
}

/* `pool`, or the default pool. */
static enum error target(const char *outer, roctracer_pool_t *pool, struct buffer **out)
{
	*out = choose(pool);
	if (*out)
		return ERROR_NONE;
	return error_set(ERROR_NO_DEFAULT_POOL, outer, "target", "no default pool");
}

EXPORT roctracer_status_t roctracer_enable_op_activity_expl(activity_domain_t domain, uint32_t op,
							    roctracer_pool_t *pool)
{
	struct buffer *p;
	enum error e = target(__func__, pool, &p);

	return error_status(e ? e : set_activity(__func__, domain, op, p));
}

EXPORT roctracer_status_t roctracer_enable_op_activity(activity_domain_t domain, uint32_t op)
{
	return roctracer_enable_op_activity_expl(domain, op, NULL);
}

EXPORT roctracer_status_t roctracer_enable_domain_activity_expl(activity_domain_t domain,
								roctracer_pool_t *pool)
{
	struct buffer *p;
	enum error e = target(__func__, pool, &p);

	return error_status(e ? e : registry_domain_activity(__func__, domain, p));
}

EXPORT roctracer_status_t roctracer_enable_domain_activity(activity_domain_t domain)
{
	return roctracer_enable_domain_activity_expl(domain, NULL);
}

EXPORT roctracer_status_t roctracer_enable_activity_expl(roctracer_pool_t *pool)
{
	struct buffer *p;
	enum error e = target(__func__, pool, &p);

	for (size_t i = 0; !e && i < NR_DOMAINS; i++)
		registry_domain_activity(__func__, all_domains[i], p);
	return error_status(e);
}

EXPORT roctracer_status_t roctracer_enable_activity(void)
{
	return roctracer_enable_activity_expl(NULL);
}

EXPORT roctracer_status_t roctracer_disable_op_activity(activity_domain_t domain, uint32_t op)
{
	stream_settle();
	return error_status(set_activity(__func__, domain, op, NULL));
}

EXPORT roctracer_status_t roctracer_disable_domain_activity(activity_domain_t domain)
{
	stream_settle();
	return error_status(registry_domain_activity(__func__, domain, NULL));
}

EXPORT roctracer_status_t roctracer_disable_activity(void)
{
	stream_settle();
	for (size_t i = 0; i < NR_DOMAINS; i++)
		registry_domain_activity(__func__, all_domains[i], NULL);
	return ROCTRACER_STATUS_SUCCESS;
}

EXPORT roctracer_status_t roctracer_flush_activity_expl(roctracer_pool_t *pool)
{
	struct buffer *p = choose(pool);

	stream_settle();
	if (!p)
		return ROCTRACER_STATUS_SUCCESS;
	buffer_flush(p);
	return error_status(report_lost(__func__, buffer_take_lost(p)));
}

EXPORT roctracer_status_t roctracer_flush_activity(void)
{
	return roctracer_flush_activity_expl(NULL);
}

EXPORT roctracer_status_t roctracer_next_record(const activity_record_t *record,
						const activity_record_t **next)
{
	*next = record + 1;
	return ROCTRACER_STATUS_SUCCESS;
}

EXPORT roctracer_status_t roctracer_get_timestamp(roctracer_timestamp_t *timestamp)
{
	if (!timestamp)
		return error_status(error_set(ERROR_ARGUMENT, __func__, "check", "NULL argument"));
	*timestamp = link_core() ? link_core()->now_ns() : 0;
	return ROCTRACER_STATUS_SUCCESS;
}

EXPORT roctracer_status_t
roctracer_activity_push_external_correlation_id(activity_correlation_id_t id)
{
	struct per_thread *t = per_thread_get();

	if (t && id_stack_push(&t->external, id))
		return ROCTRACER_STATUS_SUCCESS;
	return error_status(error_set(ERROR_MEMORY, __func__, "push", "no memory"));
}

EXPORT roctracer_status_t
roctracer_activity_pop_external_correlation_id(activity_correlation_id_t *last_id)
{
	struct per_thread *t = per_thread_get();
	uint64_t id = 0;
	bool found = t && id_stack_pop(&t->external, &id);

	if (last_id)
		*last_id = id;
	if (found)
		return ROCTRACER_STATUS_SUCCESS;
	return error_status(
		error_set(ERROR_EMPTY_STACK, __func__, "pop", "not matching external range pop"));
}

static void switch_and_notify(bool on, void (*_Atomic *hook)(void))
{
	void (*call)(void) = stream_switch(on) ? atomic_load(hook) : NULL;

	if (call)
		call();
}

EXPORT void roctracer_start(void)
{
	switch_and_notify(true, &start_hook);
}

EXPORT void roctracer_stop(void)
{
	switch_and_notify(false, &stop_hook);
}

EXPORT void roctracer_mark(const char *text)
{
	mark_fn handler = atomic_load(&mark_handler);

	if (handler)
		handler(ACTIVITY_DOMAIN_EXT_API, ACTIVITY_EXT_OP_MARK, text, NULL);
}

EXPORT int roctracer_load(void)
{
	return 1;
}

EXPORT void roctracer_unload(void)
{
}

EXPORT void roctracer_flush_buf(void)
{
}

#if ROCTRACER64_GENERATION == 4
EXPORT extern const uint32_t HSA_AMD_TOOL_PRIORITY;
EXPORT const uint32_t HSA_AMD_TOOL_PRIORITY = 50;
EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed);
EXPORT void OnUnload(void);

EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed)
{
	(void)runtime_version;
	(void)nr_failed;
	(void)failed;
	return stream_on_load(table);
}

EXPORT void OnUnload(void)
{
	if (link_core())
		link_core()->on_unload();
}
#endif
