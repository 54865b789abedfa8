/* SPDX-License-Identifier: MIT */
/* external.c - librocprofiler-sdk: ids of the tools' own
 *
 * Each context has a stack of ids for each thread. A thread whose stack is empty has the id that is
 * on top for the program's first thread, in whichever context it was pushed last.
 *
 * Owns:     the stacks, by thread and context; never freed.
 * Threads:  any, for any thread's stack.
 * Hot path: external_of(): no lock.
 * Fails:    without memory a push is ignored, and answered with ROCPROFILER_STATUS_ERROR.
 */
#include "external.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../face/fork_guard.h"
#include "../face/per_thread.h"
#include "base/alloc.h"
#include "context.h"

#define NR_BUCKETS 1024u

struct stack {
	_Atomic uint64_t top;
	_Atomic bool is_used; /* not empty */
	struct id_stack ids;  /* under `lock` */
};

/* The stacks of a thread. */
struct owner {
	struct owner *next; /* constant */
	uint64_t tid;
	struct stack of[SDK_MAX_SLOTS];
};

GUARDED_LOCK(lock, LOCK_SDK_EXTERNAL);
static _Atomic(struct owner *) buckets[NR_BUCKETS];
_Atomic bool external_is_used;
static _Atomic uint64_t main_top;

static _Atomic(external_use_fn) on_use;

static void begin_use(void)
{
	external_use_fn fn;

	/* seq_cst, both here and in external_on_use(): one of the two calls it */
	if (RTL_LIKELY(atomic_exchange(&external_is_used, true)))
		return;
	fn = atomic_load(&on_use);
	if (fn)
		fn();
}

void external_on_use(external_use_fn fn)
{
	atomic_store(&on_use, fn);
	if (atomic_load(&external_is_used))
		fn();
}

static struct owner *find(uint64_t tid)
{
	/* acquire: pairs with make() */
	struct owner *o = atomic_load_explicit(&buckets[tid % NR_BUCKETS], memory_order_acquire);

	while (o && o->tid != tid)
		o = o->next;
	return o;
}

RTL_REQUIRES(lock) static struct owner *make(uint64_t tid)
{
	struct owner *o = alloc_zero(1, sizeof(*o));

	if (!o)
		return NULL;
	o->tid = tid;
	o->next = atomic_load(&buckets[tid % NR_BUCKETS]);
	/* release: pairs with find() */
	atomic_store_explicit(&buckets[tid % NR_BUCKETS], o, memory_order_release);
	return o;
}

RTL_REQUIRES(lock) static void publish(const struct owner *o, struct stack *s)
{
	uint64_t top = s->ids.nr ? s->ids.ids[s->ids.nr - 1] : 0;

	atomic_store_explicit(&s->top, top, memory_order_relaxed);
	/* release: pairs with top_of() */
	atomic_store_explicit(&s->is_used, s->ids.nr != 0, memory_order_release);
	if (o->tid == (uint64_t)getpid())
		atomic_store_explicit(&main_top, top, memory_order_relaxed);
	begin_use();
}

/* HOT */
static uint64_t top_of(const struct context *c, uint64_t tid)
{
	const struct owner *o;
	const struct stack *s;

	if (RTL_LIKELY(!external_any()))
		return 0;
	o = find(tid);
	s = o ? &o->of[context_index(c)] : NULL;
	/* acquire: pairs with publish() */
	if (s && atomic_load_explicit(&s->is_used, memory_order_acquire))
		return atomic_load_explicit(&s->top, memory_order_relaxed);
	return atomic_load_explicit(&main_top, memory_order_relaxed);
}

rocprofiler_user_data_t external_of(struct context *c, uint64_t tid,
				    rocprofiler_external_correlation_id_request_kind_t kind,
				    uint32_t operation, uint64_t internal)
{
	/* acquire: pairs with the request's making */
	rocprofiler_external_correlation_id_request_cb_t request =
		atomic_load_explicit(&c->request, memory_order_acquire);
	rocprofiler_user_data_t value = { .value = 0 };

	if (RTL_UNLIKELY(request && kind && c->request_kinds & 1u << kind) &&
	    request(tid, c->id, kind, (rocprofiler_tracing_operation_t)operation, internal, &value,
		    c->request_arg) == 0)
		return value;
	value.value = top_of(c, tid);
	return value;
}

