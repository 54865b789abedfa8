/* SPDX-License-Identifier: MIT */
/* wait_calls.c - the calls by which a program learns that an operation has completed
 *
 * Owns:     the handlers that the program has registered and the runtime has not called for the
 *           last time.
 * Threads:  any; handlers on the runtime's own thread.
 * Hot path: a load or a wait that finds the signal not completed: a comparison more.
 * Fails:    without memory for a handler's wrapper the runtime gets the handler itself. What
 *           completed before it is then recorded by the harvester, up to 10 ms later.
 * Not here: a program that reads a signal's value by hsa_amd_signal_value_pointer() or a flag that
 *           its kernel wrote. The harvester records those operations.
 */
#include "source/hsa/completion/wait_calls.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/lock.h"
#include "event/life.h"
#include "source/hsa/completion/harvest.h"
#include "source/hsa/completion/shared_times.h"
#include "source/hsa/counter/counter.h"
#include "source/hsa/table/real.h"
#include "source/hsa/table/table.h"

/* A thread whose wait need not be active counts for so long after the last step: as long as the
 * runtime polls. */
#define HELP_NS UINT64_C(200000)

/* The program has seen `value` of a signal. Operations complete a signal by counting it down to 0.
 * A value above that says that one has completed only where several share the signal. */
static inline void saw(hsa_signal_value_t value)
{
	if (value <= 0 || RTL_UNLIKELY(shared_times_any()))
		harvest_completed();
}

static bool is_met(hsa_signal_condition_t condition, hsa_signal_value_t value,
		   hsa_signal_value_t compare)
{
	switch (condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == compare;
	case HSA_SIGNAL_CONDITION_NE:
		return value != compare;
	case HSA_SIGNAL_CONDITION_LT:
		return value < compare;
	default:
		return value >= compare;
	}
}

/* Counts with this thread while it would wait; returns the time that is left to wait. */
static RTL_COLD uint64_t help(hsa_signal_t signal, hsa_signal_condition_t condition,
			      hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t state)
{
	uint64_t from_ns = clock_now_ns(), now_ns = from_ns, moved_ns = from_ns;

	while (counter_is_busy() && now_ns - from_ns < timeout &&
	       !is_met(condition, real.hsa_signal_load_scacquire(signal), compare)) {
		if (counter_help(false))
			moved_ns = now_ns;
		else if (state != HSA_WAIT_STATE_ACTIVE && now_ns - moved_ns > HELP_NS)
			break;
		else
			RTL_RELAX();
		now_ns = clock_now_ns();
	}
	if (!is_met(condition, real.hsa_signal_load_relaxed(signal), compare))
		counter_hand_over();
	if (timeout == UINT64_MAX)
		return timeout;
	return now_ns - from_ns < timeout ? timeout - (now_ns - from_ns) : 0;
}

/* An operation has completed. */
static inline void completed(void)
{
	harvest_completed();
	if (RTL_UNLIKELY(counter_is_busy()))
		counter_help(false);
}

#define LOAD(name)                                                                                 \
	static hsa_signal_value_t name(hsa_signal_t signal)                                        \
	{                                                                                          \
		hsa_signal_value_t value = real.hsa_signal_##name(signal);                         \
                                                                                                   \
		saw(value);                                                                        \
		return value;                                                                      \
	}
#define EXCHANGE(name)                                                                             \
	static hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t value)              \
	{                                                                                          \
		hsa_signal_value_t was = real.hsa_signal_##name(signal, value);                    \
                                                                                                   \
		saw(was);                                                                          \
		return was;                                                                        \
	}
#define CAS(name)                                                                                  \
	static hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t expected,           \
				       hsa_signal_value_t value)                                   \
	{                                                                                          \
		hsa_signal_value_t was = real.hsa_signal_##name(signal, expected, value);          \
                                                                                                   \
		saw(was);                                                                          \
		return was;                                                                        \
	}
#define WAIT(name)                                                                                 \
	static hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_condition_t condition,      \
				       hsa_signal_value_t compare, uint64_t timeout,               \
				       hsa_wait_state_t state)                                     \
	{                                                                                          \
		hsa_signal_value_t value;                                                          \
                                                                                                   \
		if (RTL_UNLIKELY(counter_is_busy()))                                               \
			timeout = help(signal, condition, compare, timeout, state);                \
		value = real.hsa_signal_##name(signal, condition, compare, timeout, state);        \
		if (is_met(condition, value, compare))                                             \
			completed();                                                               \
		else                                                                               \
			saw(value);                                                                \
		return value;                                                                      \
	}
