/* SPDX-License-Identifier: MIT */
/* shared_calls.c - the calls that read or change a signal, patched when the first signal is shared
 *
 * Threads:  any. A table entry is one pointer: a concurrent call uses the old function or the new
 *           one.
 */
#include "source/hsa/queue/shared_calls.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"
#include "source/hsa/completion/shared_times.h"
#include "source/hsa/queue/completer.h"
#include "source/hsa/queue/queue.h"

/* X(function, how it is called): see the macros below */
#define FUNCTIONS(X)                                                                               \
	X(load_relaxed, LOAD)                                                                      \
	X(load_scacquire, LOAD)                                                                    \
	X(store_relaxed, STORE)                                                                    \
	X(store_screlease, STORE)                                                                  \
	X(silent_store_relaxed, STORE)                                                             \
	X(silent_store_screlease, STORE)                                                           \
	X(wait_relaxed, WAIT)                                                                      \
	X(wait_scacquire, WAIT)                                                                    \
	X(and_relaxed, STORE)                                                                      \
	X(and_scacquire, STORE)                                                                    \
	X(and_screlease, STORE)                                                                    \
	X(and_scacq_screl, STORE)                                                                  \
	X(or_relaxed, STORE)                                                                       \
	X(or_scacquire, STORE)                                                                     \
	X(or_screlease, STORE)                                                                     \
	X(or_scacq_screl, STORE)                                                                   \
	X(xor_relaxed, STORE)                                                                      \
	X(xor_scacquire, STORE)                                                                    \
	X(xor_screlease, STORE)                                                                    \
	X(xor_scacq_screl, STORE)                                                                  \
	X(exchange_relaxed, EXCHANGE)                                                              \
	X(exchange_scacquire, EXCHANGE)                                                            \
	X(exchange_screlease, EXCHANGE)                                                            \
	X(exchange_scacq_screl, EXCHANGE)                                                          \
	X(cas_relaxed, CAS)                                                                        \
	X(cas_scacquire, CAS)                                                                      \
	X(cas_screlease, CAS)                                                                      \
	X(cas_scacq_screl, CAS)

static struct {
#define X(name, how) hsa_signal_##name##_fn_t name;
	FUNCTIONS(X)
#undef X
} next;
static struct lock lock = LOCK_INIT(LOCK_SHARED_CALLS);
static const struct hsa_mirror_root *tables RTL_GUARDED_BY(lock);
static _Atomic bool armed; /* written under lock */

void shared_calls_settle(void)
{
	uint32_t n = queue_count();

	if (!shared_times_any())
		return;
	for (uint32_t i = 0; i < n; i++)
		completer_settle(queue_at(i));
}

#define LOAD(name)                                                                                 \
	static hsa_signal_value_t name(hsa_signal_t signal)                                        \
	{                                                                                          \
		shared_calls_settle();                                                             \
		return next.name(signal);                                                          \
	}
#define STORE(name)                                                                                \
	static void name(hsa_signal_t signal, hsa_signal_value_t value)                            \
	{                                                                                          \
		if (!signal_is_doorbell(signal))                                                   \
			shared_calls_settle();                                                     \
		next.name(signal, value);                                                          \
	}
#define EXCHANGE(name)                                                                             \
	static hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t value)              \
	{                                                                                          \
		shared_calls_settle();                                                             \
		return next.name(signal, value);                                                   \
	}
#define CAS(name)                                                                                  \
	static hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t expected,           \
				       hsa_signal_value_t value)                                   \
	{                                                                                          \
		shared_calls_settle();                                                             \
		return next.name(signal, expected, value);                                         \
	}
#define WAIT(name)                                                                                 \
	static hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_condition_t condition,      \
				       hsa_signal_value_t compare, uint64_t timeout,               \
				       hsa_wait_state_t state)                                     \
	{                                                                                          \
		shared_calls_settle();                                                             \
		return next.name(signal, condition, compare, timeout, state);                      \
	}
#define X(name, how) how(name)
FUNCTIONS(X)
#undef X

void shared_calls_init(const struct hsa_mirror_root *root)
{
	lock_take(&lock);
	tables = root;
	lock_drop(&lock);
}

RTL_REQUIRES(lock) static void patch(enum hsa_core_id id, void *fn, void **next_fn)
{
	void **slot = hsa_table_core_slot(tables->core, id);

	if (!slot || !*slot)
		return;
	/* callers read `next` after they have found `fn` in the table */
	*next_fn = *slot;
	__atomic_store_n(slot, fn, __ATOMIC_RELEASE);
}

RTL_REQUIRES(lock) static void restore(enum hsa_core_id id, void *fn, void *before)
{
	void **slot = hsa_table_core_slot(tables->core, id);

	if (slot && *slot == fn)
		__atomic_store_n(slot, before, __ATOMIC_RELEASE);
}

void shared_calls_arm(void)
{
	/* relaxed: another thread's patch may be seen later */
	if (atomic_load_explicit(&armed, memory_order_relaxed))
		return;
	lock_take(&lock);
	if (tables && !atomic_load_explicit(&armed, memory_order_relaxed)) {
#define X(name, how) patch(HSA_CORE_signal_##name, (void *)name, (void **)(void *)&next.name);
		FUNCTIONS(X)
#undef X
		atomic_store_explicit(&armed, true, memory_order_relaxed);
	}
	lock_drop(&lock);
}

void shared_calls_disarm(void)
{
	lock_take(&lock);
	if (atomic_load_explicit(&armed, memory_order_relaxed)) {
#define X(name, how) restore(HSA_CORE_signal_##name, (void *)name, (void *)next.name);
		FUNCTIONS(X)
#undef X
	}
	atomic_store_explicit(&armed, false, memory_order_relaxed);
	tables = NULL;
	lock_drop(&lock);
}
