/* SPDX-License-Identifier: MIT */
/* roctx.c - libroctx64: its version, and callbacks of clients
 *
 * Callbacks are called by the core, so that each call has one, whichever library's function the
 * program calls.
 *
 * Owns:     the callbacks.
 * Threads:  any. Registering takes a lock; a call that runs meanwhile sees the old pair or the new.
 * Hot path: on_call() - no lock: pairs are read under a sequence count.
 */
#include "roctx.h"

#include <stdatomic.h>

#include "../face/fork_guard.h"
#include "../face/slot.h"
#include "../librtl/core.h"
#include "roctracer/roctracer_roctx.h"

typedef int (*tracer_fn)(activity_domain_t domain, uint32_t op, void *data);

/* What callbacks get: as large as what clients may read that take it for the data of a HIP call. */
union call_data {
	roctx_api_data_t data;
	char space[256];
};

GUARDED_LOCK(lock, LOCK_ROCTX);
static struct slot callbacks[ROCTX_API_ID_NUMBER];
static _Atomic tracer_fn tracer;

__attribute__((constructor)) static void start(void)
{
	fork_guard_start();
	ranges_start(roctx_core());
}

/* enum range_call has the order of AMD's ids. */
static void on_call(enum range_call call, const char *message, uint64_t id)
{
	union call_data d = { .space = { 0 } };
	activity_rtapi_callback_t fn;
	tracer_fn general;
	void *arg;

	/* AMD's library has no more */
	if (call > RANGE_STOP)
		return;
	d.data.args.message = message;
	d.data.args.id = id;
	fn = slot_get(&callbacks[call], &arg);
	if (fn)
		fn(ACTIVITY_DOMAIN_ROCTX, call, &d, arg);
	/* acquire: pairs with the release in roctxRegisterTracerCallback() */
	general = atomic_load_explicit(&tracer, memory_order_acquire);
	if (general)
		general(ACTIVITY_DOMAIN_ROCTX, call, &d);
}

static bool listen(void)
{
	const struct rtl_core *core = roctx_core();

	return core && core->range_listen(on_call) == 0;
}

RTL_REQUIRES(lock) static void set(uint32_t op, activity_rtapi_callback_t fn, void *arg)
{
	slot_set(&callbacks[op], fn, arg);
}

EXPORT bool RegisterApiCallback(uint32_t op, void *callback, void *arg)
{
	if (op >= ROCTX_API_ID_NUMBER || !listen())
		return false;
	lock_take(&lock);
	set(op, (activity_rtapi_callback_t)callback, arg);
	lock_drop(&lock);
	return true;
}

EXPORT bool RemoveApiCallback(uint32_t op)
{
	if (op >= ROCTX_API_ID_NUMBER)
		return false;
	lock_take(&lock);
	set(op, NULL, NULL);
	lock_drop(&lock);
	return true;
}

EXPORT void roctxRegisterTracerCallback(tracer_fn fn)
{
	if (fn && !listen())
		return;
	/* pairs with the acquire in on_call() */
	atomic_store_explicit(&tracer, fn, memory_order_release);
}

EXPORT uint32_t roctx_version_major(void)
{
	return ROCTX64_MAJOR;
}

EXPORT uint32_t roctx_version_minor(void)
{
	return ROCTX64_MINOR;
}