#define GROUP(name)                                                                                \
	static hsa_status_t name(hsa_signal_group_t group,                                         \
				 const hsa_signal_condition_t *conditions,                         \
				 const hsa_signal_value_t *compare, hsa_wait_state_t state,        \
				 hsa_signal_t *signal, hsa_signal_value_t *value)                  \
	{                                                                                          \
		hsa_status_t status =                                                              \
			real.hsa_signal_##name(group, conditions, compare, state, signal, value);  \
                                                                                                   \
		harvest_completed();                                                               \
		return status;                                                                     \
	}
/* X(function, its form) */
#define FUNCTIONS(X)                                                                               \
	X(load_relaxed, LOAD)                                                                      \
	X(load_scacquire, LOAD)                                                                    \
	X(wait_relaxed, WAIT)                                                                      \
	X(wait_scacquire, WAIT)                                                                    \
	X(exchange_relaxed, EXCHANGE)                                                              \
	X(exchange_scacquire, EXCHANGE)                                                            \
	X(exchange_screlease, EXCHANGE)                                                            \
	X(exchange_scacq_screl, EXCHANGE)                                                          \
	X(cas_relaxed, CAS)                                                                        \
	X(cas_scacquire, CAS)                                                                      \
	X(cas_screlease, CAS)                                                                      \
	X(cas_scacq_screl, CAS)                                                                    \
	X(group_wait_any_relaxed, GROUP)                                                           \
	X(group_wait_any_scacquire, GROUP)
#define X(name, form) form(name)
FUNCTIONS(X)
#undef X

static uint32_t wait_any(uint32_t nr, hsa_signal_t *signals, hsa_signal_condition_t *conditions,
			 hsa_signal_value_t *compare, uint64_t timeout, hsa_wait_state_t state,
			 hsa_signal_value_t *value)
{
	uint32_t found = real.hsa_amd_signal_wait_any(nr, signals, conditions, compare, timeout,
						      state, value);

	if (found < nr)
		harvest_completed();
	return found;
}

static uint32_t wait_all(uint32_t nr, hsa_signal_t *signals, hsa_signal_condition_t *conditions,
			 hsa_signal_value_t *compare, uint64_t timeout, hsa_wait_state_t state,
			 hsa_signal_value_t *value)
{
	uint32_t answer = real.hsa_amd_signal_wait_all(nr, signals, conditions, compare, timeout,
						       state, value);

	harvest_completed();
	return answer;
}

/* ---- handlers -------------------------------------------------------------------------------- */

#define HANDLERS_AT_ONCE 64u

struct handler {
	hsa_amd_signal_handler fn;
	void *data;
	struct handler *next;
};

static struct lock lock = LOCK_INIT(LOCK_HANDLERS);
static struct handler *free_handlers RTL_GUARDED_BY(lock);

static void give(struct handler *h)
{
	lock_take(&lock);
	h->next = free_handlers;
	free_handlers = h;
	lock_drop(&lock);
}

RTL_REQUIRES(lock) static void make_some(void)
{
	struct handler *h = alloc_pages(HANDLERS_AT_ONCE * sizeof(*h));

	for (uint32_t i = 0; h && i < HANDLERS_AT_ONCE; i++) {
		h[i].next = free_handlers;
		free_handlers = &h[i];
	}
}

static struct handler *take(void)
{
	struct handler *h;

	lock_take(&lock);
	if (!free_handlers)
		make_some();
	h = free_handlers;
	if (h)
		free_handlers = h->next;
	lock_drop(&lock);
	return h;
}

static bool on_signal(hsa_signal_value_t value, void *data)
{
	struct handler *h = data;
	bool again;

	harvest_completed();
	again = h->fn(value, h->data);
	if (!again)
		give(h);
	return again;
}

static hsa_status_t async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
				  hsa_signal_value_t value, hsa_amd_signal_handler fn, void *data)
{
	struct handler *h = fn && life_on() ? take() : NULL;
	hsa_status_t status;

	if (!h)
		return real.hsa_amd_signal_async_handler(signal, condition, value, fn, data);
	h->fn = fn;
	h->data = data;
	status = real.hsa_amd_signal_async_handler(signal, condition, value, on_signal, h);
	if (status != HSA_STATUS_SUCCESS)
		give(h);
	return status;
}

/* ---- the tables ------------------------------------------------------------------------------ */

void wait_calls_install(const struct hsa_mirror_root *root)
{
#define X(name, form) TABLE_CORE(root, signal_##name, name);
	FUNCTIONS(X)
#undef X
	TABLE_AMD(root, signal_wait_any, wait_any);
	TABLE_AMD(root, signal_wait_all, wait_all);
	TABLE_AMD(root, signal_async_handler, async_handler);
}