void external_again(struct context *c, uint64_t tid,
		    rocprofiler_external_correlation_id_request_kind_t kind,
		    rocprofiler_user_data_t *value)
{
	/* relaxed: as in external_of(), which has loaded it */
	if (!atomic_load_explicit(&c->request, memory_order_relaxed) ||
	    !(c->request_kinds & 1u << kind))
		value->value = top_of(c, tid);
}

/* AMD's refuses ids below the process's. When the kernel has used all ids it begins with low ones
 * again, and a thread's may be below. */
static bool may_be_thread(uint64_t tid)
{
	pid_t pid = getpid();

	return tid >= (uint64_t)pid || syscall(SYS_tgkill, pid, (pid_t)tid, 0) == 0;
}

static rocprofiler_status_t check(rocprofiler_context_id_t id, uint64_t tid,
				  const struct context **out)
{
	struct context *c = context_find(id);

	*out = c;
	if (!may_be_thread(tid))
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	return context_take_slot(c) ? ROCPROFILER_STATUS_SUCCESS :
				      ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR;
}

EXPORT rocprofiler_status_t rocprofiler_push_external_correlation_id(
	rocprofiler_context_id_t context, rocprofiler_thread_id_t tid,
	rocprofiler_user_data_t external_correlation_id)
{
	const struct context *c;
	rocprofiler_status_t status = check(context, tid, &c);
	struct owner *o;
	struct stack *s;

	if (status != ROCPROFILER_STATUS_SUCCESS)
		return status;
	lock_take(&lock);
	o = find(tid);
	if (!o)
		o = make(tid);
	s = o ? &o->of[context_index(c)] : NULL;
	if (s && id_stack_push(&s->ids, external_correlation_id.value))
		publish(o, s);
	else
		status = ROCPROFILER_STATUS_ERROR;
	lock_drop(&lock);
	return status;
}

EXPORT rocprofiler_status_t rocprofiler_pop_external_correlation_id(
	rocprofiler_context_id_t context, rocprofiler_thread_id_t tid,
	rocprofiler_user_data_t *external_correlation_id)
{
	const struct context *c;
	rocprofiler_status_t status = check(context, tid, &c);
	uint64_t id = 0;
	struct owner *o;

	if (status != ROCPROFILER_STATUS_SUCCESS)
		return status;
	lock_take(&lock);
	o = find(tid);
	if (o && id_stack_pop(&o->of[context_index(c)].ids, &id))
		publish(o, &o->of[context_index(c)]);
	lock_drop(&lock);
	if (external_correlation_id)
		external_correlation_id->value = id;
	return ROCPROFILER_STATUS_SUCCESS;
}

#define NR_REQUESTS ((uint32_t)ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST)

static rocprofiler_status_t mask_of(const rocprofiler_external_correlation_id_request_kind_t *kinds,
				    size_t nr, uint32_t *mask)
{
	*mask = kinds ? 0 : UINT32_MAX;
	for (size_t i = 0; kinds && i < nr; i++) {
		if ((uint32_t)kinds[i] - 1 >= NR_REQUESTS - 1)
			return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
		*mask |= 1u << kinds[i];
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_configure_external_correlation_id_request_service(
	rocprofiler_context_id_t context_id,
	const rocprofiler_external_correlation_id_request_kind_t *kinds, size_t kinds_count,
	rocprofiler_external_correlation_id_request_cb_t callback, void *callback_args)
{
	struct context *c = context_find(context_id);
	rocprofiler_status_t status;
	uint32_t mask;

	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if ((kinds && kinds_count < 1) || !callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (atomic_load(&c->request))
		return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
	status = mask_of(kinds, kinds_count, &mask);
	if (status != ROCPROFILER_STATUS_SUCCESS)
		return status;
	c->request_kinds = mask;
	c->request_arg = callback_args;
	/* release: pairs with external_of() */
	atomic_store_explicit(&c->request, callback, memory_order_release);
	begin_use();
	return ROCPROFILER_STATUS_SUCCESS;
}
